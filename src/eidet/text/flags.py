"""What kind of text it is: whether it asks, speaks of a time, has a number, names somebody."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from .analysis import DAYS_KEPT, NAMED, NUMBERED, QUESTION, TIMED, Days
from .dates import Dated, dates_in, has_time, read_letters

LONGEST: Final = 4_000  # characters looked at: what a text is shows early
SURE: Final = 0.5  # times less certain are not kept

# ends with a question mark, whatever brackets, quotes or a caption in brackets follow it
_ASKS = re.compile(r"""[?\uff1f\u061f\u037e]["'\u201d\u2019)\]*\s]*(?:\[[^\]]*\]\s*)?\Z""")
_ASKING = re.compile(r"[?\uff1f\u061f\u037e]")
_DIGIT = re.compile(r"\d")
_NUMBERS: Final = frozenset(
    b"one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred "
    b"thousand once twice couple few dozen half both several".split()
)
_CAPITAL = re.compile("[A-Z\u00c0-\u00de\u0391-\u03a9\u0410-\u042f][^\\W\\d_]+")
# before a word inside a sentence; after a comma or a greeting it is who is spoken to
_INSIDE = re.compile(r"(?:[^\W\d_][ \-])\Z")
_GREETING = re.compile(r"\b(?:hey|hi|hello|dear|thanks|yeah|wow|oh) \Z", re.IGNORECASE)
_CAPITAL_NOUNS: Final = frozenset({"de"})


def times_of(text: str, occurred: datetime, language: str) -> tuple[Dated, ...]:
    """The time expressions of as much of a text as is looked at, as of when it was said."""
    return dates_in(text[:LONGEST], occurred, language=language, past=False)


def marks_of(
    text: str, occurred: datetime, language: str, dated: Sequence[Dated] | None = None
) -> tuple[int, tuple[Days, ...]]:
    """The flags of a text and the days it speaks of; `dated` are its `times_of`, if they are known."""
    said = text[:LONGEST]
    if dated is None:
        dated = times_of(text, occurred, language)
    flags = 0
    if _asks(text[-400:]):
        flags = QUESTION
    if dated or has_time(said, language):
        flags |= TIMED
    if _has_number(said):
        flags |= NUMBERED
    if language not in _CAPITAL_NOUNS and _names(said):
        flags |= NAMED
    days = tuple((found.first, found.last) for found in dated if found.confidence >= SURE)
    return flags, days[:DAYS_KEPT]


def _has_number(text: str) -> bool:
    """In digits of any script, or in words."""
    words, has_digits = read_letters(text)
    return has_digits or not _NUMBERS.isdisjoint(words) or (not text.isascii() and bool(_DIGIT.search(text)))


def _asks(text: str) -> bool:
    return _ASKING.search(text) is not None and _ASKS.search(text) is not None


def _names(text: str) -> bool:
    """Whether a capitalised word stands inside a sentence."""
    return any(_inside(text, found.start()) for found in _CAPITAL.finditer(text))


def _inside(text: str, at: int) -> bool:
    before = text[max(0, at - 8) : at]
    return _INSIDE.search(before) is not None and _GREETING.search(before) is None
