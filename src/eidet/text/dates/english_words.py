"""The English words of time, and what they stand for. The longer lists are in `words.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

TABLE: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))


def words_of(words: str | list[str]) -> frozenset[str]:
    """Words between spaces; a list has several lines of them."""
    return frozenset((words if isinstance(words, str) else " ".join(words)).split())


def number_words(words: str, start: int) -> dict[str, int]:
    return {word: number for number, word in enumerate(words.split(), start)}


MONTHS = number_words(
    "january february march april may june july august september october november december", 1
)
SHORT_MONTHS = {name[:3]: number for name, number in MONTHS.items() if name != "may"} | {"sept": 9}
ALL_MONTHS = MONTHS | SHORT_MONTHS
# names of people, verbs and adjectives too: months only where the words around say so
DOUBTFUL = frozenset({"march", "april", "may", "june", "august"})

WEEKDAYS = number_words("monday tuesday wednesday thursday friday saturday sunday", 0)
_SHORT_WEEKDAYS = {name[:3]: number for name, number in WEEKDAYS.items()}
ALL_WEEKDAYS = WEEKDAYS | _SHORT_WEEKDAYS | {"tues": 1, "thur": 3, "thurs": 3}
_MANY_WEEKDAYS = {name + "s": number for name, number in WEEKDAYS.items()}

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
UNITS: dict[str, str] = {word: unit for unit, words in TABLE["units"].items() for word in words.split()}
HOURS = {word: int(seconds) for seconds, words in TABLE["seconds"].items() for word in words.split()}
PARTS_OF_DAY = frozenset({"morning", "afternoon", "evening", "night", "noon"})

NUMBERS = number_words(
    "one two three four five six seven eight nine ten eleven twelve "
    "thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
    1,
)
_TENS = number_words("twenty thirty forty fifty sixty seventy eighty ninety", 2)
TENS = {word: 10 * number for word, number in _TENS.items()}
# how few and how many a vague number means
VAGUE = {"few": (2, 5), "several": (3, 7), "couple": (2, 2), "some": (2, 8), "many": (5, 20)}
_FIRSTS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
ORDINALS = number_words(_FIRSTS, 1) | {"thirtieth": 30, "last": -1, "final": -1}
DECADES = {f"{word[:-1]}ies": number for word, number in TENS.items()}

BACK = frozenset({"last", "previous"})
ON = frozenset({"next", "following", "coming", "upcoming"})
WHICH = BACK | ON | {"this", "past"}

_EDGES = {"beginning": "early", "start": "early", "middle": "mid", "end": "late"}
PARTS = {"early": "early", "mid": "mid", "late": "late"} | _EDGES
# after these a month, a weekday, a season or a holiday is a time
BEFORE_TIMES = words_of(TABLE["before_times"])
# a bare number before these counts them
COUNTED = words_of(TABLE["counted"])

FEASTS: dict[str, tuple[str, list[int]]] = {  # by name: by which rule, and its numbers
    name: (rule, [int(number) for number in numbers.split()])
    for rule in ("by_date", "by_rule", "by_easter")
    for numbers, names in TABLE["feasts"][rule].items()
    for name in names
}
FEAST_STARTS = frozenset(name.split()[0].partition("'")[0] for name in FEASTS)
# things that carry a holiday's name at any time of the year
FEAST_THINGS = words_of(TABLE["feast_things"])

# as `split_letters` gives them: an expression has one of these, or digits that look like a date
_TRIGGERS = (
    {*ALL_MONTHS, *ALL_WEEKDAYS, *_MANY_WEEKDAYS, *UNITS, *HOURS, *PARTS_OF_DAY, *SEASONS, *DECADES}
    | {name.split()[-1].partition("'")[0] for name in FEASTS} - {"day", "s", "year", "years"}
    | words_of(TABLE["triggers"])
)
# words that are about time wherever they stand; the others of TRIGGERS are asked of the grammar, and some
# are in greetings and idioms too
_IDLE = {"min", "mins", "day", "night"}
_SURE = {*WEEKDAYS, *_MANY_WEEKDAYS, *MONTHS, *UNITS, *HOURS, *DECADES} - DOUBTFUL - _IDLE
TRIGGERS = frozenset(word.encode() for word in _TRIGGERS)
TIMES = frozenset(word.encode() for word in _SURE | words_of(TABLE["times"]))
