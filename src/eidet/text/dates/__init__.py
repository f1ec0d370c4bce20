"""Finds time expressions in a text as intervals of calendar days, relative to a reference time.

English has a grammar of its own; other languages have words for months, weekdays and relative days; dates in
digits are found in any language. Nothing is raised for any text, and the time is linear in its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache

from ..words import code_of
from .days import MAYBE, Days, clip_day, parse_other_way
from .scanner import TIMES, TRIGGERS, Tokens, fold_text, scan


def _letter_of(code: int) -> int:
    """Returns the code of a letter in lower case, "0" for a digit, a blank for everything else."""
    if code < 128 and chr(code).isalpha():
        return ord(chr(code).lower())
    return 48 if 48 <= code < 58 else 32


_LETTERS = bytes(map(_letter_of, range(256)))
_CLOCK = re.compile(r"\b[0-2]?[0-9](?::[0-5][0-9]\b|\s?(?:am|pm|a\.m\.|p\.m\.|uhr|h)(?!\w))", re.IGNORECASE)
_EVERY = re.compile(
    r"\b(?:every|each|all|per|whole|in the|at|one|[0-9]+|half a)\s"
    r"(?:spring|summer|fall|winter|march|april|may|june|august|day|night|morning|afternoon|evening)\b",
    re.IGNORECASE,
)
_SOME_DAY = datetime(2000, 6, 15, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dated:
    """A time expression, its position, and the days it means (ordinals, both ends included).

    `confidence` is 1 for a full date and less for a vague, ambiguous or yearless one. `grain` is "day",
    "weekend", "week", "month", "season", "year" or "span". `yearless`: day and month are certain, the year
    was guessed.
    """

    text: str
    start: int
    end: int
    first: int
    last: int
    confidence: float
    grain: str
    yearless: bool = False


def dates_in(text: str, now: datetime, *, language: str = "en", past: bool = True) -> tuple[Dated, ...]:
    """Finds the time expressions of a text, in order, not overlapping. Days are those of `now`'s zone.

    With `past` an expression without a year means the latest not after `now`, as in questions about
    memories. Without it the words around decide, else the nearest is taken, with less confidence.
    """
    if language != "en" and (code := code_of(language)) != "en":
        from .foreign import find_foreign

        found = find_foreign(fold_text(text), now, code, past)
        return tuple(_make_date(text, start, end, days) for start, end, days in found)
    words, has_digits = split_letters(text)
    if TRIGGERS.isdisjoint(words) and not (has_digits and MAYBE.search(text)):
        return ()
    return _parse_english(text, now.replace(tzinfo=None), past)


def list_other_readings(found: Sequence[Dated]) -> tuple[Dated, ...]:
    """Finds the second meaning of dates in digits that have two: 4/6/2026 is in April or in June."""
    read = ((one, parse_other_way(one.text)) for one in found)
    return tuple(replace(one, first=days.first, last=days.last) for one, days in read if days)


def has_time(text: str, language: str = "en") -> bool:
    """Returns whether a text has a time expression, a duration, an hour or a recurrence ("every summer")."""
    if language != "en" and (code := code_of(language)) != "en":
        from .foreign import find_foreign

        low = fold_text(text)
        return bool(find_foreign(low, _SOME_DAY, code, past=True)) or _CLOCK.search(low) is not None
    words, digits = split_letters(text)
    if not TIMES.isdisjoint(words) or (digits and _CLOCK.search(text)):
        return True
    if not digits and TRIGGERS.isdisjoint(words):
        return False
    return _EVERY.search(text) is not None or bool(dates_in(text, _SOME_DAY))


@lru_cache(maxsize=4)
def split_letters(text: str) -> tuple[Sequence[bytes], bool]:
    """Splits a text into lower-case words of ASCII letters, and returns whether it has a digit.

    Cached, because the analysis of a text asks several times.
    """
    letters = text.encode("ascii", "replace").translate(_LETTERS)
    return letters.split(), b"0" in letters


@lru_cache(maxsize=4)
def _parse_english(text: str, now: datetime, past: bool) -> tuple[Dated, ...]:
    """Finds the times of a text. Cached, because a recall parses its question twice.

    `now` has no zone: a moment is equal in all zones, but its day is not.
    """
    return tuple(_english(scan(text, fold_text(text), now, past)))


def _english(tokens: Tokens) -> Iterator[Dated]:
    from .phrases import STARTS, expression  # the grammar, which most texts do not need

    at, words = 0, tokens.words
    for here in range(len(tokens.places)):
        word = words[here]
        if here < at or not (word in STARTS or word[0].isdecimal()):
            continue
        if found := expression(tokens, here):
            days, at = found
            yield _make_date(tokens.text, tokens.start(here), tokens.end(at - 1), days)


def _make_date(text: str, start: int, end: int, days: Days) -> Dated:
    return Dated(
        text=text[start:end],
        start=start,
        end=end,
        first=clip_day(days.first),
        last=clip_day(days.last),
        confidence=round(min(max(days.confidence, 0.05), 1.0), 3),
        grain=days.grain,
        yearless=days.yearless,
    )
