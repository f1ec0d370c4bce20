"""What kind of text it is: whether it asks, speaks of a time, has a number, names somebody; by patterns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from functools import cache, cached_property
from typing import Final

from .analysis import ACTOR, DAYS_KEPT, NAMED, NUMBERED, QUESTION, TIMED, Days
from .dates import Dated, dates_in, has_time, split_letters
from .words import STOP_WORDS, load_forms

LONGEST: Final = 4_000  # characters looked at: what a text is shows early
SURE: Final = 0.5  # times less certain are not kept


def words_in(text: str) -> frozenset[str]:
    """A set of words, written as a text."""
    return frozenset(text.split())


# ends with a question mark, whatever brackets, quotes or a caption in brackets follow it
_ASKS = re.compile(r"""[?\uff1f\u061f\u037e]["'\u201d\u2019)\]*\s]*(?:\[[^\]]*\]\s*)?\Z""")
_ASKING = re.compile(r"[?\uff1f\u061f\u037e]")
_DIGIT = re.compile(r"\d")
_NUMBERS: Final = frozenset(
    b"one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred "
    b"thousand once twice couple few dozen half both several".split()
)
_CAPITAL = re.compile("[A-Z\u00c0-\u00de\u0391-\u03a9\u0410-\u042f][^\\W\\d_]+")
_GREETING = re.compile(r"\b(?:hey|hi|hello|dear|thanks|yeah|wow|oh) \Z", re.IGNORECASE)
_TITLE = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Prof|Miss|St)\. \Z")
_NEXT = re.compile(r" ([a-z]+(?:'t)?)\b(?! ?[.!?])")
_STARTS: Final = frozenset((". ", "! ", "? ", ", ", "; ", ": ", "\n\n"))
_VERBS: Final = words_in(
    "is isn't was wasn't has hasn't had hadn't can can't cannot could couldn't will won't would wouldn't "
    "does doesn't did didn't must should may might never always still also just only now took gave left got "
    "went came bought sold said told made met kept lost won found built broke wrote sent paid spent felt "
    "heard held led ran saw set put quit taught thought understood woke wore drove ate drank flew grew knew "
    "sang slept spoke stood swam fell chose began became brought caught fought forgot hid hit hurt lent lay "
    "let"
)
_VERB_ENDS: Final = ("s", "ed")
_NO_NAME: Final = ("ing", "ly", "tion", "ness", "ment", "ship", "ence", "ance", "ity")
_CALENDAR: Final = words_in(
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mondays Tuesdays Wednesdays Thursdays Fridays "
    "Saturdays Sundays January February March April May June July August September October November December "
    "Today Tomorrow Yesterday Tonight"
)
_CAPITAL_NOUNS: Final = frozenset({"de"})


def times_of(text: str, occurred: datetime, language: str) -> tuple[Dated, ...]:
    """The time expressions of as much of a text as is looked at, as of when it was said."""
    return dates_in(text[:LONGEST], occurred, language=language, past=False)


def marks_of(
    text: str, occurred: datetime, language: str, dated: Sequence[Dated] | None = None
) -> tuple[int, tuple[Days, ...]]:
    """The flags of a text and the days it speaks of; `dated` are its `times_of`, if they are known."""
    start = text[:LONGEST]
    if dated is None:
        dated = times_of(text, occurred, language)
    flags = 0
    if ("?" in text or not text.isascii()) and asks(text[-400:]):
        flags = QUESTION
    if dated or has_time(start, language):
        flags |= TIMED
    if _has_number(start):
        flags |= NUMBERED
    if language not in _CAPITAL_NOUNS:
        flags |= _find_names(start)
    if not dated:
        return flags, ()
    days = tuple((found.first, found.last) for found in dated if found.confidence >= SURE)
    return flags, days[:DAYS_KEPT]


def _has_number(text: str) -> bool:
    """Tells whether a text has a number, in digits of any script or in words."""
    words, has_digits = split_letters(text)
    return has_digits or not _NUMBERS.isdisjoint(words) or (not text.isascii() and bool(_DIGIT.search(text)))


def asks(text: str) -> bool:
    """Tells whether a text ends with a question."""
    return _ASKING.search(text) is not None and _ASKS.search(text) is not None


def _find_names(text: str) -> int:
    """`NAMED` if a capitalised word stands inside a sentence, else `ACTOR` if one begins with a name."""
    actor = 0
    if text.isascii() and text.lower() == text:
        return actor
    for found in _CAPITAL.finditer(text):
        at, end = found.span()
        if _inside(text, at) and found[0] not in _CALENDAR:
            return NAMED
        if not actor and _acts(text, at, end):
            actor = ACTOR
    return actor


def list_names(text: str) -> list[str]:
    """The capitalised words that stand inside a sentence or begin one as who does something."""
    return [
        found[0]
        for found in _CAPITAL.finditer(text)
        if found[0] not in _CALENDAR and (_inside(text, found.start()) or _acts(text, *found.span()))
    ]


def _acts(text: str, at: int, end: int) -> bool:
    """Tells whether somebody acts here: "Hugo can't come", "…, Deniz has it now"."""
    after = _NEXT.match(text, end)
    if after is None or not (at == 0 or text[at - 2 : at] in _STARTS):
        return False
    low, verb = text[at:end].lower(), after[1]
    if text[at:end] in _CALENDAR or low in _list_common() or low.endswith(_NO_NAME):
        return False
    return verb in _VERBS or verb.endswith(_VERB_ENDS)


@cache
def _list_common() -> frozenset[str]:
    """Lists words that begin a sentence but name nobody."""
    return STOP_WORDS["en"].union(*load_forms())


def _inside(text: str, at: int) -> bool:
    """Tells whether a word is inside a sentence; after a comma or a greeting it addresses somebody."""
    if at < 2 or text[at - 1] not in " -":
        return False
    if not text[at - 2].isalpha():
        return text[at - 2] == "." and _TITLE.search(text[max(0, at - 6) : at]) is not None
    return _GREETING.search(text[max(0, at - 8) : at]) is None


class FoldedPattern:
    """A pattern that is found in any case; compiled when it is first used.

    A match in a text of ASCII letters holds small letters. It stands where the text has it.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    @cached_property
    def _small(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    @cached_property
    def _folding(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.IGNORECASE)

    def search(self, text: str) -> re.Match[str] | None:
        if text.isascii():  # twice as quick as to ignore case
            return self._small.search(text.lower())
        return self._folding.search(text)

    def match(self, text: str) -> re.Match[str] | None:
        return self._small.match(text.lower()) if text.isascii() else self._folding.match(text)

    def sub(self, new: str, text: str) -> str:
        return text if self.search(text) is None else self._folding.sub(new, text)
