"""Which words each row has, with their vectors: how well the rows' words align with a question's.

Alignment is the weighted share of the question's terms that a row covers: a term it has counts 1, a
similar word counts by its cosine, from nothing at `FAR` to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count
from typing import Final

import numpy as np
import simsimd
from numpy.typing import NDArray

from ...text.thesaurus import Related
from .. import Floats, Rows
from .arrays import extend_array, grow_capacity
from .postings import Postings

FAR: Final = 0.2  # the cosine of words that have nothing to do with each other

NO_WORDS: Final[Related] = {}
NOTHING: Final[Mapping[int, Related]] = {}

Bytes = NDArray[np.int8]
Learn = Callable[[Sequence[int]], tuple[Bytes, Floats]]  # term ids -> their vectors and scales


class Forward:
    """Rows 0 to `count` as lists of words; words are numbered as they come."""

    def __init__(self, postings: Postings, learn: Learn) -> None:
        self._learn = learn
        terms, docs = postings.pairs()
        words, flat = np.unique(terms, return_inverse=True)
        named = words.tolist()
        self._number = dict(zip(named, count(), strict=False))
        self._vectors, self._scale = learn(named)
        self._flat = flat[np.argsort(docs, kind="stable")].astype(np.int32)
        self._ends = np.cumsum(np.bincount(docs, minlength=postings.count)).astype(np.int64)
        self.count, self._used = postings.count, len(self._flat)

    def append(self, units: Sequence[Sequence[int]]) -> None:
        """Rows of term ids behind the others."""
        fresh = [id for id in dict.fromkeys(chain.from_iterable(units)) if id not in self._number]
        if fresh:
            self._number.update(zip(fresh, count(len(self._number)), strict=False))
            vectors, scale = self._learn(fresh)
            self._vectors = np.concatenate((self._vectors, vectors))
            self._scale = np.concatenate((self._scale, scale))
        for unit in units:
            self._add([self._number[id] for id in unit])

    def _add(self, numbers: list[int]) -> None:
        end = self._used + len(numbers)
        if end > len(self._flat):
            self._flat = extend_array(self._flat, self._used, grow_capacity(len(self._flat), end))
        if self.count == len(self._ends):
            self._ends = extend_array(self._ends, self.count, grow_capacity(len(self._ends), self.count + 1))
        self._flat[self._used : end] = numbers
        self._ends[self.count] = end
        self._used, self.count = end, self.count + 1

    def align(
        self,
        terms: Sequence[int],
        vectors: Floats,
        weights: Floats,
        rows: Rows,
        related: Mapping[int, Related] = NOTHING,
    ) -> Floats:
        """For each row 0 to 1: the share of the terms' weight that its words cover."""
        ends = self._ends[rows]
        starts = np.where(rows > 0, self._ends[rows - 1], 0)
        some = ends > starts
        covered = np.zeros(len(rows), np.float32)
        if some.any() and weights.sum() > 0:
            words, begin = self._words(starts[some], ends[some], len(rows) == self.count)
            near, places = self._near_words(terms, vectors, words, related)
            best = np.maximum.reduceat(near.take(places, axis=1), begin, axis=1)
            covered[some] = (weights / weights.sum()) @ best
        return covered

    def _near_words(
        self,
        terms: Sequence[int],
        vectors: Floats,
        words: NDArray[np.int32],
        related: Mapping[int, Related],
    ) -> tuple[Floats, NDArray[np.int32]]:
        """How near the words are, and their places in that; only those that occur are looked at if few do."""
        held = np.zeros(len(self._scale), np.bool_)
        held[words] = True
        some = np.flatnonzero(held)
        if len(some) * 2 > len(held):
            return self._near(terms, vectors, None, related), words
        places = np.empty(len(held), np.int32)
        places[some] = np.arange(len(some), dtype=np.int32)
        return self._near(terms, vectors, some, related), places[words]

    def _words(
        self, starts: NDArray[np.int64], ends: NDArray[np.int64], all_rows: bool
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The words of rows that have some, one after the other, and where those of each begin."""
        if all_rows:
            return self._flat[: self._used], starts
        sizes = ends - starts
        begin = np.cumsum(sizes) - sizes
        return self._flat[np.arange(int(sizes.sum())) + np.repeat(starts - begin, sizes)], begin

    def _near(
        self, terms: Sequence[int], vectors: Floats, some: Rows | None, related: Mapping[int, Related]
    ) -> Floats:
        """How near each word (or some, by rising number) is to each term, 0 to 1; a row per term."""
        matrix = self._vectors if some is None else self._vectors[some]
        top = np.maximum(np.abs(vectors).max(axis=1), 1e-12)
        coarse = np.rint(vectors * (127 / top[:, None])).astype(np.int8)
        dots = simsimd.cdist(coarse, matrix, metric="dot", out_dtype="float32", threads=1)
        near: Floats = np.asarray(dots, np.float32).reshape(len(terms), -1)
        near *= self._scale if some is None else self._scale[some]
        near *= (top / 127)[:, None].astype(np.float32)
        near -= FAR
        near *= 1 / (1 - FAR)
        np.clip(near, 0, 1, out=near)
        self._raise_related(near, terms, related, some)
        for at, term in enumerate(terms):
            number = self._number.get(term)
            if number is not None and (place := _place(number, some)) is not None:
                near[at, place] = 1
        return near

    def _raise_related(
        self, near: Floats, terms: Sequence[int], related: Mapping[int, Related], some: Rows | None
    ) -> None:
        """Words that the thesaurus knows as related to a term are as near as it says, or nearer."""
        rows, numbers, values = [], [], []
        for at, term in enumerate(terms):
            words = related.get(term, NO_WORDS)
            for id in words.keys() & self._number.keys():
                rows.append(at)
                numbers.append(self._number[id])
                values.append(words[id])
        if not rows:
            return
        at_rows, places, told = np.array(rows), np.array(numbers), np.array(values, np.float32)
        if some is not None:
            found = np.minimum(np.searchsorted(some, places), len(some) - 1)
            here = some[found] == places
            at_rows, places, told = at_rows[here], found[here], told[here]
        near[at_rows, places] = np.maximum(near[at_rows, places], told)

    @property
    def nbytes(self) -> int:
        arrays = (self._vectors, self._scale, self._flat, self._ends)
        return sum(array.nbytes for array in arrays) + 100 * len(self._number)


def _place(number: int, some: Rows | None) -> int | None:
    """Where a word stands among some, which rise; None if it is none of them."""
    if some is None:
        return number
    at = int(np.searchsorted(some, number))
    return at if at < len(some) and some[at] == number else None
