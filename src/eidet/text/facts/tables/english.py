"""English words for the rules that read facts."""

from __future__ import annotations

from typing import Final

from ..word_tables import WordTables, read_classes, read_frames, read_mapping, words_of
from .english_nouns import (
    ACTIONS,
    AIMING,
    AIMS,
    ATTRIBUTES,
    CLASSES,
    CONDITIONS,
    EVENTS,
    GENERIC,
    JOB_VERBS,
    JOBS,
    KIN,
    PETS,
    STATES,
    VAGUE,
)
from .english_verbs import PREDICATES, VERBS

_SPEAKER: Final = words_of("i we")
_PRONOUNS: Final = {"he": "he", "she": "she", "they": "they", "it": "it"}
_POSSESSIVES: Final = {"my": "", "our": "", "his": "he", "her": "she", "their": "they", "its": "it"}

# what stands between a subject and its verb, and what it does to the statement
_EFFECTS: Final = read_mapping("""
past: did
not: n't not never cannot neither
have: have has 've had having
be: am is are 'm 're 's be
was: was were
been: been
will: will 'll gonna shall wo
unreal: would could should 'd must ought ca
may: may might
to: to
ended: formerly previously
do: do does can
""")
_ADVERBS: Final = words_of(
    "really always still currently now also just only actually usually often recently already definitely "
    "absolutely both all mostly originally finally mainly generally normally typically basically truly "
    "very so totally completely deeply quite sometimes regularly then literally simply secretly honestly "
    "too much even kind of sort personally especially particularly officially happily proudly temporarily "
    "permanently once since mostly primarily ever yet today presently"
)
_HEDGES: Final = {
    "maybe": 0.5,
    "perhaps": 0.5,
    "possibly": 0.5,
    "probably": 0.7,
    "apparently": 0.7,
    "supposedly": 0.6,
    "allegedly": 0.5,
    "reportedly": 0.7,
    "think": 0.7,
    "guess": 0.6,
    "believe": 0.7,
    "suppose": 0.6,
    "assume": 0.6,
    "heard": 0.6,
    "seems": 0.6,
    "seem": 0.6,
    "rumor": 0.4,
    "rumour": 0.4,
    "unsure": 0.4,
    "possible": 0.5,
}
_INFINITIVES: Final = read_mapping("""
ended: used use
will: going
none: want wants wanted hope hopes hoping plan plans planning planned intend intends decided deciding
none: aim aims aiming dream dreams looking love like trying tempted
none: need needs have has had got
start: started began begun
""")
_GERUNDS: Final = read_mapping("""
ended: stopped quit stop quitting
start: started began starting begun
none: start
planned: considering
""")
_UNREAL: Final = words_of("if unless whether wish imagine pretend hypothetically suppose wonder wondering")
_ASKING: Final = words_of(
    "what what's where who whom whose why how which do does did is are was were can could would "
    "should "
    "will has have am may might any shall isn't aren't"
)
_SECRETS: Final = words_of(
    "password passwords passcode passcodes passphrase passwd pwd pin pins cvv cvc otp ssn secret secrets "
    "token credential credentials api-key apikey"
)
_REPORTING: Final = words_of(
    "said says told tells claims claimed mentioned mentions reported according wrote writes asked thinks "
    "believes insists insisted announced joked"
)
_STOPS: Final = words_of(
    "but because so which that who whom whose where when while since until till after before as than if "
    "too also though although however i you he she we they it me him us them is are was were am be been "
    "'s 'm 're 've 'll 'd not n't now right these those anymore again very really just still already yet "
    "together instead well lately recently today tonight yesterday tomorrow during via through without "
    "because have has had will would can could should do does did there here this once during every each "
    "ever never always sometimes usually lol haha everywhere either even back again alone plus then "
    "except btw "
    "currently nonstop such more less cause theyre its though nowadays and or & nor while unless what "
    "how why my your ya u"
)
_TIES: Final = words_of(
    "in at on for with to from by about over under of into near around between across within per as since "
    "until out up down off behind against like"
)
_INNER: Final = words_of("of de da do dos das van von der den del della di la le el al bin ibn & the y und")
_COMMON: Final = words_of(
    "i the a an this that these those my your his her our their its it he she we they you me him us them "
    "and but or so because if when while although though since until after before as than then also "
    "yes no yeah yep nope ok okay hey hi hello wow oh ah haha lol thanks thank please well sure great "
    "good nice cool awesome congrats sorry actually honestly anyway maybe perhaps probably apparently "
    "today tomorrow yesterday tonight now later soon recently lately last next every each monday tuesday "
    "wednesday thursday friday saturday sunday january february march april june july august september "
    "october november december what where who when why how which whose do does did is are was were am be "
    "been being have has had will would can could should may might must shall not never always just only "
    "still even really very too there here in on at to from for with by of about over under into btw fyi "
    "remember let lets some any all both many most few much more less another other such same own new old "
    "one two three four five six seven eight nine ten first second finally meanwhile luckily "
    "unfortunately fortunately happy merry dear speaking talking guess turns looks seems nothing something "
    "anything everything someone somebody everyone everybody nobody people everyone's mine yours ours "
    "like love quick update note hope hopefully back got getting going been having living working "
    "however moreover besides although personally basically sounds looks feels seems stuff things moments "
    "moving using playing learning hmm omg ugh aww yay ps re subject heard"
)
_NAMING: Final = words_of("called named nicknamed")
_FAVOURITES: Final = words_of("favourite favorite fav fave")
_HAVING: Final = words_of("have has had 've got own owns")
_COPULAS: Final = {
    "is": "present",
    "am": "present",
    "are": "present",
    "'m": "present",
    "'s": "present",
    "'re": "present",
    "was": "past",
    "were": "past",
    "been": "been",
    "became": "change",
    "becoming": "present",
    "got": "change",
}
_SINCE: Final = words_of("since from starting as beginning")
_UNTIL: Final = words_of("until till to through")
_OTHERS: Final = words_of(
    "favourite favorite fav fave call rather fan member name named called nickname goes years turned "
    "turning "
    "turns turn comfortable always never whenever please remember sure gluten lactose allergic tall "
    "longer gave birthday version owner anniversary planning thinking want wants dream goal hoping plan "
    "plans "
    "vegetarian vegan pescatarian retired unemployed pregnant diabetic divorced single widowed engaged "
    "married muslim catholic christian jewish hindu buddhist atheist booked signed scheduled due celiac "
    "coeliac "
    "stand answer keep respond reply assume forward prefer deadline birthday have has had 've got "
    "broke separated born intolerant my our allergy allergies reach comfortable rather ask ever job calls"
)

_FRAMES: Final = read_frames(VERBS)
_PREDICATES: Final = read_frames(PREDICATES)
_KIN: Final = read_mapping(KIN)
_PETS: Final = words_of(PETS)
_JOBS: Final = words_of(JOBS)
_ATTRIBUTES: Final = read_mapping(ATTRIBUTES)
_CONDITIONS: Final = words_of(CONDITIONS)
_EVENTS: Final = read_mapping(EVENTS)
_STATES: Final = read_mapping(STATES)
_CLASSES: Final = read_classes(CLASSES)


def _last_words(phrases: dict[str, str]) -> set[str]:
    found: set[str] = set()
    for phrase in phrases:
        found.add(phrase.split()[-1])
    return found


ENGLISH: Final = WordTables(
    speaker=_SPEAKER,
    pronouns=_PRONOUNS,
    possessives=_POSSESSIVES,
    articles=words_of("a an the some any this another"),
    lists=words_of("and or & nor"),
    adverbs=_ADVERBS,
    effects=_EFFECTS,
    hedges=_HEDGES,
    infinitives=_INFINITIVES,
    gerunds=_GERUNDS,
    unreal=_UNREAL,
    asking=_ASKING,
    secrets=_SECRETS,
    reporting=_REPORTING,
    stops=_STOPS,
    ties=_TIES,
    inner=_INNER,
    common=_COMMON,
    kin=_KIN,
    parties=words_of("user customer client patient"),
    pets=_PETS,
    jobs=_JOBS,
    frames=_FRAMES,
    predicates=_PREDICATES,
    copulas=_COPULAS,
    attributes=_ATTRIBUTES,
    conditions=_CONDITIONS,
    events=_EVENTS,
    classes=_CLASSES,
    named_kinds=words_of("playable vehicle"),
    states=_STATES,
    vague=words_of(VAGUE),
    generic=words_of(GENERIC),
    name_is=frozenset(),
    having=_HAVING,
    naming=_NAMING,
    favourites=_FAVOURITES,
    job_verbs=read_mapping(JOB_VERBS),
    aiming=read_mapping(AIMING),
    aims=words_of(AIMS),
    actions=words_of(ACTIONS),
    triggers=frozenset(
        {
            *_STATES,
            *_FRAMES,
            *_PREDICATES,
            *_KIN,
            *_PETS,
            *_JOBS,
            *_last_words(_ATTRIBUTES),
            *_CONDITIONS,
            *_EVENTS,
        }
        | _OTHERS
        | frozenset(map(str, range(1, 121)))
    ),
    since=_SINCE,
    until=_UNTIL,
)
