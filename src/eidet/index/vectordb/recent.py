"""The vector arm of a scope in a database: vectors of the newest rows are here, the rest is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import Floats, Rows, Seqs
from ..embedded.arrays import run_starts, top
from ..embedded.columns import ColumnTable
from ..embedded.shard import Shard
from ..embedded.vectors import VectorPlanes
from . import UNIT_BITS, Match

Keys = NDArray[np.int64]
_turns = count()


class SeqSet(NamedTuple):
    """Records by rising seq, and how many units they have in the database."""

    seqs: Seqs
    rows: int

    @classmethod
    def of_rows(cls, seqs: Seqs) -> SeqSet:
        """The records of units, whose seqs rise, so that each is taken once without sorting them."""
        return cls(seqs[run_starts(seqs)], len(seqs))


@dataclass(frozen=True, slots=True)
class ToldScores:
    """Cosines that a database told, by rising key; `low` stands for what it did not tell of."""

    keys: Keys
    scores: Floats
    low: float

    @classmethod
    def of_matches(cls, matches: Sequence[Match], low: float | None = None) -> ToldScores:
        """Without `low`, the lowest of the matches."""
        keys = np.array([match.key for match in matches], np.int64)
        scores = np.array([match.score for match in matches], np.float32)
        keys, first = np.unique(keys, return_index=True)
        lowest = float(scores.min(initial=1.0)) if len(scores) else 0.0
        return cls(keys, scores[first], lowest if low is None else min(low, lowest))

    def join(self, matches: Sequence[Match]) -> ToldScores:
        """With what was told since, which counts for more."""
        more = ToldScores.of_matches(matches, self.low)
        keys, first = np.unique(np.concatenate((more.keys, self.keys)), return_index=True)
        return ToldScores(keys, np.concatenate((more.scores, self.scores))[first], self.low)

    def find_told(self, wanted: Keys) -> NDArray[np.bool_]:
        """For each key whether it was told."""
        if not len(self.keys):
            return np.zeros(len(wanted), np.bool_)
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        found: NDArray[np.bool_] = self.keys[at] == wanted
        return found


NOTHING_TOLD = ToldScores(np.empty(0, np.int64), np.empty(0, np.float32), 0.0)


class RecentVectors:
    """Vectors of the rows from `base` on; of those before, only whether there is one.

    `departed` counts rows of the database that are gone; `turn` is another number whenever vectors have
    left; `compared` says whether what the store told first was compared with the database.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.base: int = 0
        self.has: NDArray[np.bool_] = np.empty(0, np.bool_)
        self.departed: int = 0
        self.turn: int = next(_turns)
        self.compared = False
        self._here = VectorPlanes(width)

    def append(self, blobs: Sequence[bytes | None]) -> None:
        start = self._here.count
        self._here.append(blobs)
        self.has = np.concatenate((self.has, self._here.scale[start : self._here.count] > 0))

    def reserve(self, count: int) -> None:
        """Room is made as rows come: most of them will not stay."""

    def scan(self, query: Floats, rows: Rows | None) -> Floats:
        """As if the database had told nothing."""
        scores = np.zeros(len(self.has) if rows is None else len(rows), np.float32)
        self.fill_scores(scores, query, rows)
        return scores

    def fill_scores(self, scores: Floats, query: Floats, rows: Rows | None) -> int:
        """Scores the rows that are here, which come last; how many come before."""
        before = self.base if rows is None else int(np.searchsorted(rows, self.base))
        if len(scores) > before:
            scores[before:] = self._here.scan(query, None if rows is None else rows[before:] - self.base)
        return before

    def sharpen(self, query: Floats, scores: Floats, rows: Rows, count: int) -> Floats:
        """What the database told is exact; of the rows that are here, the best are made so."""
        near = top(scores, count)
        near = near[rows[near] >= self.base]
        scores[near] = self._here.exact(query, rows[near] - self.base)
        return scores

    def mark_gone(self, rows: Rows) -> None:
        self.departed += len(self.list_elsewhere(rows))

    def keep(self, rows: NDArray[np.bool_]) -> None:
        self._here.keep(rows[self.base :])
        self.has = self.has[rows]
        self.base = int(rows[: self.base].sum())

    def release(self, base: int) -> None:
        """The rows before `base` are in the database now."""
        if base > self.base:
            stay = np.ones(self._here.count, np.bool_)
            stay[: base - self.base] = False
            self._here.keep(stay)
            self.base = base
            self.turn = next(_turns)

    def list_elsewhere(self, rows: Rows | None = None) -> Rows:
        """Those of the rows (or of all) whose vectors are in the database."""
        if rows is None:
            return np.flatnonzero(self.has[: self.base])
        rows = rows[rows < self.base]
        return rows[self.has[rows]]

    def count_living(self, alive: NDArray[np.bool_]) -> tuple[int, int]:
        """Vectors of living rows here in RAM, and in the database; also while another thread adds some."""
        rows = min(len(self.has), len(alive))
        living = self.has[:rows] & alive[:rows]
        return int(living[self.base :].sum()), int(living[: self.base].sum())

    @property
    def nbytes(self) -> int:
        return self._here.nbytes + self.has.nbytes


RecentShard = Shard[RecentVectors]


class DatabaseScorer:
    """Scores the rows of a shard by what a database told and by the vectors that are here.

    After a search, `lacking` names the candidates whose cosine nobody told.
    """

    def __init__(self, shard: RecentShard, told: ToldScores) -> None:
        self._columns, self._vectors, self._told = shard.columns, shard.vectors, told
        self._untold: Rows = np.empty(0, np.intp)

    def scan(self, query: Floats, rows: Rows | None) -> Floats:
        vectors = self._vectors
        scores = np.empty(self._columns.count if rows is None else len(rows), np.float32)
        before = vectors.fill_scores(scores, query, rows)
        has = vectors.has[: vectors.base] if rows is None else vectors.has[rows[:before]]
        scores[:before] = np.where(has, np.float32(self._told.low), np.float32(0))
        at, known = self._place_told(rows)
        scores[at] = known
        return scores

    def _place_told(self, passed: Rows | None) -> tuple[Rows, Floats]:
        """Where the rows that the database told of are (among those that pass), and what it told."""
        columns, vectors, scored = self._columns, self._vectors, self._told
        seqs, units = scored.keys >> UNIT_BITS, scored.keys & ((1 << UNIT_BITS) - 1)
        rows = np.searchsorted(columns.seq[: vectors.base], seqs) + units
        there = rows < vectors.base
        rows, scores = rows[there], scored.scores[there]
        there = (keys_of(columns, rows) == scored.keys[there]) & vectors.has[rows]
        rows, scores = rows[there], scores[there]
        if passed is None:
            return rows, scores
        at = np.searchsorted(passed, rows)
        there = np.append(passed, -1)[at] == rows
        return at[there], scores[there]

    def sharpen(self, query: Floats, scores: Floats, rows: Rows, count: int) -> Floats:
        far = self._vectors.list_elsewhere(rows)
        self._untold = far[~self._told.find_told(keys_of(self._columns, far))]
        return self._vectors.sharpen(query, scores, rows, count)

    @property
    def lacking(self) -> SeqSet:
        seqs = np.unique(self._columns.seq[self._untold])
        return SeqSet(seqs, len(self._vectors.list_elsewhere(self._columns.rows_of(seqs))))


def keys_of(columns: ColumnTable, rows: Rows) -> Keys:
    """The keys of rows in the database."""
    keys: Keys = columns.seq[rows] << UNIT_BITS | columns.unit[rows].astype(np.int64)
    return keys
