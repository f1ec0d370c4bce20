"""German words for the rules that read facts: the same rules, other tables."""

from __future__ import annotations

from typing import Final

from ..word_tables import WordTables, read_classes, read_frames, read_mapping, words_of

# forms: wohne, wohnt, wohnte, and the infinitive; a tie goes before the object
_VERBS: Final = """
wohne/wohnen wohnt wohnte/wohnten/gewohnt wohnend | in | lives_in | place | lived
lebe/leben lebt lebte/lebten/gelebt lebend | in | lives_in | place | lived
ziehe/ziehen zieht zog/zogen/gezogen ziehend | nach | lives_in | place | change
komme/kommen kommt kam/kamen kommend | aus | from | place |
arbeite/arbeiten arbeitet arbeitete/arbeiteten/gearbeitet arbeitend | bei für | works_at | org | lived
arbeite/arbeiten arbeitet arbeitete/arbeiteten/gearbeitet arbeitend | als | works_as | job | lived
studiere/studieren studiert studierte/studierten studierend | an | studies_at | org | lived
studiere/studieren studiert studierte/studierten studierend | | studies | value | lived
lerne/lernen lernt lernte/gelernt lernend | | learns | value | habit
spreche/sprechen spricht sprach/gesprochen sprechend | | speaks | language |
spiele/spielen spielt spielte/gespielt spielend | | plays | playable | habit
mag/mögen mag mochte mögend | | likes | activity | taste
liebe/lieben liebt liebte/geliebt liebend | | likes | activity | taste
hasse/hassen hasst hasste/gehasst hassend | | dislikes | activity | taste
bevorzuge/bevorzugen bevorzugt bevorzugte bevorzugend | | prefers | activity | taste
fahre/fahren fährt fuhr/gefahren fahrend | | drives | vehicle | lived
besitze/besitzen besitzt besaß/besessen besitzend | | owns | thing | lived
kaufe/kaufen kauft kaufte/gekauft kaufend | | owns | thing | change
verkaufe/verkaufen verkauft verkaufte verkaufend | | owns | thing | end
esse/essen isst aß/gegessen essend | | does_not_eat | thing | only_not
trinke/trinken trinkt trank/getrunken trinkend | | does_not_eat | thing | only_not
nehme/nehmen nimmt nahm/genommen nehmend | | medication | drug | habit
nutze/nutzen nutzt nutzte/genutzt nutzend | | uses | thing | thing habit
benutze/benutzen benutzt benutzte benutzend | | uses | thing | thing habit
verwende/verwenden verwendet verwendete verwendend | | uses | thing | thing habit
heiße/heißen heißt hieß heißend | | name | name |
heirate/heiraten heiratet heiratete/geheiratet heiratend | | married_to | person | change
"""
_PREDICATES: Final = """
aus         |          | from        | place  |
verheiratet | mit      | married_to  | person |
verlobt     | mit      | engaged_to  | person |
allergisch  | gegen    | allergic_to | thing  |
geboren     | in       | born_in     | place  | change
geschrieben | in       | written_in  | thing  | thing
"""
_KIN: Final = """
married_to: frau mann ehefrau ehemann
partner: freundin partner partnerin verlobte verlobter
child: sohn tochter kind kinder söhne töchter
parent: mutter vater mama papa eltern
sibling: schwester bruder schwestern brüder geschwister
grandparent: oma opa großmutter großvater
aunt_or_uncle: tante onkel
niece_or_nephew: nichte neffe
cousin: cousin cousine
friend: freund kumpel freunde
colleague: kollege kollegin
boss: chef chefin vorgesetzter vorgesetzte
neighbour: nachbar nachbarin
teacher: lehrer lehrerin
doctor: arzt ärztin zahnarzt zahnärztin
"""
_ATTRIBUTES: Final = """
phone: telefonnummer, handynummer, nummer
email: e-mail, email, e-mail-adresse, mailadresse
address: adresse, anschrift
birthday: geburtstag
name: name, nachname, vorname
nickname: spitzname
hobby: hobby
"""
_CLASSES: Final = """
language: deutsch englisch französisch spanisch italienisch portugiesisch russisch polnisch türkisch arabisch
playable: klavier gitarre geige schlagzeug flöte fußball tennis schach basketball handball volleyball cello
drug: insulin ibuprofen aspirin metformin medikamente paracetamol vitamine
vehicle: auto fahrrad motorrad roller bmw vw audi golf passat tesla
group: verein chor band mannschaft team club
"""
_EFFECTS: Final = read_mapping("""
not: nicht nie kein keine keinen
have: habe hat haben habt
be: bin ist sind
was: war waren
will: werde wird werden
unreal: würde würden wäre könnte könnten sollte hätte
""")
_OTHERS: Final = words_of(
    "lieblingsfarbe lieblingsessen lieblingsfilm vegetarier vegetarierin veganer veganerin "
    "vegetarisch vegan "
    "ledig geschieden immer nie heißt ab zukunft bitte jahre mein meine unsere unser"
)
_FRAMES: Final = read_frames(_VERBS)
_PREDICATE_FRAMES: Final = read_frames(_PREDICATES)
_KIN_WORDS: Final = read_mapping(_KIN)
_PETS: Final = words_of("hund hunde katze katzen kater kaninchen hamster papagei pferd wellensittich")
_JOBS: Final = words_of(
    "arzt ärztin lehrer lehrerin krankenpfleger krankenschwester ingenieur ingenieurin anwalt "
    "anwältin bäcker "
    "koch köchin architekt architektin entwickler entwicklerin programmierer programmiererin "
    "student studentin "
    "tischler elektriker mechaniker designer designerin journalist journalistin musiker musikerin verkäufer"
)
_STATES: Final = read_mapping("""
diet: vegetarier vegetarierin veganer veganerin vegetarisch vegan
relationship_status: ledig geschieden verheiratet verlobt single verwitwet
job_status: arbeitslos rentner rentnerin selbstständig
""")

GERMAN: Final = WordTables(
    speaker=words_of("ich wir"),
    pronouns={"er": "he", "sie": "she", "es": "it"},
    possessives={
        **dict.fromkeys(("mein", "meine", "meinen", "meinem", "meiner", "unser", "unsere"), ""),
        **dict.fromkeys(("sein", "seine", "seinen", "seinem", "seiner"), "he"),
        **dict.fromkeys(("ihr", "ihre", "ihren", "ihrem", "ihrer"), "she"),
    },
    articles=words_of("der die das den dem des ein eine einen einem einer"),
    lists=words_of("und oder"),
    adverbs=words_of(
        "auch sehr gerne gern immer noch jetzt gerade aktuell derzeit schon seit wirklich meistens "
        "früher damals"
    ),
    effects=_EFFECTS,
    hedges={"vielleicht": 0.5, "wahrscheinlich": 0.7, "angeblich": 0.5, "glaube": 0.7, "vermutlich": 0.7},
    infinitives={},
    gerunds={},
    unreal=words_of("wenn falls ob angenommen"),
    asking=words_of(
        "was wo wer wen wem wann warum wie welche welcher welches woher wohin kannst können könntest könnten "
        "hast haben weißt wissen soll sollte gibt willst"
    ),
    secrets=words_of("passwort kennwort pin geheimzahl tan token passwörter"),
    reporting=words_of("sagt sagte erzählte meinte behauptet"),
    stops=words_of(
        "aber weil dass der die das wer wo wenn als ich du er sie es wir ihr nicht mehr nie kein "
        "und oder auch "
        "jetzt noch schon sehr ist sind war bin hat habe sowie denn sondern heute gestern morgen gerade"
    ),
    ties=words_of("in an auf für mit nach von aus bei zu zum zur im am über unter seit bis gegen als vor"),
    inner=words_of("von der am an de van und im"),
    common=words_of(
        "ich wir er sie es der die das ein eine mein meine und aber oder ja nein hallo danke bitte "
        "heute gestern "
        "morgen jetzt hier dort immer nie seit was wo wer wann warum wie ab in an auf mit nach von "
        "aus bei zu früher"
    )
    | frozenset({*_KIN_WORDS, *_PETS, *_JOBS}),
    kin=_KIN_WORDS,
    parties=words_of("nutzer nutzerin kunde kundin patient patientin"),
    pets=_PETS,
    jobs=_JOBS,
    frames=_FRAMES,
    predicates=_PREDICATE_FRAMES,
    copulas={"ist": "present", "bin": "present", "sind": "present", "war": "past", "waren": "past"},
    attributes=read_mapping(_ATTRIBUTES),
    conditions=words_of("asthma diabetes migräne depressionen epilepsie adhs"),
    events={},
    classes=read_classes(_CLASSES),
    named_kinds=words_of("vehicle"),
    states=_STATES,
    vague=words_of("es das etwas alles nichts dich mich ihn sie sehr"),
    generic=words_of("meer sonne wald berge regen schnee"),
    name_is=words_of("heißt heißen"),
    having=words_of("habe hat haben"),
    naming=words_of("namens"),
    favourites=frozenset(),
    job_verbs={},
    aiming={},
    aims=frozenset(),
    actions=words_of(
        "antworte buche schreibe nutze verwende erinnere sende schicke nenne rufe frage zeige gib "
        "benutze antworten"
    ),
    triggers=frozenset(
        {*_FRAMES, *_PREDICATE_FRAMES, *_KIN_WORDS, *_PETS, *_JOBS, *_STATES}
        | _OTHERS
        | set(_CLASSES.split())
    ),
    since=words_of("seit ab von"),
    until=words_of("bis"),
    inverts=True,
)
