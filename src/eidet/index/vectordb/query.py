"""What a database is asked for one search, so that what passes a filter is found though it cannot tell it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .. import Floats, Probe
from ..embedded.vectors import unit
from . import UNIT_BITS, Database, FiltersSlowly, Match, VectorShelf
from .pushdown import EVERYTHING, Filter, Pushed
from .recent import SeqSet

SLACK: Final = 16  # matches beyond those wanted: some may be gone since
COMMON: Final = 4  # of so many records one passes, or more


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseQuery:
    """What the database is asked for a scope: the scores of these seqs, or the nearest under a filter."""

    all: SeqSet  # that pass and are there
    held: int  # units of the whole shelf
    pushed: Pushed

    @property
    def only(self) -> Filter:
        """The filter for the database; none where everything passes: that is less work."""
        return EVERYTHING if self.all.rows == self.held else self.pushed.only

    @property
    def common(self) -> bool:
        """Whether so many pass that those which do are found without a filter."""
        return self.all.rows * COMMON >= self.held

    def passing(self, found: list[Match]) -> NDArray[np.bool_]:
        """Which of the matches are of records that pass."""
        seqs, rising = _seqs(found), self.all.seqs
        passing: NDArray[np.bool_] = rising[np.searchsorted(rising[:-1], seqs)] == seqs
        return passing


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks one database. Up to `whole` that pass are all scored."""

    database: Database
    whole: int

    def count_all(self, probe: Probe) -> int:
        """So many that pass are all asked for."""
        return max(self.whole, probe.depth)

    def count_missing(self, found: list[Match], question: DatabaseQuery, probe: Probe) -> int:
        """How many matches there should be more; a few may escape a search that is not exhaustive."""
        wanted = question.all.rows if question.all.rows <= self.count_all(probe) else probe.depth
        if wanted == probe.depth and not question.pushed.exact:
            return 0
        missing = wanted - int(question.passing(found).sum())
        return missing if missing > wanted // 20 else 0

    def find_nearest(
        self, shelf: VectorShelf, probe: Probe, question: DatabaseQuery
    ) -> tuple[list[Match], float | None]:
        """Matches, and the lowest score of all where they are not all."""
        query = query_of(probe)
        if question.all.rows <= self.count_all(probe):
            limit = question.all.rows + SLACK
            if question.all.rows == question.held and limit <= self.database.most:
                found = self.database.near(shelf, query, limit, only=EVERYTHING)
                if len(found) < limit or int(question.passing(found).sum()) >= question.all.rows:
                    return found, None  # else others have sent more since, which came first
            return self.score_records(shelf, query, question.all), None
        return self._find_best(shelf, query, probe.depth, question), self._find_lowest(shelf, query, question)

    def _find_lowest(self, shelf: VectorShelf, query: Floats, question: DatabaseQuery) -> float | None:
        """The score of what is farthest of all that passes, if it is among the farthest at all."""
        only = EVERYTHING if question.common else question.only  # some are among the farthest of all
        far = self.database.near(shelf, -query, SLACK, only=only)
        passing = question.passing(far).tolist()
        return min((-match.score for match, passes in zip(far, passing, strict=True) if passes), default=None)

    def _find_best(
        self, shelf: VectorShelf, query: Floats, depth: int, question: DatabaseQuery
    ) -> list[Match]:
        """The best that pass; more are asked for as long as too few of them do."""
        limit, most, only = depth + SLACK, self.database.most, question.only
        if not question.pushed.exact and question.all.rows * most < depth * question.held:
            return self.score_records(shelf, query, question.all)
        if only != EVERYTHING and question.common and isinstance(self.database, FiltersSlowly):
            limit, only = depth * question.held * 5 // question.all.rows // 4 + SLACK, EVERYTHING
        while True:
            found = self.database.near(shelf, query, min(limit, most), only=only)
            passing = question.passing(found).sum()
            if passing >= depth or len(found) < limit or limit >= most:
                return found
            limit *= 2

    def score_records(self, shelf: VectorShelf, query: Floats, chosen: SeqSet) -> list[Match]:
        """The scores of these records, page by page."""
        most, each = self.database.most, -(-chosen.rows // max(len(chosen.seqs), 1))
        page = max(1, most // max(each, 1) // 2)
        found: list[Match] = []
        for start in range(0, len(chosen.seqs), page):
            seqs = chosen.seqs[start : start + page].tolist()
            limit = min(most, max(chosen.rows, len(seqs)))
            found += self.database.near(shelf, query, limit, only=EVERYTHING, among=seqs)
        return found


def query_of(probe: Probe) -> Floats:
    assert probe.vector is not None
    return unit(probe.vector)


def _seqs(found: list[Match]) -> NDArray[np.int64]:
    return np.array([match.key for match in found], np.int64) >> UNIT_BITS
