"""Computes the validity of a statement from the time expressions of its sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import Final

from ..dates import Dated
from ..dates.days import clip_day, move_day
from ..dates.scanner import UNITS, parse_count
from .sentence_words import SentenceWords

_UNIT_DAYS: Final = frozenset(("day", "week", "month", "year"))
_LONG_AGO: Final = {"decade": ("year", 10), "fortnight": ("week", 2)}
_SINCE: Final = frozenset(("since", "from", "starting", "as", "beginning"))
_UNTIL: Final = frozenset(("until", "till", "to", "through"))
_TIED: Final = frozenset(("since", "from", "until", "till"))
_ABOUT: Final = frozenset(("the", "past", "last", "over", "about", "almost", "nearly", "around"))


@dataclass(frozen=True, slots=True)
class Validity:
    """The start and end of validity in seconds since 1970; None if the text does not say.

    point    the time is that of an event, not its beginning or end
    lasting  it continues: "since March", "for two years"
    """

    since: float | None = None
    until: float | None = None
    point: bool = False
    lasting: bool = False


NO_TIME: Final = Validity()


def find_validity(words: SentenceWords, dated: Sequence[Dated], said: datetime) -> Validity:
    """Finds the time that goes with a sentence."""
    span = NO_TIME
    for found in dated:
        span = _add_time(span, found, _word_before(words, found), said)
    if span.since is None and (began := _find_duration(words, said)) is not None:
        return replace(span, since=began, lasting=True)
    return span


def _add_time(span: Validity, found: Dated, before: str, said: datetime) -> Validity:
    """Adds a time of the sentence. "Until 2023" and "to 2023" include the whole year."""
    first, after = _moment(found.first, said), _moment(found.last + 1, said)
    if before in _SINCE:
        if _UNTIL.isdisjoint(found.text.lower().split()):
            return replace(span, since=first, lasting=True)
        return replace(span, since=first, until=after)
    if before in _UNTIL:
        return replace(span, until=after)
    return Validity(since=first, until=after, point=True) if span.since is None else span


def _moment(ordinal: int, said: datetime) -> float:
    """Returns midnight of a day in the zone of the text's time."""
    day = datetime.combine(date.fromordinal(clip_day(ordinal)), time.min, said.tzinfo)
    try:
        return day.timestamp()
    except (OverflowError, ValueError, OSError):
        return 0.0


def _word_before(words: SentenceWords, found: Dated) -> str:
    first = found.text.partition(" ")[0].lower()
    if first in _TIED:
        return first
    places = (at for at in range(1, words.last + 1) if words.starts[at] >= found.start)
    return words.low[next(places, 1) - 1]


def _find_duration(words: SentenceWords, said: datetime) -> float | None:
    """Returns the beginning of a duration such as "for three years"; None without one."""
    began = (_count_back(words, at + 1, said) for at in range(1, words.last) if words.low[at] == "for")
    return next((one for one in began if one is not None), None)


def _count_back(words: SentenceWords, at: int, said: datetime) -> float | None:
    while words.low[at] in _ABOUT:
        at += 1
    count = parse_count(words.low, at)
    if count is None or count.after > words.last:
        return None
    unit = UNITS.get(words.low[count.after], "")
    unit, times = _LONG_AGO.get(unit, (unit, 1))
    if unit not in _UNIT_DAYS:
        return None
    middle = (count.low + count.high) // 2 * times
    return _moment(move_day(said.toordinal(), -middle, unit), said)
