"""Postings: the rows that contain a term and how often, in a sorted base and an unsorted tail, with BM25.

Rows are only added at the end, so the tail's rows all come after the base's and a merge never has to
sort rows. A term is found by bisection in the base and by comparison in the tail.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import Floats, Rows
from .arrays import make_room

TAIL_ROWS: Final = 8192
PATIENCE: Final = 64  # comparisons with the tail per stored term that justify a merge
_K1: Final = 1.2
B: Final = 0.4
PRIOR: Final = 100  # assumed further rows of a scope, so that new rows change rarity little

Terms = NDArray[np.uint32]
Docs = NDArray[np.int32]
Counts = NDArray[np.uint8]


class Bm25(NamedTuple):
    """The statistics of BM25 in a scope: each term's rarity and the average length of a row."""

    rarity: NDArray[np.float64]
    mean: float

    @classmethod
    def of_terms(cls, held: NDArray[np.intp], live: int, total: float) -> Bm25:
        """Computes them from the living rows: `held` counts those with each term, `total` all their terms."""
        rarity = np.log1p((PRIOR + live - held + 0.5) / (held + 0.5))
        return cls(rarity, total / live if live and total else 1.0)

    def score(self, which: NDArray[np.intp], lengths: Floats, counts: NDArray[Any]) -> Floats:
        """Scores each occurrence of a term; overwrites `lengths`."""
        norm = lengths
        norm *= _K1 * B / self.mean
        norm += _K1 * (1 - B)
        norm += counts
        weight: Floats = (self.rarity * (_K1 + 1)).astype(np.float32).take(which)
        weight *= counts
        weight /= norm
        return weight


class Postings:
    """Term occurrences of rows 0 to `count`; `lengths` holds the number of terms of each row."""

    def __init__(self) -> None:
        self.count: int = 0
        self.lengths: Floats = np.empty(0, np.float32)
        self.base_rows: int = 0
        self.base: tuple[Terms, Docs, Counts] = _nothing()
        self._tail: tuple[Terms, Docs, Counts] = _nothing()
        self._tail_size = 0
        self._compared = 0  # since the last merge: the sum of terms asked for times terms in the tail
        self._found: tuple[Sequence[int], tuple[Rows, Rows, Counts]] | None = None  # last lookup

    def append(self, packed: Sequence[bytes]) -> None:
        """Adds a row for each blob, in the layout of `eidet.text.pack`."""
        sizes = np.fromiter((len(blob) // 5 for blob in packed), np.intp, len(packed))
        terms = np.frombuffer(b"".join([b[: len(b) // 5 * 4] for b in packed]), np.uint32)
        counts = np.frombuffer(b"".join([b[len(b) // 5 * 4 :] for b in packed]), np.uint8)
        docs = np.repeat(np.arange(self.count, self.count + len(packed), dtype=np.int32), sizes)
        self._found = None
        self.lengths = make_room(self.lengths, self.count, self.count + len(packed))
        lengths = np.bincount(docs - self.count, weights=counts, minlength=len(packed))
        self.lengths[self.count : self.count + len(packed)] = lengths
        self.count += len(packed)
        self._extend(terms, docs, counts)
        if self.count - self.base_rows > max(TAIL_ROWS, self.base_rows // 16):
            self.merge()

    def _extend(self, terms: Terms, docs: Docs, counts: Counts) -> None:
        size = self._tail_size + len(terms)
        t, d, c = self._tail
        t, d = make_room(t, self._tail_size, size), make_room(d, self._tail_size, size)
        c = make_room(c, self._tail_size, size)
        rows = slice(self._tail_size, size)
        t[rows], d[rows], c[rows] = terms, docs, counts
        self._tail, self._tail_size = (t, d, c), size

    def merge(self) -> None:
        """Sorts the tail into the base: linear, because timsort sees two sorted runs."""
        self._compared = 0
        if not self._tail_size:
            self.base_rows = self.count
            return
        t, d, c = self._cut_tail()
        order = np.argsort(t, kind="stable")
        terms = np.concatenate((self.base[0], t[order]))
        docs = np.concatenate((self.base[1], d[order]))
        counts = np.concatenate((self.base[2], c[order]))
        order = np.argsort(terms, kind="stable")
        self.base = (terms[order], docs[order], counts[order])
        self.base_rows = self.count
        self._tail, self._tail_size = _nothing(), 0

    def pairs(self) -> tuple[Terms, Docs]:
        """Returns every term of every row, and the rows."""
        tail = self._cut_tail()
        return np.concatenate((self.base[0], tail[0])), np.concatenate((self.base[1], tail[1]))

    def lookup(self, terms: Sequence[int]) -> tuple[Rows, Rows, Counts]:
        """Returns the occurrences of the terms: position in `terms`, row and count.

        They are ordered by term and then by row, first those of the base and then those of the tail.
        """
        if self._found is None or self._found[0] != terms:
            self._note_compared(len(terms) * self._tail_size)
            self._found = terms, self._look_up(np.array(terms, np.uint32))
        return self._found[1]

    def _look_up(self, keys: Terms) -> tuple[Rows, Rows, Counts]:
        if not self._tail_size:
            return self._in_base(keys)
        which, docs, counts = self._in_tail(keys)
        if not self.base_rows:
            return which, docs, counts
        base = self._in_base(keys)
        return (
            np.concatenate((base[0], which)),
            np.concatenate((base[1], docs)),
            np.concatenate((base[2], counts)),
        )

    def _note_compared(self, times: int) -> None:
        """Counts comparisons with the tail, and merges it once they have cost as much as a merge."""
        self._compared += times * (self._tail_size > 0)
        if self._compared > PATIENCE * (len(self.base[0]) + self._tail_size):
            self.merge()

    def _in_base(self, keys: Terms) -> tuple[Rows, Rows, Counts]:
        terms, docs, counts = self.base
        first, last = terms.searchsorted(keys), terms.searchsorted(keys, side="right")
        runs = [slice(a, b) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
        return (
            np.arange(len(keys)).repeat(last - first),
            np.concatenate([docs[run] for run in runs], dtype=np.intp),
            np.concatenate([counts[run] for run in runs]),
        )

    def _in_tail(self, keys: Terms) -> tuple[Rows, Rows, Counts]:
        terms, docs, counts = self._cut_tail()
        flat = (terms == keys[:, None]).ravel().nonzero()[0]  # much faster than in two dimensions
        which, at = np.divmod(flat, max(self._tail_size, 1))
        return which, docs[at].astype(np.intp), counts[at]

    def _cut_tail(self) -> tuple[Terms, Docs, Counts]:
        terms, docs, counts = self._tail
        return terms[: self._tail_size], docs[: self._tail_size], counts[: self._tail_size]

    def bm25(
        self,
        terms: Sequence[int],
        *,
        alive: NDArray[np.bool_] | None = None,
        live: int = 0,
        total: float = 0.0,
        only: NDArray[np.bool_] | None = None,
        scale: Bm25 | None = None,
    ) -> tuple[Floats, Floats]:
        """Returns a score for every row, 0 without a term or outside `only`, and each term's rarity.

        `alive` marks the rows that count for the statistics, `live` is their number and `total` the number
        of their terms: exact per scope, so that a rebuilt index scores the same. A `scale` of several scopes
        replaces these statistics.
        """
        which, docs, counts = self.lookup(terms)
        if alive is not None:
            which, docs, counts = _among(alive, which, docs, counts)
        scale = scale or Bm25.of_terms(np.bincount(which, minlength=len(terms)), live, total)
        if only is not None:
            which, docs, counts = _among(only, which, docs, counts)
        weight = scale.score(which, self.lengths.take(docs), counts)
        return np.bincount(docs, weight, self.count).astype(np.float32), scale.rarity.astype(np.float32)

    def count_rows(self, terms: Sequence[int], alive: NDArray[np.bool_] | None) -> NDArray[np.intp]:
        """Counts the rows that contain each term, among all or those `alive`."""
        which, docs, _ = self.lookup(terms)
        return np.bincount(which if alive is None else which[alive[docs]], minlength=len(terms))

    def keep(self, rows: NDArray[np.bool_]) -> None:
        """Drops all other rows and renumbers the rest."""
        self.merge()
        self._found = None
        place = np.cumsum(rows, dtype=np.int32) - 1
        terms, docs, counts = self.base
        stay = rows[docs]
        self.base = (terms[stay], place[docs[stay]], counts[stay])
        self.lengths = self.lengths[: self.count][rows]
        self.count = self.base_rows = len(self.lengths)

    @property
    def nbytes(self) -> int:
        return self.lengths.nbytes + sum(a.nbytes for a in (*self.base, *self._tail))


def _among(rows: NDArray[np.bool_], which: Rows, docs: Rows, counts: Counts) -> tuple[Rows, Rows, Counts]:
    here = rows[docs]
    return which[here], docs[here], counts[here]


def _nothing() -> tuple[Terms, Docs, Counts]:
    return np.empty(0, np.uint32), np.empty(0, np.int32), np.empty(0, np.uint8)
