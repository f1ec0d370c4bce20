"""The words by which `same_or_update` reads a sentence. English, with the negations of a few more languages.

Verbs are given as stems, as the English analyzer makes them.
"""

from __future__ import annotations

import re
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _group_by_word(groups: dict[str, str]) -> dict[str, str]:
    """The name of its group for each word."""
    found: dict[str, str] = {}
    for group, words in groups.items():
        found |= dict.fromkeys(words.split(), group)
    return found


def _opposites(pairs: tuple[str, ...]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for pair in pairs:
        one, other = pair.split()
        found[one] = found.get(one, frozenset()) | {other}
        found[other] = found.get(other, frozenset()) | {one}
    return found


# said for courtesy or rhythm: two texts that differ by these say the same
FILLERS: Final = _words("""
    please thanks thank thx hi hello hey ok okay well really just oh btw fyi yes yeah yep sure anyway
    basically literally simply kindly very quite indeed hereby also too currently presently today's
    remember note reminder remind dear everyone guys lol haha um uh hmm
    """)
NEGATIONS: Final = _words("""
    not no never none nobody nothing neither nor cannot without hardly n't
    nicht kein keine keinen keiner nie niemals pas jamais aucun aucune non nunca jamás não nem mai
    niet geen nooit inte aldrig ikke aldri ei не нет никогда 不 没 没有 不是 无 لا ليس לא
    """)
# end what was true before: "left Acme", "the meeting is cancelled"
ENDINGS: Final = _words("""
    stop quit left leav cancel cancell sold sell lost former ex end ceas drop abandon resign retir fire
    divorc expir delet remov discontinu over die dead gave
    """)
WEAK_CUES: Final = _words("now")
CUES: Final = _words("""
    actually instead correction corrected correcting rather anymore update updated changed changes change
    switched switching moved rescheduled postponed delayed renamed longer turns mistake wrong became becomes
    """)
PLANS: Final = _words("""
    will 'll shall might may could should would wo gonna plan plans planning want wants wanted hope hopes
    hoping intend intends considering thinking maybe perhaps probably if
    """)
PAST: Final = _words("was were had did used been")
BE: Final = _words("is are am was were be 's 're 'm isn't aren't wasn't weren't")
AUXILIARIES: Final = BE | _words("has have had do does did will would shall should can could may might must")

PERSONS: Final = _group_by_word(
    {
        "I": "i me my mine myself i'm i've i'd i'll",
        "we": "we us our ours ourselves we're we've",
        "you": "you your yours yourself yourselves you're",
        "he": "he him his himself",
        "she": "she her hers herself",
        "they": "they them their theirs themselves they're",
    }
)

# after these "'s" is "is"; after other words it is the possessive
BEFORE_IS: Final = frozenset(PERSONS) | _words("it that there here what who where this everything")

# true until the next one: a new object replaces the old one
STATES: Final = _words("""
    live resid work studi drive use prefer weigh cost earn wake sleep start begin open close arriv depart
    report belong teach attend run meet take rent pay serv expect sit sleep connect store host leav land
    last need requir measur total count contain
    """)
# the past of these tells of a state that holds from then on
CHANGES: Final = _words("""
    move reloc switch chang renam set schedul reschedul postpon book plan promot marri name base price
    appoint elect assign locat rais lower increas decreas reduc extend shift updat upgrad migrat transfer
    push bring deploy downgrad park
    """)
DETERMINERS: Final = _words("the a an my your his her its our their this that these those 's every each no")
# many objects hold at once: a new one stands beside the old one
GATHERING: Final = _words("""
    like love enjoy hate dislik ador know speak play own has have had collect read watch eat drink visit want
    bought buy cook learn follow support see hear say tell think believ make write help ask
    """)
LIKING: Final = _words("like love enjoy ador prefer trust want support")
DISLIKING: Final = _words("hate dislik detest loath fear distrust refus oppos")
EVENTS: Final = _words("""
    went saw met bought ate ran took gave got read made told said wrote drank flew drove won slept sent found
    came brought built caught chose felt heard kept knew left paid sang sat sold spent spoke swam taught
    thought threw understood woke wore broke fell forgot grew held hurt led lent rode rang rose shot shut
    stood stole swore tore
    """)
# of a thing that has one of them at a time
ATTRIBUTES: Final = _words("""
    name favourit favorit address password job statu boss manag colour color birthday age number phone email
    role titl salari price budget deadlin date time plan goal prioriti version owner locat capit currenc port
    host url languag timezon weight height size limit ttl model leader ceo president captain teacher doctor
    landlord rent fee rate temperatur schedul topic theme winner score mood nicknam usernam pin code default
    password destin venu room team employ school major partner girlfriend boyfriend spous husband wife status
    setting level branch provid key token theme diet size nationality hometown
    """)
STATUS: Final = _words("""
    up down open closed close on off ready done pend pending block blocked activ active inactiv inactive onlin
    online offlin offline approv approved reject rejected paid unpaid availabl available unavailable unavail
    full empti empty confirm confirmed singl single marri married divorc divorced engag engaged broken fixed
    fix enabl enabled disabl disabled high low medium hot cold sick well healthy healthi
    before after in out above below over under more less few many all some most only both each every always
    usually sometimes often rarely seldom complet complete incomplete finish finished progress cancelled won
    lost alive full part
    """)
_PAIRS: Final = (
    *("to from", "before after", "on off", "up down", "in out", "above below", "over under", "with without"),
    *("more less", "more fewer", "all some", "all few", "most few", "all none"),
)
# function words that carry the meaning when their opposite stands in the other text
OPPOSITES: Final = _opposites(_PAIRS)
KEPT: Final = frozenset(OPPOSITES)

# what they say holds for the word that follows
SCOPES: Final = _words("only even all some most few both more less")

DAYS: Final = _words("""
    monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun weekend weekday
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec spring summer autumn winter
    today tomorrow tonight yesterday st nd rd th week month year
    """)
CLOCKS: Final = _words("am pm noon midnight o'clock morning afternoon evening lunch breakfast dinner hour")
_COUNT: Final = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty
    """
_PAIR: Final = re.compile(r"(\w+)=(\S+)")
_TALL: Final = "thirty=30 forty=40 fifty=50 sixty=60 hundred=100 thousand=1000 once=1 twice=2 half=0.5"
NUMBER_WORDS: Final = {word: str(number) for number, word in enumerate(_COUNT.split())} | dict(
    _PAIR.findall(_TALL)
)

PREPOSITIONS: Final = _group_by_word(
    {
        "where": "in at to on into onto by until till for near around",
        "from": "from since",
        "with": "with without",
        "as": "as",
        "about": "about of",
        "than": "than",
        "before": "before after",
    }
)
FRONTED: Final = frozenset(PREPOSITIONS) | DAYS | _words("now then here there last next every when")

# pairs of real words that only look like a slip of the pen
NO_SLIPS: Final = frozenset(
    frozenset(pair.split())
    for pair in ("desert dessert", "casual causal", "diner dinner", "martial marital", "united untied",
                 "sacred scared", "signed singed", "latter later", "planned planed", "hoping hopping",
                 "message massage", "personal personnel", "moral morale", "human humane", "statue statute",
                 "adverse averse", "decent descent", "lightning lightening",
                 "striped stripped", "staring starring", "college collage", "expand expend")
)  # fmt: skip

# how a sentence is meant, rather than what it is about; "moved" and the month of May are both
SIGNS: Final = (
    (NEGATIONS | CUES | WEAK_CUES | PLANS | AUXILIARIES | PAST | {"going"}) - CHANGES - {"moved", "may"}
)
