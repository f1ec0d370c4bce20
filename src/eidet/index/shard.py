"""One scope in RAM: columns to filter by, vectors and postings to score with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..model import Kind, Tier
from ..store import Changes, Entry, Head
from ..where import Where
from . import Floats, Found, Probe, Rows, Span
from .filters import mask
from .postings import Postings
from .vectors import Vectors, extended, grown, unit

Mask = NDArray[np.bool_]
Resolve = Callable[[Where], NDArray[np.int64]]

FLOATS: Final = ("occurred", "created", "step", "x", "y", "z", "importance", "expires")
LABELS: Final = ("agent", "session", "who", "source")
TYPES: Final[dict[str, Any]] = {
    "seq": np.int64,
    "kind": np.uint8,
    "tier": np.uint8,
    "alive": np.bool_,
    **dict.fromkeys(FLOATS, np.float64),
    **dict.fromkeys(LABELS, np.int32),
}
_KINDS: Final = {str(kind): code for code, kind in enumerate(Kind)}
_TIERS: Final = {str(tier): code for code, tier in enumerate(Tier)}
NONE: Final = -1
UNSEEN: Final = -2
DEAD_ROWS: Final = 1000  # so many may be marked before they are dropped; in large scopes, a quarter


class Shard:
    """The index of one scope. Rows are in order of seq; a row that is gone is only marked.

    Not safe by itself: whoever uses it holds a lock.
    """

    def __init__(self, scope: str, width: int) -> None:
        self.scope = scope
        self.head = Head(0, 0)
        self.count = 0
        self.live = 0
        self.total = 0.0  # terms in living rows
        self.mortal = False  # whether any row ever had an expiry
        self.columns: dict[str, NDArray[Any]] = {name: np.empty(0, kind) for name, kind in TYPES.items()}
        self.codes: dict[str, dict[str, int]] = {name: {} for name in LABELS}
        self.vectors = Vectors(width)
        self.postings = Postings()

    # What filters read: the columns up to `count`.

    def __len__(self) -> int:
        return self.count

    def __getattr__(self, name: str) -> NDArray[Any]:
        try:
            return self.__dict__["columns"][name][: self.__dict__["count"]]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(name) from None

    def code(self, column: str, label: str) -> int:
        return self.codes[column].get(label, UNSEEN)

    # Following the store.

    def apply(self, changes: Changes) -> None:
        if changes.gone:
            self._mark_gone(np.array(changes.gone, np.int64))
        if changes.entries:
            self._append(changes.entries)
        self.head = changes.head
        if self.count - self.live > max(DEAD_ROWS, self.count // 4):
            self.compact()

    def _mark_gone(self, seqs: NDArray[np.int64]) -> None:
        rows = distinct(np.searchsorted(self.seq, seqs))  # once each: not every seq need be one of ours
        rows = rows[rows < self.count]
        rows = rows[np.isin(self.seq[rows], seqs) & self.alive[rows]]
        self.alive[rows] = False
        self.live -= len(rows)
        self.total -= float(self.postings.lengths[rows].sum(dtype=np.float64))

    def _append(self, entries: Sequence[Entry]) -> None:
        added = len(entries)
        rows = slice(self.count, self.count + added)
        self._reserve(self.count + added)
        given = Entry(*zip(*entries, strict=True))  # type: ignore[arg-type]
        for name in FLOATS:
            self.columns[name][rows] = getattr(given, name)
        for name in LABELS:
            self.columns[name][rows] = self._encode(name, getattr(given, name))
        self.columns["seq"][rows] = given.seq
        self.columns["kind"][rows] = [_KINDS[kind] for kind in given.kind]
        self.columns["tier"][rows] = [_TIERS[tier] for tier in given.tier]
        self.columns["alive"][rows] = True
        expires = self.columns["expires"][rows]
        self.mortal = self.mortal or not np.isnan(expires).all()
        expires[np.isnan(expires)] = np.inf
        self.vectors.append(given.vector)  # type: ignore[arg-type]
        self.postings.append(given.terms)  # type: ignore[arg-type]
        self.count += added
        self.live += added
        self.total += float(self.postings.lengths[rows].sum(dtype=np.float64))

    def _encode(self, name: str, labels: Sequence[str | None]) -> list[int]:
        codes = self.codes[name]
        return [NONE if label is None else codes.setdefault(label, len(codes)) for label in labels]

    def reserve(self, count: int) -> None:
        """Makes room for so many rows in all."""
        self.vectors.reserve(count)
        self._reserve(count)

    def _reserve(self, count: int) -> None:
        capacity = len(self.columns["seq"])
        if count > capacity:
            capacity = grown(capacity, count)
            for name, column in self.columns.items():
                self.columns[name] = extended(column, self.count, capacity)

    def compact(self) -> None:
        """Drops the rows that are gone."""
        alive = self.alive.copy()
        for name in self.columns:
            self.columns[name] = self.columns[name][: self.count][alive]
        self.vectors.keep(alive)
        self.postings.keep(alive)
        self.count = self.live = int(alive.sum())

    def settle(self) -> None:
        """Brings everything into its final place, as a cache file wants it."""
        if self.live < self.count:
            self.compact()
        self.postings.merge()

    # Searching.

    def passing(self, where: Where | None, now: float, resolve: Resolve) -> Mask | None:
        """Which rows may be answered; None when all may."""
        keep = None if where is None else mask(where, self, resolve)
        if self.live < self.count:
            keep = self.alive.copy() if keep is None else np.logical_and(keep, self.alive)
        if self.mortal:
            fresh = self.expires > now
            keep = fresh if keep is None else np.logical_and(keep, fresh)
        return keep

    def search(self, probe: Probe, resolve: Resolve) -> Found:
        keep = self.passing(probe.where, probe.now, resolve)
        passed = None if keep is None else np.flatnonzero(keep)
        kept = self.count if passed is None else len(passed)
        query = None if probe.vector is None else unit(probe.vector)
        coarse = self._scan(query, passed)
        words = self._words(probe.terms, keep, passed)
        hits = None if words is None else words.nonzero()[0]  # most rows hold none of the words
        best = _candidates(coarse, words, hits, kept, probe.depth)
        rows = best if passed is None else passed[best]
        dense = self._sharpened(query, coarse, best, rows, probe.depth // 2)
        return Found(
            scopes=[self.scope],
            scope=np.zeros(len(rows), np.int32),
            seq=self.seq[rows],
            dense=dense,
            words=np.zeros(len(rows), np.float32) if words is None else words[best],
            importance=self.importance[rows],
            occurred=self.occurred[rows],
            spans={"dense": _dense_span(coarse, dense), "words": _words_span(words, hits)},
            searched=self.live,
            kept=kept,
        )

    def _scan(self, query: Floats | None, passed: Rows | None) -> Floats | None:
        """A score for each row that passed; picking rows out first pays when they are few."""
        if query is None or not self.count:
            return None
        if passed is None or len(passed) * 4 <= self.count:
            return self.vectors.scan(query, passed)
        return self.vectors.scan(query, None)[passed]

    def _sharpened(
        self, query: Floats | None, coarse: Floats | None, best: Rows, rows: Rows, count: int
    ) -> Floats:
        """The candidates' cosines: exact for the best `count`, as the scan gave them for the rest."""
        if query is None or coarse is None:
            return np.zeros(len(rows), np.float32)
        dense = coarse[best]
        near = top(dense, count)
        dense[near] = self.vectors.exact(query, rows[near])
        return dense

    def _words(self, terms: Sequence[int], keep: Mask | None, passed: Rows | None) -> Floats | None:
        if not terms or not self.count:
            return None
        alive = self.alive if self.live < self.count else None
        scores = self.postings.bm25(terms, alive=alive, live=self.live, total=self.total, only=keep)
        return scores if passed is None else scores[passed]

    @property
    def nbytes(self) -> int:
        columns = sum(column.nbytes for column in self.columns.values())
        labels = sum(len(label) + 100 for codes in self.codes.values() for label in codes)
        return columns + labels + self.vectors.nbytes + self.postings.nbytes


def _candidates(
    coarse: Floats | None, words: Floats | None, hits: Rows | None, kept: int, depth: int
) -> Rows:
    """The best `depth` of each arm, as rising positions in the arms' scores."""
    if kept <= depth:
        return np.arange(kept)
    best = [] if coarse is None else [top(coarse, depth)]
    if words is not None and hits is not None:
        best.append(hits[top(words[hits], depth)])
    return distinct(np.concatenate(best)) if best else np.arange(0)


def distinct(rows: Rows) -> Rows:
    """The rows rising, each once: `np.unique` without its detours, at a third of the cost."""
    rows = np.sort(rows)
    return rows[np.append(True, rows[1:] != rows[:-1])] if len(rows) else rows


def top(scores: Floats, depth: int) -> Rows:
    """The positions of the `depth` highest scores, in no order."""
    if len(scores) <= depth:
        return np.arange(len(scores))
    return np.argpartition(scores, -depth)[-depth:]


def _dense_span(scores: Floats | None, exact: Floats) -> Span:
    if scores is None or not len(scores):
        return Span()
    return Span(float(scores.min()), float((exact if len(exact) else scores).max()))


def _words_span(scores: Floats | None, hits: Rows | None) -> Span:
    if scores is None or hits is None or not len(hits):
        return Span()
    found = scores[hits]
    return Span(float(found.min()) if len(hits) == len(scores) else 0.0, float(found.max()))
