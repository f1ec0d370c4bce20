"""Computes the traits of candidates from the columns and words of their scope."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...core.where import Where
from .. import Floats, Hints, Rows, Seqs, Traits
from ..turn_line import TurnLine
from .arrays import run_starts
from .columns import ColumnTable
from .filters import Mask, Resolve
from .postings import Postings


@dataclass(frozen=True, slots=True, kw_only=True)
class Portrait:
    """What does not depend on the question about candidates: one row per record unless noted.

    starts  the position of each record's first unit among the rows; None if every record has one unit
    rows    the first row of each record
    traits  without those that depend on the question
    """

    starts: Rows | None
    rows: Rows
    scope: NDArray[np.int32]
    seq: Seqs
    traits: Traits

    def best_units(self, scores: Floats) -> Floats:
        """Converts scores of rows to scores of records: the best unit of each counts."""
        if self.starts is None:
            return scores
        best: Floats = np.maximum.reduceat(scores, self.starts)
        return best


def portray(
    columns: ColumnTable,
    postings: Postings,
    rows: Rows,
    turn: NDArray[np.int32],
    *,
    is_kept: bool = False,
) -> Portrait:
    """Describes the records that the rows are units of; `turn` is indexed by row of the columns.

    With `is_kept`, for reuse by the next question, the turns are put in order, too.
    """
    starts = run_starts(columns.seq.take(rows))
    several = len(starts) < len(rows)
    if columns.records < columns.live:
        rows = rows[starts]
        rows = rows - columns.unit.take(rows)  # where each record begins
    arrays = columns.arrays  # longer than the number of rows, which does not matter here
    session, turns = arrays["session"].take(rows), turn.take(rows)
    who, flags = arrays["who"].take(rows), arrays["flags"].take(rows)
    length = _measure_lengths(columns, postings, rows)
    traits = Traits(
        importance=arrays["importance"].take(rows),
        occurred=arrays["occurred"].take(rows),
        session=session,
        turn=turns,
        who=who,
        kind=arrays["kind"].take(rows),
        flags=flags,
        length=length,
        days=_days_of(columns, rows),
        line=TurnLine(session, turns, who, flags, length) if is_kept else None,
    )
    return Portrait(
        starts=starts if several else None,
        rows=rows,
        scope=np.zeros(len(rows), np.int32),
        seq=arrays["seq"].take(rows),
        traits=traits,
    )


def describe_rows(
    columns: ColumnTable,
    postings: Postings,
    seen: Portrait,
    hints: Hints,
    *,
    voices: tuple[str, ...],
    aligned: Floats | None,
) -> Traits:
    """Returns the traits of a portrait and those by the hints; `aligned` has a row per record."""
    return replace(
        seen.traits,
        voices=voices,
        mentions=tuple([_find_mentions(columns, postings, seen.rows, name) for name in hints.names]),
        inside=_match_sessions(columns, seen.rows, hints.sessions) if hints.sessions else None,
        aligned=aligned,
    )


def _measure_lengths(columns: ColumnTable, postings: Postings, rows: Rows) -> Floats:
    """Returns the number of terms of the records that begin at the rows; infinite for several units."""
    lengths = postings.lengths.take(rows)
    if columns.records < columns.live:
        further = np.minimum(rows + 1, max(columns.count - 1, 0))
        lengths[columns.unit[further] > 0] = np.inf
    return lengths


def _days_of(columns: ColumnTable, rows: Rows) -> NDArray[np.int32]:
    """Returns the days of the rows, with positions among the rows; the rows ascend."""
    days = columns.days
    if not len(days) or not len(rows):
        return np.empty((0, 3), np.int32)
    places = np.full(columns.count, -1)
    places[rows] = np.arange(len(rows))
    at = places.take(days[:, 0])
    here = (at >= 0).nonzero()[0]
    found: NDArray[np.int32] = days.take(here, axis=0)
    found[:, 0] = at.take(here)
    return found


def _find_mentions(columns: ColumnTable, postings: Postings, rows: Rows, name: tuple[int, ...]) -> Mask:
    """Returns a mask of the records starting at the rows that have every term of a name in one unit."""
    if not name:
        return np.zeros(len(rows), np.bool_)
    terms = tuple(set(name))
    _, docs, _ = postings.lookup(terms)
    held = np.bincount(docs, minlength=columns.count) >= len(terms)
    if columns.records < columns.live:
        held[docs - columns.unit[docs]] |= held[docs]
    return held.take(rows)


def _match_sessions(columns: ColumnTable, rows: Rows, names: tuple[str, ...]) -> Mask:
    codes = columns.codes["session"]
    return np.isin(columns.session[rows], [codes[name] for name in names if name in codes])


# The rows that pass a filter are cached for the next question with the same filter.


@dataclass(slots=True)
class Passing:
    """The rows that pass; None if all do. `portrait` covers all of them, once made.

    `all_living` means that every living row passes.
    """

    keep: Mask | None
    rows: Rows | None
    count: int
    records: int
    all_living: bool
    portrait: Portrait | None = None

    def pick(self, best: Rows | None) -> Rows:
        """Returns the rows at these positions among those that passed; all of them for None."""
        if best is None:
            return np.arange(self.count) if self.rows is None else self.rows
        return best if self.rows is None else self.rows.take(best)


class LastPassing:
    """Caches the rows that passed the last filter, until rows change or one of them expires."""

    def __init__(self) -> None:
        self._passing: Passing | None = None
        self._where: Where | None = None
        self._since = self._until = 0.0

    def forget(self) -> None:
        self._passing = None

    def read(self, columns: ColumnTable, where: Where | None, now: float, resolve: Resolve) -> Passing:
        is_same = where is self._where or where == self._where
        if self._passing is not None and is_same and self._since <= now < self._until:
            return self._passing
        found = _select(columns, where, now, resolve)
        if where is None or not _asks_the_store(where):
            self._passing, self._where = found, where
            self._since, self._until = now, _next_expiry(columns, now)
        return found


def _select(columns: ColumnTable, where: Where | None, now: float, resolve: Resolve) -> Passing:
    keep = columns.select_passing(where, now, resolve)
    if keep is None:
        return Passing(None, None, columns.count, columns.records, all_living=True)
    rows = np.flatnonzero(keep)
    if len(rows) == columns.live:  # only living rows pass
        return Passing(keep, rows, columns.live, columns.records, all_living=True)
    records = int((columns.unit.take(rows) == 0).sum())
    return Passing(keep, rows, len(rows), records, all_living=False)


def _next_expiry(columns: ColumnTable, now: float) -> float:
    """Returns the time until which the set of live rows stays the same."""
    if not columns.mortal:
        return math.inf
    later = columns.expires[columns.expires > now]
    return float(later.min(initial=math.inf))


def _asks_the_store(where: Where) -> bool:
    """Returns whether any part of a filter needs the store because no column holds it."""
    if where.ids is not None or where.conditions:
        return True
    return any(map(_asks_the_store, (*where.every, *where.some, *where.never)))
