"""The rows that a filter lets pass, kept for the next question that asks with the same one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...core.where import Where
from .. import Rows
from .columns import ColumnTable
from .filters import Mask, Resolve
from .row_traits import Portrait


@dataclass(slots=True)
class Passing:
    """Which rows may be answered; None where all may. `portrait` is of all of them, once somebody made it.

    `all_living`: nothing keeps a living row out.
    """

    keep: Mask | None
    rows: Rows | None
    count: int
    records: int
    all_living: bool
    portrait: Portrait | None = None

    def pick(self, best: Rows | None) -> Rows:
        """Rows by their places among those that passed; all of them without any."""
        if best is None:
            return np.arange(self.count) if self.rows is None else self.rows
        return best if self.rows is None else self.rows.take(best)


@dataclass(slots=True)
class _Kept:
    where: Where | None
    passing: Passing
    since: float
    until: float

    def holds(self, where: Where | None, now: float) -> bool:
        same = where is self.where or where == self.where
        return same and self.since <= now < self.until


class LastPassing:
    """The last answer to "what passes?", as long as the rows stay the same and none of them expires."""

    def __init__(self) -> None:
        self._kept: _Kept | None = None

    def forget(self) -> None:
        self._kept = None

    def read(self, columns: ColumnTable, where: Where | None, now: float, resolve: Resolve) -> Passing:
        if self._kept is not None and self._kept.holds(where, now):
            return self._kept.passing
        found = _select(columns, where, now, resolve)
        if where is None or not _asks_the_store(where):
            self._kept = _Kept(where, found, now, _next_expiry(columns, now))
        return found


def _select(columns: ColumnTable, where: Where | None, now: float, resolve: Resolve) -> Passing:
    keep = columns.select_passing(where, now, resolve)
    if keep is None:
        return Passing(None, None, columns.count, columns.records, all_living=True)
    rows = np.flatnonzero(keep)
    if len(rows) == columns.live:  # none but living rows pass
        return Passing(keep, rows, columns.live, columns.records, all_living=True)
    records = int((columns.unit.take(rows) == 0).sum())
    return Passing(keep, rows, len(rows), records, all_living=False)


def _next_expiry(columns: ColumnTable, now: float) -> float:
    """Until when the same rows are alive."""
    if not columns.mortal:
        return math.inf
    later = columns.expires[columns.expires > now]
    return float(later.min(initial=math.inf))


def _asks_the_store(where: Where) -> bool:
    """Whether some part of a filter is told by no column."""
    if where.ids is not None or where.conditions:
        return True
    return any(map(_asks_the_store, (*where.every, *where.some, *where.never)))
