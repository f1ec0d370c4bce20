"""A question to the server: how it is asked, and what the stages of a search hand on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from ...core.scope import Scope
from ...core.where import Where
from ...store.sql.postgres.record_search import estimate_passing, find_passing, select_living
from ...store.sql.postgres.searchable import SearchableDatabase, SqlCondition
from .. import Floats, Probe, Seqs
from ..embedded.arrays import run_starts
from ..embedded.vectors import unit
from .integrity import readable

Arm = tuple[Seqs, Floats]  # seqs that rise, and the score of each
NO_ARM: Final = (np.empty(0, np.int64), np.empty(0, np.float32))
T = TypeVar("T")

FEW: Final = 2_000  # so many are compared one by one …
PART: Final = 5  # … and so many times more, where a filter lets them pass: the graph would be walked far
MOSTLY: Final = 0.8  # of a scope
FILTERS: Final = 64  # that are remembered


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerQuery:
    """A question as the stages of a search hand it on."""

    probe: Probe
    query: Floats | None  # of length one
    condition: SqlCondition
    strict: bool  # what does not pass must not take the place of what does
    passing: Seqs | None  # all that pass, rising, where they are few or must be named

    @property
    def whole(self) -> bool:
        """Whether all that pass are candidates."""
        return self.passing is not None and len(self.passing) <= self.probe.depth


class Shortlist(NamedTuple):
    """Seqs of candidates; of those that are scored exactly; whose neighbours are candidates, too; whose
    sessions are read, so that their turns are known."""

    seqs: Seqs
    exact: Seqs
    leading: Seqs
    placed: Seqs


class QueryPlanner:
    """Plans questions to one scope: by name where few pass, along the graph where many do."""

    def __init__(self, store: SearchableDatabase, scope: str) -> None:
        self._store, self._scope = store, scope
        self._estimates: dict[str, int] = {}
        self._filters: dict[str, SqlCondition] = {}

    def plan(self, probe: Probe, records: int) -> ServerQuery:
        """`records` says how many the scope has."""
        condition = select_living(self._scope, probe.now)
        if probe.where is not None:
            told = _recall(self._filters, probe.where, partial(self._store.condition, probe.where))
            values = condition.values + told.values
            condition = SqlCondition(f"{condition.sql} AND ({told.sql})", values, told.exact)
        asked = ServerQuery(
            probe=probe,
            query=None if probe.vector is None else unit(probe.vector),
            condition=condition,
            strict=probe.where is not None,
            passing=None,
        )
        if not condition.exact:
            return replace(asked, passing=self._match(probe))
        if records > max(FEW, probe.depth) and self._passes_mostly(asked, records):
            return replace(asked, strict=False)
        most = max(self._count_named(asked, records), probe.depth)
        seqs = read_soundly(self._store.look, lambda c: find_passing(c, condition, most + 1))
        if len(seqs) > most:
            return asked
        return replace(asked, passing=np.array(sorted(seqs), np.int64))

    def estimate(self, asked: ServerQuery, records: int) -> int:
        """How many pass a filter, as the planner of the server judged when it was first asked for."""

        def ask() -> int:
            return read_soundly(self._store.look, lambda c: estimate_passing(c, asked.condition))

        return min(_recall(self._estimates, asked.probe.where, ask), records)

    def _match(self, probe: Probe) -> Seqs:
        every = () if probe.where is None else (probe.where,)
        where = Where(scope=Scope(self._scope), alive_at=probe.now, every=every)
        return np.array(self._store.match(where), np.int64)

    def _count_named(self, asked: ServerQuery, records: int) -> int:
        """How many are asked for by name, to see whether no more pass: few, where that is not likely."""
        likely = asked.probe.where is None or self.estimate(asked, records) <= 1.5 * FEW * PART
        return FEW * PART if likely else FEW

    def _passes_mostly(self, asked: ServerQuery, records: int) -> bool:
        """Whether a filter lets so much pass that it is enough to look at the candidates.

        So it is with the usual one, which leaves out what is in quarantine.
        """
        return asked.probe.where is None or self.estimate(asked, records) >= MOSTLY * records


def _recall(known: dict[str, T], where: Where | None, ask: Callable[[], T]) -> T:
    """What was learnt of a filter when it was first asked for; most questions ask for the same."""
    key = repr(where)
    if key not in known:
        if len(known) >= FILTERS:
            known.clear()
        known[key] = ask()
    return known[key]


def read_soundly(ask: Callable[[Callable[[Any], T]], T], job: Callable[[Any], T]) -> T:
    """Lets a store do a job on a connection; `Damaged` where the server cannot read the copy."""

    def run(connection: Any) -> T:
        with readable():
            return job(connection)

    return ask(run)


def merge_arms(one: Arm, other: Arm) -> Arm:
    """The best score of each record, by rising seq."""
    seqs, scores = np.concatenate((one[0], other[0])), np.concatenate((one[1], other[1]))
    order = np.lexsort((-scores, seqs))
    seqs, scores = seqs[order], scores[order]
    first = run_starts(seqs)
    return seqs[first], scores[first]


def scale_scores(scores: Floats) -> Floats:
    """0 to 1 over what is there."""
    low, high = float(scores.min(initial=0.0)), float(scores.max(initial=0.0))
    return (scores - low) / np.float32(high - low) if high > low else scores


def judge_lowest(sample: Floats, of: int) -> float:
    """The lowest score among `of` rows, judged by a sample: as far below the mean as for a normal law."""
    if not len(sample):
        return 0.0
    seen = float(sample.min())
    if of <= len(sample):
        return seen
    away = float(sample.std()) * float(np.sqrt(2 * np.log(of)))
    return max(-1.0, min(seen, float(sample.mean()) - away))
