"""Detects by patterns whether a text asks, mentions a time, has a number or names people or things."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from functools import cache, cached_property
from typing import Final

from .analysis import ACTOR, DAYS_KEPT, NAMED, NUMBERED, QUESTION, TIMED, Days
from .dates import Dated, dates_in, has_time, split_letters
from .words import STOP_WORDS, load_forms

LONGEST: Final = 4_000  # characters of a text that are searched
SURE: Final = 0.5  # the least confidence of a time that is kept


def words_in(text: str) -> frozenset[str]:
    """Returns the set of words in a string."""
    return frozenset(text.split())


# ends with a question mark; brackets, quotes or a caption in brackets may follow
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
    """Finds the time expressions in the first `LONGEST` characters of a text, relative to its time."""
    return dates_in(text[:LONGEST], occurred, language=language, past=False)


def marks_of(
    text: str, occurred: datetime, language: str, dated: Sequence[Dated] | None = None
) -> tuple[int, tuple[Days, ...]]:
    """Returns the flags of a text and the days it mentions; `dated` are its `times_of`, if known."""
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
    """Returns whether a text has a number, in digits of any script or in words."""
    words, has_digits = split_letters(text)
    return has_digits or not _NUMBERS.isdisjoint(words) or (not text.isascii() and bool(_DIGIT.search(text)))


def asks(text: str) -> bool:
    """Returns whether a text ends with a question."""
    return _ASKING.search(text) is not None and _ASKS.search(text) is not None


def _find_names(text: str) -> int:
    """Returns `NAMED` for a capitalised word inside a sentence, `ACTOR` if one begins with a name, else 0."""
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
    """Lists the capitalised words inside sentences, and those that begin one as its actor."""
    return [
        found[0]
        for found in _CAPITAL.finditer(text)
        if found[0] not in _CALENDAR and (_inside(text, found.start()) or _acts(text, *found.span()))
    ]


def _acts(text: str, at: int, end: int) -> bool:
    """Returns whether the word is an actor: "Hugo can't come", "…, Deniz has it now"."""
    after = _NEXT.match(text, end)
    if after is None or not (at == 0 or text[at - 2 : at] in _STARTS):
        return False
    low, verb = text[at:end].lower(), after[1]
    if text[at:end] in _CALENDAR or low in _list_common() or low.endswith(_NO_NAME):
        return False
    return verb in _VERBS or verb.endswith(_VERB_ENDS)


@cache
def _list_common() -> frozenset[str]:
    """Returns words that begin sentences but are no names."""
    return STOP_WORDS["en"].union(*load_forms())


def _inside(text: str, at: int) -> bool:
    """Returns whether a word is inside a sentence; after a comma or a greeting it is an address."""
    if at < 2 or text[at - 1] not in " -":
        return False
    if not text[at - 2].isalpha():
        return text[at - 2] == "." and _TITLE.search(text[max(0, at - 6) : at]) is not None
    return _GREETING.search(text[max(0, at - 8) : at]) is None


class FoldedPattern:
    """A case-insensitive pattern, compiled on first use.

    A match in an ASCII text is in lower case; its position is that in the text.
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
        if text.isascii():  # twice as fast as ignoring case
            return self._small.search(text.lower())
        return self._folding.search(text)

    def match(self, text: str) -> re.Match[str] | None:
        return self._small.match(text.lower()) if text.isascii() else self._folding.match(text)

    def sub(self, new: str, text: str) -> str:
        return text if self.search(text) is None else self._folding.sub(new, text)
