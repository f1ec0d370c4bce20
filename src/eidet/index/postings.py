"""Which rows hold a term and how often: a sorted base, an unsorted tail, BM25 over both.

Rows are only ever added at the end, so the tail's rows are all above the base's and a merge
never has to sort rows. A term is found by bisection in the base and by comparison in the tail.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from . import Floats
from .vectors import extended, grown

TAIL_ROWS: Final = 8192
K1: Final = 1.2
B: Final = 0.4

Terms = NDArray[np.uint32]
Docs = NDArray[np.int32]
Counts = NDArray[np.uint8]


class Postings:
    """Term occurrences of rows 0 to `count`; `lengths` holds the number of terms of each row."""

    def __init__(self) -> None:
        self.count = 0
        self.lengths: Floats = np.empty(0, np.float32)
        self.base_rows = 0
        self.base: tuple[Terms, Docs, Counts] = _nothing()
        self._tail: tuple[Terms, Docs, Counts] = _nothing()
        self._tail_size = 0

    def append(self, packed: Sequence[bytes]) -> None:
        """Adds a row for each; the layout is that of `eidet.text.pack`."""
        sizes = np.fromiter((len(blob) // 5 for blob in packed), np.intp, len(packed))
        terms = np.frombuffer(b"".join([b[: len(b) // 5 * 4] for b in packed]), np.uint32)
        counts = np.frombuffer(b"".join([b[len(b) // 5 * 4 :] for b in packed]), np.uint8)
        docs = np.repeat(np.arange(self.count, self.count + len(packed), dtype=np.int32), sizes)
        self._measure(docs, counts, len(packed))
        self._extend(terms, docs, counts)
        if self.count - self.base_rows > max(TAIL_ROWS, self.base_rows // 16):
            self.merge()

    def _measure(self, docs: Docs, counts: Counts, added: int) -> None:
        if self.count + added > len(self.lengths):
            self.lengths = extended(self.lengths, self.count, grown(len(self.lengths), self.count + added))
        lengths = np.bincount(docs - self.count, weights=counts, minlength=added)
        self.lengths[self.count : self.count + added] = lengths
        self.count += added

    def _extend(self, terms: Terms, docs: Docs, counts: Counts) -> None:
        size = self._tail_size + len(terms)
        if size > len(self._tail[0]):
            capacity = grown(len(self._tail[0]), size)
            t, d, c = self._tail
            self._tail = (
                extended(t, self._tail_size, capacity),
                extended(d, self._tail_size, capacity),
                extended(c, self._tail_size, capacity),
            )
        rows = slice(self._tail_size, size)
        self._tail[0][rows], self._tail[1][rows], self._tail[2][rows] = terms, docs, counts
        self._tail_size = size

    def merge(self) -> None:
        """Sorts the tail into the base: linear, because timsort sees two sorted runs."""
        if not self._tail_size:
            self.base_rows = self.count
            return
        t, d, c = self._used_tail()
        order = np.argsort(t, kind="stable")
        terms = np.concatenate((self.base[0], t[order]))
        docs = np.concatenate((self.base[1], d[order]))
        counts = np.concatenate((self.base[2], c[order]))
        order = np.argsort(terms, kind="stable")
        self.base = (terms[order], docs[order], counts[order])
        self.base_rows = self.count
        self._tail, self._tail_size = _nothing(), 0

    def lookup(self, terms: Sequence[int]) -> list[tuple[Docs, Counts]]:
        """For each term, the rows that hold it, rising, and how often each does."""
        keys = np.array(terms, np.uint32)
        sorted_terms, docs, counts = self.base
        first = np.searchsorted(sorted_terms, keys).tolist()
        last = np.searchsorted(sorted_terms, keys, side="right").tolist()
        found = [(docs[a:b], counts[a:b]) for a, b in zip(first, last, strict=True)]
        if self._tail_size:
            found = [_joined(old, new) for old, new in zip(found, self._in_tail(keys), strict=True)]
        return found

    def _in_tail(self, keys: Terms) -> Iterator[tuple[Docs, Counts]]:
        terms, docs, counts = self._used_tail()
        for key in keys:
            at = (terms == key).nonzero()[0]
            yield docs[at], counts[at]

    def _used_tail(self) -> tuple[Terms, Docs, Counts]:
        terms, docs, counts = self._tail
        return terms[: self._tail_size], docs[: self._tail_size], counts[: self._tail_size]

    def bm25(
        self,
        terms: Sequence[int],
        *,
        alive: NDArray[np.bool_] | None,
        live: int,
        total: float,
        only: NDArray[np.bool_] | None = None,
    ) -> Floats:
        """A score for every row; 0 for rows without any of the terms and for those not in `only`.

        `alive` marks the rows that count for the statistics, `live` how many there are and `total`
        how many terms they have together: exact per scope, so that a rebuilt index scores the same.
        """
        found = self.lookup(terms)
        if alive is not None:
            found = [_among(alive, docs, counts) for docs, counts in found]
        rarity = [math.log1p((live - len(docs) + 0.5) / (len(docs) + 0.5)) for docs, _ in found]
        if only is not None:
            found = [_among(only, docs, counts) for docs, counts in found]
        docs = np.concatenate([docs for docs, _ in found])
        counts = np.concatenate([counts for _, counts in found])
        weight = np.repeat(np.array(rarity, np.float32) * np.float32(K1 + 1), [len(d) for d, _ in found])
        mean = total / live if live and total else 1.0
        norm = self.lengths[docs]
        norm *= K1 * B / mean
        norm += K1 * (1 - B)
        norm += counts
        weight *= counts
        weight /= norm
        return np.bincount(docs, weight, self.count).astype(np.float32)

    def keep(self, rows: NDArray[np.bool_]) -> None:
        """Forgets the other rows and numbers those that stay anew."""
        self.merge()
        place = np.cumsum(rows, dtype=np.int32) - 1
        terms, docs, counts = self.base
        stay = rows[docs]
        self.base = (terms[stay], place[docs[stay]], counts[stay])
        self.lengths = self.lengths[: self.count][rows]
        self.count = self.base_rows = len(self.lengths)

    @property
    def nbytes(self) -> int:
        return self.lengths.nbytes + sum(a.nbytes for a in (*self.base, *self._tail))


def _among(rows: NDArray[np.bool_], docs: Docs, counts: Counts) -> tuple[Docs, Counts]:
    here = rows[docs]
    return docs[here], counts[here]


def _joined(old: tuple[Docs, Counts], new: tuple[Docs, Counts]) -> tuple[Docs, Counts]:
    if not len(old[0]):
        return new
    return np.concatenate((old[0], new[0])), np.concatenate((old[1], new[1]))


def _nothing() -> tuple[Terms, Docs, Counts]:
    return np.empty(0, np.uint32), np.empty(0, np.int32), np.empty(0, np.uint8)
