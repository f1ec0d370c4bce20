"""Excludes candidates that a question only about a time, or about coming events, cannot mean.

For other questions a time is one signal beside their subject.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..index import Candidates
from ..text.analysis import TIMED
from ..text.dates import Dated
from .signals import DAY, UNIX, Signals, list_years
from .understand import Understood

Mask = NDArray[np.bool_]


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
        for first, last, _ in list_years(one, day):
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


_NEVER = 1 << 30


def _read_day(found: Candidates, zone: float) -> NDArray[np.float64]:
    days: NDArray[np.float64] = np.floor((found.traits.occurred + zone) / DAY) + UNIX
    return days


def _speaks_of(found: Candidates, first: int, last: int) -> Mask:
    """Marks records whose text mentions a day within this span."""
    days, speaks = found.traits.days, np.zeros(len(found), np.bool_)
    if len(days):
        speaks[days[(days[:, 1] <= last) & (days[:, 2] >= first)][:, 0]] = True
    return speaks
