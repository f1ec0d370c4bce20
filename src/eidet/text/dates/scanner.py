"""Tables of English time words, and the tokens of a text with the context that date readers need.

Everything tied by `-/.:` to a digit is one number ("2023-05-08", "1.2.3", "555-0199", "3-7"), so that no
part of a code or telephone number is taken for a date. Only a month may be tied to its day ("8May").
The longer lists of words are in `words.json`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from .. import words_in
from .days import Count

TABLE: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))


def number_words(words: str, start: int) -> dict[str, int]:
    return {word: number for number, word in enumerate(words.split(), start)}


MONTHS = number_words(
    "january february march april may june july august september october november december", 1
)
SHORT_MONTHS = {name[:3]: number for name, number in MONTHS.items() if name != "may"} | {"sept": 9}
ALL_MONTHS = MONTHS | SHORT_MONTHS
# also names of people, verbs or adjectives: months only if the words around say so
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
# the range of a vague number
VAGUE = {"few": (2, 5), "several": (3, 7), "couple": (2, 2), "some": (2, 8), "many": (5, 20)}
_FIRSTS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
ORDINALS = number_words(_FIRSTS, 1) | {"thirtieth": 30, "last": -1, "final": -1}

BACK = frozenset({"last", "previous"})
ON = frozenset({"next", "following", "coming", "upcoming"})
WHICH = BACK | ON | {"this", "past"}

_EDGES = {"beginning": "early", "start": "early", "middle": "mid", "end": "late"}
PARTS = {"early": "early", "mid": "mid", "late": "late"} | _EDGES
# after these a month, a weekday, a season or a holiday is a time
BEFORE_TIMES = words_in(TABLE["before_times"])
# nouns that a bare number before them counts
COUNTED = words_in(TABLE["counted"])

FEASTS: dict[str, tuple[str, list[int]]] = {  # by name: the rule and its numbers
    name: (rule, [int(number) for number in numbers.split()])
    for rule in ("by_date", "by_rule", "by_easter")
    for numbers, names in TABLE["feasts"][rule].items()
    for name in names
}
FEAST_STARTS = frozenset(name.split()[0].partition("'")[0] for name in FEASTS)
# things that carry a holiday's name at any time of the year
FEAST_THINGS = words_in(TABLE["feast_things"])

# in the form of `split_letters`: every expression has one of these, or digits that look like a date
_TRIGGERS = (
    {*ALL_MONTHS, *ALL_WEEKDAYS, *_MANY_WEEKDAYS, *UNITS, *HOURS, *PARTS_OF_DAY, *SEASONS}
    | {name.split()[-1].partition("'")[0] for name in FEASTS} - {"day", "s", "year", "years"}
    | words_in(TABLE["triggers"])
)
# words that always concern time; for the others of TRIGGERS the grammar decides, as some occur in
# greetings and idioms, too
_IDLE = {"min", "mins", "day", "night"}
_SURE = {*WEEKDAYS, *_MANY_WEEKDAYS, *MONTHS, *UNITS, *HOURS} - DOUBTFUL - _IDLE
TRIGGERS = frozenset(word.encode() for word in _TRIGGERS)
TIMES = frozenset(word.encode() for word in _SURE | words_in(TABLE["times"]))

# --- tokens

_TOKEN = re.compile(
    r"[^\W\d_]\w*|[0-9]{1,2}(?=(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b)"
    r"|[0-9][0-9a-z]*(?:(?:[-/.:\u2013](?=[0-9])|,(?=[0-9]{3}(?![0-9])))[0-9a-z]+)*"
    r"|(?<=\w)'[^\W\d_]+|\w+|[^\w\s]"
)
_ENDS = frozenset(".!?;")
_BEYOND = [""] * 12  # padding, longer than any lookahead
_NEAR = 14  # words on either side that are searched for the tense

_FUTURE = words_in(TABLE["future"])
_PAST = words_in(TABLE["past"])
_NOT_PAST = words_in(TABLE["not_past"])  # they end in -ed
_BE = words_in("is are am be being")


@dataclass(frozen=True, slots=True)
class Tokens:
    """The words (folded, padded with empty ones) and their positions.

    `year` comes from another part of the expression ("between March and May 2023"); `depth` is the number of
    expressions around this one.
    """

    text: str
    words: list[str]
    places: list[re.Match[str]]
    now: datetime
    today: int
    past: bool
    year: int | None = None
    depth: int = 0

    def start(self, at: int) -> int:
        return self.places[at].start()

    def end(self, at: int) -> int:
        return self.places[at].end()

    def capital(self, at: int) -> bool:
        return self.text[self.start(at)].isupper()

    def opens(self, at: int) -> bool:
        """Returns whether a sentence begins here."""
        return at == 0 or self.words[at - 1] in _ENDS or self.words[at - 1] in ':"-*('

    def before(self, at: int) -> str:
        """Returns the word before one, across a hyphen ("mid-May")."""
        if at > 1 and self.words[at - 1] == "-" and self.start(at) == self.end(at - 1):
            return self.words[at - 2]
        return self.words[at - 1] if at > 0 else ""

    def lean(self, at: int) -> int:
        """Returns the tense near a word: -1 past, 1 future, 0 if nothing says."""
        return -1 if self.past else self.tense(at)

    def tense(self, at: int) -> int:
        """Detects the tense by the nearest verb of the sentence, in its clause before others."""
        before = _clue(self.words[max(at - _NEAR, 0) : at][::-1])
        after = _clue(self.words[at + 1 : at + _NEAR])
        return min(before, after, key=lambda clue: clue[0])[1]


def fold_text(text: str) -> str:
    """Folds a text to lower case and plain apostrophes; positions stay the same."""
    low = text.lower().replace("\u2019", "'")
    if len(low) != len(text):
        low = "".join(c if len(c.lower()) != 1 else c.lower() for c in text).replace("\u2019", "'")
    return low


def scan(text: str, low: str, now: datetime, past: bool) -> Tokens:
    places = list(_TOKEN.finditer(low))
    words = [place[0] for place in places]
    words.extend(_BEYOND)
    return Tokens(text, words, places, now, now.toordinal(), past)


def _clue(words: list[str]) -> tuple[int, int]:
    """Returns the distance of the first word with a tense, and the tense; commas add to the distance."""
    far = 0
    for place, word in enumerate(words):
        far += 6 if word == "," else 1
        if word in _ENDS:
            break
        if word in _FUTURE or (word == "going" and "to" in words[max(place - 1, 0) : place + 2]):
            return far, 1
        if _is_past(word) and not _is_passive(words, place):
            return far, -1
    return 99, 0


def _is_passive(words: list[str], place: int) -> bool:
    """Returns whether "closed" is passive, as in "is the office closed", which is about now."""
    near = words[max(place - 3, 0) : place + 4]
    return words[place] not in _PAST and not _BE.isdisjoint(near)


def _is_past(word: str) -> bool:
    return word in _PAST or (word.endswith("ed") and len(word) > 3 and word not in _NOT_PAST)


# --- counts

_NUMBER = re.compile(r"[0-9]{1,4}")
_RANGE = re.compile(r"([0-9]{1,3})[-\u2013]([0-9]{1,3})")


def parse_count(words: list[str], at: int) -> Count | None:
    """Parses a count: two · 12 · 2-3 · a · a couple of · a few · several · two or three · twenty-five."""
    if match := _RANGE.fullmatch(words[at]):
        low, high = sorted((int(match[1]), int(match[2])))
        return Count(low, high, at + 1, True)
    if words[at] in ("a", "an", "the") and words[at + 1] in ("couple", "few", "dozen"):
        at += 1
    if words[at] in VAGUE and not (at and words[at - 1] == "how"):
        low, high = VAGUE[words[at]]
        return Count(low, high, at + 1 + (words[at + 1] == "of"), True)
    if words[at] == "dozen":
        return Count(12, 12, at + 1, True)
    one = _number(words, at)
    if one and words[one[1]] in ("or", "to") and (two := _number(words, one[1] + 1)) and two[0] > one[0]:
        return Count(one[0], two[0], two[1], True)
    return Count(one[0], one[0], one[1]) if one else None


def _number(words: list[str], at: int) -> tuple[int, int] | None:
    """Parses a number, and the place after it."""
    word = words[at]
    if word in ("a", "an"):
        return 1, at + 1
    if word in NUMBERS:
        return NUMBERS[word], at + 1
    if word in TENS:
        ones = at + 1 + (words[at + 1] == "-")
        more = NUMBERS.get(words[ones], 10)
        return (TENS[word] + more, ones + 1) if more < 10 else (TENS[word], at + 1)
    return (int(word), at + 1) if _NUMBER.fullmatch(word) else None
