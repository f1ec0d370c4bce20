"""The vector arm of a scope in a database: the vectors of the newest rows; the database has the rest."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...core.errors import EidetError
from ...core.scope import Scope
from ...core.where import Where
from ...store import Changes, Entry, Head, Store, verbs
from .. import Floats, Rows, Seqs
from ..embedded.arrays import top
from ..embedded.shard import Shard
from ..embedded.vectors import VectorPlanes
from ..fill import Filler, read_rows
from . import Point, VectorSettings, key_of

log: logging.Logger = logging.getLogger("eidet.index")

_turns: Final = count()


class RecentVectors:
    """The vectors of the rows from `base` on; for earlier rows, only whether they have one.

    `departed` counts deleted rows that the database still has; `turn` changes whenever vectors were released;
    `compared` says whether the first load from the store was compared with the database.
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
        """Does nothing: room is made as rows are added, as most of them will be released."""

    def scan(self, query: Floats, rows: Rows | None) -> Floats:
        """Scans as if the database had returned nothing."""
        scores = np.zeros(len(self.has) if rows is None else len(rows), np.float32)
        before = self.base if rows is None else int(np.searchsorted(rows, self.base))
        if len(scores) > before:
            scores[before:] = self._here.scan(query, None if rows is None else rows[before:] - self.base)
        return scores

    def sharpen(self, query: Floats, scores: Floats, rows: Rows, count: int) -> Floats:
        """Makes the scores exact for those of the best rows that are in RAM, in place."""
        near = top(scores, count)
        near = near[rows[near] >= self.base]
        scores[near] = self._here.exact(query, rows[near] - self.base)
        return scores

    def mark_gone(self, rows: Rows) -> None:
        rows = rows[rows < self.base]
        self.departed += int(self.has[rows].sum())

    def keep(self, rows: NDArray[np.bool_]) -> None:
        self._here.keep(rows[self.base :])
        self.has = self.has[rows]
        self.base = int(rows[: self.base].sum())

    def release(self, base: int) -> None:
        """Releases the vectors of the rows before `base`, which are in the database now."""
        if base > self.base:
            stay = np.ones(self._here.count, np.bool_)
            stay[: base - self.base] = False
            self._here.keep(stay)
            self.base = base
            self.turn = next(_turns)

    def count_living(self, alive: NDArray[np.bool_]) -> tuple[int, int]:
        """Counts vectors of living rows in RAM and in the database; safe while another thread adds rows."""
        rows = min(len(self.has), len(alive))
        living = self.has[:rows] & alive[:rows]
        return int(living[self.base :].sum()), int(living[: self.base].sum())

    @property
    def nbytes(self) -> int:
        return self._here.nbytes + self.has.nbytes


RecentShard = Shard[RecentVectors]


class RecentKeeper:
    """Creates shards without the vectors that the database has. Saves no files."""

    def __init__(self, store: Store, width: int, filler: Filler[Point], settings: VectorSettings) -> None:
        self._store, self._width = store, width
        self._filler, self._settings = filler, settings

    def create(self, scope: str) -> RecentShard:
        return Shard(scope, RecentVectors(self._width))

    def load(self, shard: RecentShard, head: Head) -> RecentShard:
        """Sends a large scope to the database before loading it, as its vectors need not fit into RAM."""
        placed = self._filler.placement(shard.scope, head.epoch)
        most = self._settings.small + self._settings.tail_rows
        count = verbs.count(self._store, Where(scope=Scope(shard.scope)))
        if count > most and (placed is None or placed.epoch != head.epoch):
            try:
                self._filler.ship(shard.scope)
            except EidetError as error:
                log.warning("scope %s was not sent to its database: %s", shard.scope, error)
        return shard

    def apply(self, shard: RecentShard, changes: Changes) -> None:
        shard.apply(changes)
        self.release_sent(shard)

    def release_sent(self, shard: RecentShard) -> bool:
        """Releases the vectors that the database has; returns whether there were any."""
        before = shard.vectors.base
        sent = self._filler.usable(shard.scope, shard.head.epoch)
        shard.vectors.release(int(np.searchsorted(shard.columns.seq, sent, side="right")))
        return shard.vectors.base > before

    def is_worth_saving(self, rows: int) -> bool:
        del rows
        return False

    def save(self, shard: RecentShard) -> None:
        """Does nothing and is never called: there are no cache files."""


class DatabaseScorer:
    """Scores the rows of a shard by the database's cosines and by the vectors in RAM.

    `known` are cosines of records by seq; all other records of the database score no more than any of them,
    and no more than 0. After a search, `unknown` lists those among the candidates.
    """

    def __init__(self, shard: RecentShard, known: Mapping[int, float]) -> None:
        self._shard, self._low = shard, min([0.0, *known.values()])
        self._seqs: Seqs = np.array(sorted(known), np.int64)
        self._scores = np.array([known[seq] for seq in self._seqs.tolist()], np.float32)
        self.unknown: Seqs = np.empty(0, np.int64)

    def scan(self, query: Floats, rows: Rows | None) -> Floats:
        vectors, columns = self._shard.vectors, self._shard.columns
        scores = vectors.scan(query, rows)
        there = np.arange(columns.count) if rows is None else rows
        there = there[: np.searchsorted(there, vectors.base)]
        at, told = self._find(columns.seq[there])
        low = np.where(vectors.has[there], np.float32(self._low), np.float32(0))
        scores[: len(there)] = np.where(told, np.append(self._scores, np.float32(0))[at], low)
        return scores

    def sharpen(self, query: Floats, scores: Floats, rows: Rows, count: int) -> Floats:
        vectors, columns = self._shard.vectors, self._shard.columns
        there = rows[rows < vectors.base]
        seqs = columns.seq[there[vectors.has[there]]]
        self.unknown = np.unique(seqs[~self._find(seqs)[1]])
        return vectors.sharpen(query, scores, rows, count)

    def _find(self, seqs: Seqs) -> tuple[Rows, NDArray[np.bool_]]:
        """Returns the position of each seq among the known ones, and whether it is known."""
        at = np.searchsorted(self._seqs, seqs)
        return at, np.append(self._seqs, -1)[at] == seqs


def list_points(entries: Sequence[Entry], width: int) -> Iterator[Point]:
    """Yields the points of entries; leaves out damaged vectors and those without direction."""
    shard = read_rows(entries, width)
    seqs, units = shard.columns.seq.tolist(), shard.columns.unit.tolist()
    vectors = shard.vectors.read(slice(0, shard.count))
    for row in np.flatnonzero(shard.vectors.scale[: shard.count] > 0).tolist():
        yield Point(key_of(seqs[row], units[row]), vectors[row])
