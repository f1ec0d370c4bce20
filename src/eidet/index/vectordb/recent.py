"""A scope in RAM without most of its vectors: those of its newest rows are here, the rest is elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import Floats, Rows
from ..embedded.shard import Shard, top
from ..embedded.vectors import Vectors
from . import UNIT_BITS, Match

Keys = NDArray[np.int64]
_turns = count()


class Chosen(NamedTuple):
    """Records by seq, and how many units they have in the database."""

    seqs: NDArray[np.int64]
    rows: int

    @classmethod
    def of(cls, seqs: NDArray[np.int64]) -> Chosen:
        """Those of rising units, so that each is taken once without sorting them."""
        return cls(seqs[np.append(True, seqs[1:] != seqs[:-1])], len(seqs))


@dataclass(frozen=True, slots=True)
class Known:
    """Cosines that a database told, by rising key; `low` stands for what it did not tell of."""

    keys: Keys
    scores: Floats
    low: float

    @classmethod
    def of(cls, matches: Sequence[Match], low: float | None = None) -> Known:
        """Without `low`, the lowest of the matches."""
        keys = np.array([match.key for match in matches], np.int64)
        scores = np.array([match.score for match in matches], np.float32)
        keys, first = np.unique(keys, return_index=True)
        lowest = float(scores.min(initial=1.0)) if len(scores) else 0.0
        return cls(keys, scores[first], lowest if low is None else min(low, lowest))

    def look_up(self, wanted: Keys) -> tuple[Floats, NDArray[np.bool_]]:
        """A score for each key, and whether it was told."""
        if not len(self.keys):
            return np.full(len(wanted), self.low, np.float32), np.zeros(len(wanted), np.bool_)
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        told = self.keys[at] == wanted
        return np.where(told, self.scores[at], np.float32(self.low)).astype(np.float32), told


NOTHING_KNOWN = Known(np.empty(0, np.int64), np.empty(0, np.float32), 0.0)


class Tail(Vectors):
    """Vectors of the rows from `base` on; of those before, only whether there is one."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.base = 0
        self.has = np.empty(0, np.bool_)
        self._here = Vectors(width)

    def append(self, blobs: Sequence[bytes | None]) -> None:
        start = self._here.count
        self._here.append(blobs)
        self.has = np.concatenate((self.has, self._here.scale[start : self._here.count] > 0))
        self.count = self.base + self._here.count

    def reserve(self, count: int) -> None:
        """Room is made as rows come: most of them will not stay."""

    def scan(self, query: Floats, rows: Rows | None) -> Floats:
        return self._here.scan(query, rows if rows is None else rows - self.base)

    def exact(self, query: Floats, rows: Rows) -> Floats:
        return self._here.exact(query, rows - self.base)

    def keep(self, rows: NDArray[np.bool_]) -> None:
        self._here.keep(rows[self.base :])
        self.has = self.has[rows]
        self.base = int(rows[: self.base].sum())
        self.count = self.base + self._here.count

    def release(self, base: int) -> None:
        """The rows before `base` are elsewhere now."""
        if base > self.base:
            stay = np.ones(self._here.count, np.bool_)
            stay[: base - self.base] = False
            self._here.keep(stay)
            self.base = base

    @property
    def nbytes(self) -> int:
        return self._here.nbytes + self.has.nbytes


class LeanShard(Shard):
    """A scope whose older vectors are in a database. `known` is what that told, while it is searched."""

    vectors: Tail

    def __init__(self, scope: str, width: int) -> None:
        super().__init__(scope, width)
        self.vectors = Tail(width)
        self.known = NOTHING_KNOWN
        self.departed = 0  # rows of the database that are gone
        self.turn = next(_turns)  # another one whenever vectors have left
        self.loaded = False  # whether what the store told first was compared with the database
        self._lacking: Rows = np.empty(0, np.intp)

    @property
    def base(self) -> int:
        return self.vectors.base

    @property
    def vectors_here(self) -> int:
        """Those of living rows, here in RAM."""
        return int(self._living()[self.base :].sum())

    @property
    def vectors_elsewhere(self) -> int:
        return int(self._living()[: self.base].sum())

    def _living(self) -> Any:
        """Which rows have a vector and live; also told while another thread adds some."""
        has, alive = self.vectors.has, self.alive
        rows = min(len(has), len(alive))
        return has[:rows] & alive[:rows]

    def release(self, seq: int) -> None:
        """What was stored up to `seq` is in the database."""
        base = int(np.searchsorted(self.seq, seq, side="right"))
        if base > self.base:
            self.vectors.release(base)
            self.turn = next(_turns)

    def keys(self, rows: Rows) -> Keys:
        return self.seq[rows] << UNIT_BITS | self.unit[rows].astype(np.int64)

    def elsewhere(self, rows: Rows | None) -> Rows:
        """Those of the rows (or of all) whose vectors are in the database."""
        if rows is None:
            return np.flatnonzero(self.vectors.has[: self.base])
        rows = rows[rows < self.base]
        return rows[self.vectors.has[rows]]

    @property
    def lacking(self) -> Chosen:
        """The candidates of the last search whose cosine nobody told."""
        seqs = np.unique(self.seq[self._lacking])
        return Chosen(seqs, len(self.elsewhere(self._rows_of(seqs))))

    def _mark_gone(self, seqs: NDArray[np.int64]) -> None:
        rows = self._rows_of(np.unique(seqs))
        rows = rows[self.alive[rows]]
        self.departed += len(self.elsewhere(rows))
        super()._mark_gone(seqs)

    def _scan(self, query: Floats | None, passed: Rows | None) -> Floats | None:
        if query is None or not self.count:
            return None
        base = self.base if passed is None else int(np.searchsorted(passed, self.base))
        scores = np.empty(self.count if passed is None else len(passed), np.float32)
        has = self.vectors.has[: self.base] if passed is None else self.vectors.has[passed[:base]]
        scores[:base] = np.where(has, np.float32(self.known.low), np.float32(0))
        at, told = self._known_rows(passed)
        scores[at] = told
        if len(scores) > base:
            scores[base:] = self.vectors.scan(query, None if passed is None else passed[base:])
        return scores

    def _known_rows(self, passed: Rows | None) -> tuple[Rows, Floats]:
        """Where the rows that the database told of are (among those that pass), and what it told."""
        seqs, units = self.known.keys >> UNIT_BITS, self.known.keys & ((1 << UNIT_BITS) - 1)
        rows = np.searchsorted(self.seq[: self.base], seqs) + units
        there = rows < self.base
        rows, told = rows[there], self.known.scores[there]
        there = (self.keys(rows) == self.known.keys[there]) & self.vectors.has[rows]
        rows, told = rows[there], told[there]
        if passed is None:
            return rows, told
        at = np.searchsorted(passed, rows)
        there = np.append(passed, -1)[at] == rows
        return at[there], told[there]

    def _sharpened(
        self, query: Floats | None, coarse: Floats | None, best: Rows, rows: Rows, count: int
    ) -> Floats:
        """What the database told is exact; of the rows that are here, the best are made so."""
        if query is None or coarse is None:
            return np.zeros(len(rows), np.float32)
        dense = coarse[best]
        far = self.elsewhere(rows)
        self._lacking = far[~self.known.look_up(self.keys(far))[1]]
        near = top(dense, count)
        near = near[rows[near] >= self.base]
        dense[near] = self.vectors.exact(query, rows[near])
        return dense
