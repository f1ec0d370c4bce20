"""The vector arm of a scope in a database: the vectors of the newest rows; the database has the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...store import Entry
from .. import Floats, Rows, Seqs
from ..embedded.shard import Shard
from ..embedded.vectors import VectorPlanes
from ..fill import read_rows
from . import Point, key_of


class RecentVectors(VectorPlanes):
    """The vectors of the rows from `base` on; for earlier rows, only whether they have one.

    `departed` counts deleted rows that the database still has; `compared` says whether the first load from
    the store was compared with the database.
    """

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.base: int = 0
        self.has: NDArray[np.bool_] = np.empty(0, np.bool_)
        self.departed: int = 0
        self.compared = False

    def append(self, blobs: Sequence[bytes | None]) -> None:
        start = self.count
        super().append(blobs)
        self.has = np.concatenate((self.has, self.scale[start : self.count] > 0))

    def score(self, query: Floats, rows: Rows, depth: int) -> Floats:
        """Returns the cosines of rows from `base` on; those of the best `depth` are exact."""
        return self.sharpen(query, self.scan(query, rows - self.base), rows - self.base, depth)

    def mark_gone(self, rows: Rows) -> None:
        rows = rows[rows < self.base]
        self.departed += int(self.has[rows].sum())

    def keep(self, rows: NDArray[np.bool_]) -> None:
        super().keep(rows[self.base :])
        self.has = self.has[rows]
        self.base = int(rows[: self.base].sum())

    def release(self, base: int) -> None:
        """Releases the vectors of the rows before `base`, which are in the database now."""
        if base > self.base:
            super().keep(np.arange(self.base, self.base + self.count) >= base)
            self.base = base

    def count_living(self, alive: NDArray[np.bool_]) -> tuple[int, int]:
        """Counts vectors of living rows in RAM and in the database; safe while another thread adds rows."""
        rows = min(len(self.has), len(alive))
        living = self.has[:rows] & alive[:rows]
        return int(living[self.base :].sum()), int(living[: self.base].sum())

    @property
    def nbytes(self) -> int:
        return super().nbytes + self.has.nbytes


RecentShard = Shard[RecentVectors]


class KnownScores:
    """Scores the rows of a shard by cosines that are known by seq.

    Records of the database that it did not return score `low`. After a search, `unknown` lists those among
    the candidates whose cosines are not known.
    """

    def __init__(self, shard: RecentShard, known: Mapping[int, float], low: float) -> None:
        self._shard, self._low = shard, np.float32(low)
        self._seqs: Seqs = np.array(sorted(known), np.int64)
        self._scores = np.array([known[seq] for seq in self._seqs.tolist()], np.float32)
        self.unknown: Seqs = np.empty(0, np.int64)

    def scan(self, query: Floats, rows: Rows | None) -> Floats:
        del query
        at, known, has = self._find(slice(None) if rows is None else rows)
        scores = np.append(self._scores, np.float32(0))[at]
        return np.where(known, scores, np.where(has, self._low, np.float32(0)))

    def sharpen(self, query: Floats, scores: Floats, rows: Rows, count: int) -> Floats:
        del query, count
        _, known, has = self._find(rows)
        self.unknown = np.unique(self._shard.columns.seq[rows[has & ~known]])
        return scores

    def _find(self, rows: Rows | slice) -> tuple[Rows, NDArray[np.bool_], NDArray[np.bool_]]:
        """Returns each row's position among the known, whether it is known, and whether it has a vector."""
        seqs = self._shard.columns.seq[rows]
        at = np.searchsorted(self._seqs, seqs)
        return at, np.append(self._seqs, -1)[at] == seqs, self._shard.vectors.has[rows]


def list_points(entries: Sequence[Entry], width: int) -> Iterator[Point]:
    """Yields the points of entries; leaves out damaged vectors and those without direction."""
    shard = read_rows(entries, width)
    seqs, units = shard.columns.seq.tolist(), shard.columns.unit.tolist()
    vectors = shard.vectors.read(slice(0, shard.count))
    for row in np.flatnonzero(shard.vectors.scale[: shard.count] > 0).tolist():
        yield Point(key_of(seqs[row], units[row]), vectors[row])
