"""Computes the signals of each candidate, each scaled from 0 to 1 over all that was searched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..index import Candidates
from ..index.turn_line import TurnLine
from ..text.analysis import TIMED
from ..text.dates import Dated
from .recipes import Recipe
from .understand import Understood

DAY: Final = 86_400.0
UNIX: Final = 719_163  # the ordinal of 1970-01-01
SPOKEN: Final = 0.9  # factor for a time that a text mentions, against when it was said
OTHER_YEAR: Final = 0.6  # factor for "in May" in other years than the likely one
NEXT_DAY: Final = 0.7  # factor for records a day before or after the time meant
FEW: Final = 30  # candidates up to which the lowest value is no baseline
VAGUE: Final = 0.5  # factor for texts about a month if a day is meant
RANGE: Final = 0.8  # factor for texts about a shorter time around the day, such as "1 to 14 December"
LONG_TIME: Final = 27  # days from the first to the last: a month and more
YEARS: Final = 20
POOR: Final = 0.25  # a best cosine below this is more noise than match

NAMED: Final = ("date", "asked", "identifier")

Floats = NDArray[Any]  # floats of any width
Mask = NDArray[np.bool_]
_NEVER: Final = 1 << 30  # an ordinal beyond all days


@dataclass(frozen=True, slots=True)
class Signals:
    """The raw values and the shares (0 to 1) of each signal."""

    values: dict[str, Floats]
    shares: dict[str, Floats]
    match: Floats  # how well each candidate, or its context, matches words and meaning
    terms: int = 0  # of the question
    meant: NDArray[np.bool_] | None = None  # rows that the time asked for allows; None: all

    def fit(self, rows: NDArray[np.intp]) -> bool:
        """Returns whether a row has the time, session or identifier asked for."""
        return any(bool(self.shares[name][rows].any()) for name in NAMED if name in self.shares)


def signals_of(
    found: Candidates, asked: Understood, recipe: Recipe, now: float, zone: float, terms: int = 0
) -> Signals:
    """Computes the signals. `now` is the time of asking, `zone` the offset from UTC in seconds."""
    line = found.traits.line or _line_up(found)
    talk = line.shape_turns(recipe.talk_terms)
    dense, words = _scale_to_best(found.dense, POOR), _words(found)
    if asked.foreign:
        dense, words = dense * (1.0 - asked.foreign), _mix_counted(words, found, asked.foreign)
    base = _base(dense, words, found, recipe, asked.foreign)
    values: dict[str, Floats] = {
        "dense": found.dense,
        "words": found.words if found.traits.aligned is None else found.traits.aligned,
    }
    shares: dict[str, Floats] = {"dense": dense, "words": words}
    if recipe.context > 0 and line.some:
        around = base * talk.share
        shares["dense"] = _stretch(line.smooth(dense, talk), float(np.maximum.reduce(dense, initial=0.0)))
        shares["context"] = line.best(around, base) * talk.share + base * talk.rest
    if recipe.reply > 0 and line.some:
        shares["reply"] = line.replies(base) * talk.share
    shares |= _about(found, asked, recipe, now, zone)
    return Signals({**shares, **values}, shares, shares.get("context", base), terms)


def _line_up(found: Candidates) -> TurnLine:
    traits = found.traits
    return TurnLine(traits.session, traits.turn, traits.who, traits.flags, traits.length)


def _words(found: Candidates) -> Floats:
    if found.traits.aligned is None:
        return _scale_to_best(found.words)
    return _scale_to_best(found.traits.aligned)


def _mix_counted(words: Floats, found: Candidates, foreign: float) -> Floats:
    """Mixes aligned words and BM25 by the share of letters whose script has no word vectors."""
    mixed: Floats = words * (1.0 - foreign) + _scale_to_best(found.words) * foreign
    return mixed


def _base(dense: Floats, words: Floats, found: Candidates, recipe: Recipe, foreign: float) -> Floats:
    """Scores how well each candidate matches by itself."""
    if recipe.dense <= 0 or not np.maximum.reduce(found.dense, initial=0.0):
        return words
    if recipe.words <= 0 or not np.logical_or.reduce(words):
        return dense
    base: Floats = dense * 0.5
    base += words * (0.5 + 0.5 * foreign)
    return base


def _scale_to_best(values: Floats, least: float = 0.0) -> Floats:
    """Scales values to 0 to 1 by the best, from 0 or the lowest if that is negative.

    A best value below `least` is no full match.
    """
    low = float(np.minimum.reduce(values, initial=0.0))
    high = float(np.maximum.reduce(values, initial=least))
    if high <= low:
        return np.zeros(len(values))
    scaled: Floats = values - low
    scaled /= high - low
    np.maximum(scaled, 0.0, out=scaled)
    return np.minimum(scaled, 1.0, out=scaled)


def _stretch(values: Floats, best: float) -> Floats:
    """Scales from 0 to the best value before smoothing; among few, the last may be near the best."""
    high, low = np.maximum.reduce(values, initial=0.0), 0.0
    if len(values) > FEW:
        low = np.minimum.reduce(values)
    return (values - low) * (best / (high - low)) if high > low else values


def _about(
    found: Candidates, asked: Understood, recipe: Recipe, now: float, zone: float
) -> dict[str, Floats]:
    """Computes the signals that need no scores: the record's properties against what was asked."""
    shares: dict[str, Floats] = {}
    if recipe.speaker > 0 and asked.speaker in found.traits.voices:
        shares["speaker"] = _of(found, asked)
    if recipe.identifier > 0 and asked.identifiers and found.traits.mentions:
        has = _find_identifiers(found, asked)
        if has.any():
            shares["identifier"] = has
    if recipe.date > 0 and asked.dates:
        shares["date"] = _score_dates(found, asked, zone)
    if recipe.asked > 0 and found.traits.inside is not None:
        shares["asked"] = found.traits.inside * 1.0
    if recipe.importance > 0:
        shares["importance"] = found.traits.importance
    if recipe.recency > 0:
        age = np.maximum(now - found.traits.occurred, 0.0) / DAY
        shares["recency"] = np.exp2(-age / recipe.half_life_days)
    return shares


def _of(found: Candidates, asked: Understood) -> Floats:
    """Marks records said by the person asked about or, if they have no speaker, naming them."""
    own = found.traits.who == found.traits.voices.index(asked.speaker or "")
    if asked.names and found.traits.mentions:
        own |= (found.traits.who < 0) & found.traits.mentions[0]
    elif not asked.names:
        own |= found.traits.who < 0
    floats: Floats = own * 1.0
    return floats


def _find_identifiers(found: Candidates, asked: Understood) -> Floats:
    """Returns the share of the identifiers that each candidate has, in any spelling."""
    at = len(asked.names[:1])
    total = np.zeros(len(found))
    for one in asked.identifiers:
        end = at + len(one.ways)
        total += np.logical_or.reduce(found.traits.mentions[at:end])
        at = end
    return total / len(asked.identifiers)


def _score_dates(found: Candidates, asked: Understood, zone: float) -> Floats:
    """Scores how well each record fits the times asked about, by when it happened or what it mentions."""
    day, days = _read_day(found, zone), found.traits.days
    fits = np.zeros(len(found))
    for one in asked.dates:
        score = one.confidence * _precision(one.last - one.first + 1)
        for first, last, certain in _list_years(one, day):
            _raise_near(fits, day, first, last, score * certain)
            if len(days):
                _raise_spoken(fits, days, first, last, score * certain * SPOKEN)
    return fits


def _raise_near(fits: Floats, day: Floats, first: int, last: int, score: float) -> None:
    """Raises records from `first` to `last` to a score, and those a day away to less."""
    near = ((day >= first - 1) & (day <= last + 1)).nonzero()[0]  # few of all
    if not len(near):
        return
    there = day.take(near)
    within = (there >= first) & (there <= last)
    fits[near] = np.maximum(fits.take(near), np.where(within, score, score * NEXT_DAY))


def _raise_spoken(fits: Floats, days: NDArray[np.int32], first: int, last: int, score: float) -> None:
    """Raises records that mention a time within `first` to `last` to a score; a much longer time, to less."""
    spoken = days[(days[:, 1] <= last) & (days[:, 2] >= first)]
    if not len(spoken):
        return
    rows, length = spoken[:, 0], spoken[:, 2] - spoken[:, 1]
    meant = length <= max(31, last - first)
    wide = np.where(length > 2 * (last - first) + 2, np.where(length >= LONG_TIME, VAGUE, RANGE), 1.0)
    np.maximum.at(fits, rows[meant], score * wide[meant])


def _precision(days: int) -> float:
    """Weighs a time by its length: the shorter, the more specific."""
    if days <= 10:
        return 1.0
    if days <= 31:
        return 0.9
    if days <= 100:
        return 0.7
    return 0.5


def _list_years(one: Dated, day: Floats) -> Iterator[tuple[int, int, float]]:
    """Yields the time meant with weight 1 and, if its year was guessed, that of other years with less."""
    yield one.first, one.last, 1.0
    if one.yearless and len(day):
        early, late = int(day.min() - one.first) // 365, int(day.max() - one.first) // 365 + 1
        for years in range(max(early, -YEARS), min(late, YEARS) + 1):
            if years:
                away = round(years * 365.2425)
                yield one.first + away, one.last + away, OTHER_YEAR


def share_covered(found: Candidates) -> float:
    """Returns the share of the question's words that the best record covers."""
    if found.traits.aligned is not None:
        return float(np.maximum.reduce(found.traits.aligned, initial=0.0))
    if found.rarity > 0:
        return min(1.0, float(np.maximum.reduce(found.words, initial=0.0)) / found.rarity)
    return 0.0


# --- candidates that a question only about a time, or about coming events, cannot mean


def keep_time(signals: Signals, found: Candidates, asked: Understood, now: float, zone: float) -> Signals:
    """Excludes records of another time, if the question asks only for a time or for coming events."""
    if asked.upcoming:
        return replace(signals, meant=_find_upcoming(found, asked, now, zone))
    if asked.only_time and asked.dates:
        meant = _find_dated(found, asked.dates, zone)
        return replace(signals, meant=meant | _find_repeated(found)) if meant.any() else signals
    return signals


def _find_dated(found: Candidates, dates: tuple[Dated, ...], zone: float) -> Mask:
    """Marks records that happened in one of the times or mention it."""
    day, meant = _read_day(found, zone), np.zeros(len(found), np.bool_)
    for one in dates:
        for first, last, _ in _list_years(one, day):
            meant |= (day >= first) & (day <= last)
            meant |= _speaks_of(found, first, last)
    return meant


def _find_repeated(found: Candidates) -> Mask:
    """Marks records that mention a repeated time ("every Tuesday") in a word of the question."""
    dated = _speaks_of(found, 1, _NEVER)
    repeated: Mask = ((found.traits.flags & TIMED) > 0) & ~dated & (found.words > 0)
    return repeated


def _find_upcoming(found: Candidates, asked: Understood, now: float, zone: float) -> Mask:
    """Marks records about a coming day within the times asked for; without times, all but past ones."""
    today = int((now + zone) // DAY) + UNIX
    ahead = found.traits.occurred > now
    windows = [(max(one.first, today), one.last) for one in asked.dates if one.last >= today]
    if not windows:
        speaks = _speaks_of(found, 1, today - 1)
        return ahead | ~speaks | _speaks_of(found, today, _NEVER)
    day, meant = _read_day(found, zone), np.zeros(len(found), np.bool_)
    for first, last in windows:
        meant |= ahead & (day >= first) & (day <= last)
        meant |= _speaks_of(found, first, last)
    return meant


def _read_day(found: Candidates, zone: float) -> Floats:
    days: Floats = np.floor((found.traits.occurred + zone) / DAY) + UNIX
    return days


def _speaks_of(found: Candidates, first: int, last: int) -> Mask:
    """Marks records whose text mentions a day within this span."""
    days, speaks = found.traits.days, np.zeros(len(found), np.bool_)
    if len(days):
        speaks[days[(days[:, 1] <= last) & (days[:, 2] >= first)][:, 0]] = True
    return speaks
