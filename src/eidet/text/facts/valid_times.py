"""When a statement holds: the time expressions of its sentence as moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import Final

from ..dates import Dated
from ..dates.days import clip_day, move_day
from ..dates.durations import read_count
from ..dates.english_words import UNITS
from .sentence_words import SentenceWords
from .word_tables import PAST, WordTables

_UNIT_DAYS: Final = frozenset({"day", "week", "month", "year"})
_LONG_AGO: Final = {"decade": ("year", 10), "fortnight": ("week", 2)}


@dataclass(frozen=True, slots=True)
class Validity:
    """Since when and until when, in seconds since 1970; None where the text does not say.

    point    the time is one at which something happens, not the beginning or end of it
    lasting  it goes on: "since March", "for two years"
    """

    since: float | None = None
    until: float | None = None
    point: bool = False
    lasting: bool = False


NO_TIME: Final = Validity()


def read_span(
    words: SentenceWords, dated: Sequence[Dated], tables: WordTables, said: datetime, low: int, high: int
) -> Validity:
    """The time that goes with a clause: what stands in the text between two places."""
    span = Validity()
    for found in dated:
        if low <= found.start < high:
            before, meant = _word_before(words, found), found
            if tables.inverts and (before == "seit" or _is_past(words, tables)):
                meant = _move_back(found, said)
            span = _add_time(span, meant, before, tables, said)
    if span.since is None and (began := _read_duration(words, said, low, high)) is not None:
        return replace(span, since=began, lasting=True)
    return span


def _is_past(words: SentenceWords, tables: WordTables) -> bool:
    """Whether a sentence has a verb in the past: "im März" is then the last one."""
    forms: set[str] = set()
    for word in words.low:
        for frame in tables.frames.get(word, ()):
            forms.add(frame.form)
    return PAST in forms


def _move_back(found: Dated, said: datetime) -> Dated:
    """A time without a year that is still to come, a year earlier."""
    if not found.yearless or found.first <= said.toordinal():
        return found
    first = move_day(found.first, -1, "year")
    return replace(found, first=first, last=first + found.last - found.first)


def _add_time(span: Validity, found: Dated, before: str, tables: WordTables, said: datetime) -> Validity:
    """One more time of a clause. "Until 2023" counts to the end of the year, as "to 2023" does."""
    first, after = moment(found.first, said), moment(found.last + 1, said)
    if before in tables.since:
        if tables.until.isdisjoint(found.text.lower().split()):
            return replace(span, since=first, lasting=True)
        return replace(span, since=first, until=after)
    if before in tables.until:
        return replace(span, until=after)
    if span.since is None:
        return Validity(since=first, until=after, point=True)
    return span


def moment(ordinal: int, said: datetime) -> float:
    """Midnight of a day in the zone in which the text was said."""
    day = datetime.combine(date.fromordinal(clip_day(ordinal)), time.min, said.tzinfo)
    try:
        return day.timestamp()
    except (OverflowError, ValueError, OSError):
        return 0.0


def _word_before(words: SentenceWords, found: Dated) -> str:
    first = found.text.partition(" ")[0].lower()
    if first in _TIED:
        return first
    for at in range(1, words.last + 1):
        if words.starts[at] >= found.start:
            return words.low[at - 1]
    return ""


_TIED: Final = frozenset({"since", "from", "until", "till", "seit", "bis", "ab", "von"})
_ABOUT: Final = frozenset(
    ["the", "past", "last", "over", "about", "almost", "nearly", "around", "more", "than"]
)


def _read_duration(words: SentenceWords, said: datetime, low: int, high: int) -> float | None:
    """ "… for three years": since then."""
    for at in range(1, words.last):
        if words.low[at] == "for" and low <= words.starts[at] < high:
            began = _count_back(words, at + 1, said)
            if began is not None:
                return began
    return None


def _count_back(words: SentenceWords, at: int, said: datetime) -> float | None:
    while words.low[at] in _ABOUT:
        at += 1
    count = read_count(words.low, at)
    if count is None or count.after > words.last:
        return None
    unit = UNITS.get(words.low[count.after], "")
    unit, times = _LONG_AGO.get(unit, (unit, 1))
    if unit not in _UNIT_DAYS:
        return None
    middle = (count.low + count.high) // 2 * times
    return moment(move_day(said.toordinal(), -middle, unit), said)
