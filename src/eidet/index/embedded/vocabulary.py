"""The words of a scope with their vectors: how well the words of rows align with a question's.

Alignment is the weighted share of the question's terms that a row covers: a term it has counts 1, a
similar word counts by its cosine, from nothing at `FAR` to 1. Few words are similar to a term: they are
looked up once for each term and kept. Only the rows that may be answered are read for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, chain, count, pairwise, repeat
from typing import Final, NamedTuple, Protocol

import numpy as np
import simsimd
from numpy.typing import NDArray

from ...text.word_forms import Related
from .. import Floats, Rows
from .arrays import distinct
from .filters import Mask
from .postings import Postings, Terms
from .row_words import Numbers, RowWords

FAR: Final = 0.2  # the cosine of words that have nothing to do with each other
MOST_TERMS: Final = 2_000  # of questions, for which similar words are kept
KEPT_BYTES: Final = 1_500  # about, for each of them

NO_WORDS: Final[Related] = {}

Bytes = NDArray[np.int8]
Learn = Callable[[Terms], tuple[Bytes, Floats]]  # term ids -> their vectors and scales


class WordKnowledge(Protocol):
    """What is known of terms: their unit vectors, and the other forms of each."""

    @property
    def vectors(self) -> Callable[[Sequence[str]], Floats]: ...

    @property
    def related(self) -> Mapping[int, Related]: ...


class Similar(NamedTuple):
    """Numbers of words that are similar to a term, and how similar; `known` words were compared."""

    numbers: Numbers
    nearness: Floats
    known: int

    def merge(self, other: Similar) -> Similar:
        """Both, with the later one's `known`."""
        if not self.known:
            return other
        numbers = np.concatenate((self.numbers, other.numbers))
        return Similar(numbers, np.concatenate((self.nearness, other.nearness)), other.known)


NO_SIMILAR: Final = Similar(np.empty(0, np.intp), np.empty(0, np.float32), 0)


class Vocabulary:
    """All words that the postings have; whoever adds rows to these tells their words here, too.

    Words are numbered from 1. The vector of a word stands at its number less one.
    """

    def __init__(self, postings: Postings, learn: Learn) -> None:
        self._learn = learn
        terms, docs = postings.pairs()
        self._words: Terms = distinct(terms)
        self._later: dict[int, int] = {}  # numbers of words that came after those
        self._rows = RowWords(self._words.searchsorted(terms) + 1, docs, postings.count)
        self._vectors, self._scale = learn(self._words)
        self._similar: dict[str, Similar] = {}

    def append(self, units: Sequence[Sequence[int]]) -> None:
        """Learns the words of new rows, given by their ids."""
        ids = np.fromiter(chain.from_iterable(units), np.uint32)
        numbers = self._find_numbers(ids)
        unknown = ids[numbers == 0]
        if len(unknown):
            fresh = list(dict.fromkeys(unknown.tolist()))
            vectors, scale = self._learn(np.array(fresh, np.uint32))
            self._later.update(zip(fresh, count(self._count + 1), strict=False))
            self._vectors = np.concatenate((self._vectors, vectors))
            self._scale = np.concatenate((self._scale, scale))
            numbers[numbers == 0] = self._find_numbers(unknown)
        for start, end in pairwise(accumulate(map(len, units), initial=0)):
            self._rows.append(numbers[start:end])

    @property
    def _count(self) -> int:
        return len(self._words) + len(self._later)

    def _find_numbers(self, ids: Terms) -> Numbers:
        """The number of each word; 0 for one that no row has."""
        if not len(self._words):
            return np.fromiter(map(self._later.get, ids.tolist(), repeat(0)), np.intp, len(ids))
        at = self._words.searchsorted(ids)
        numbers = np.where(self._words.take(at, mode="clip") == ids, at + 1, 0)
        if self._later:
            absent = (numbers == 0).nonzero()[0]
            numbers[absent] = list(map(self._later.get, ids.take(absent).tolist(), repeat(0)))
        return numbers

    def align(
        self, terms: Sequence[int], spelt: Sequence[str], known: WordKnowledge, weights: Floats, rows: Rows
    ) -> Floats:
        """For each row 0 to 1: the share of the terms' weight that its words cover. The rows rise."""
        total = weights.sum()
        if not total > 0 or not len(rows):
            return np.zeros(len(rows), np.float32)
        nearness, is_near = self._spread(terms, self._list_similar(terms, spelt, known))
        shares: Floats = (weights / total) @ self._rows.find_best(nearness, is_near, rows)
        return shares

    def _spread(self, terms: Sequence[int], similar: list[Similar]) -> tuple[Floats, Mask]:
        """How near each word is to each term, a row per term, a column per number; which are near to any."""
        nearness = np.zeros((len(terms), self._count + 1), np.float32)
        is_near = np.zeros(self._count + 1, np.bool_)
        owns = self._find_numbers(np.array(terms, np.uint32))
        is_near[np.concatenate([near.numbers for near in similar])] = True
        for row, own, near in zip(nearness, owns.tolist(), similar, strict=True):
            row[near.numbers] = near.nearness
            if own:
                row[own] = 1.0
                is_near[own] = True
        return nearness, is_near

    def _list_similar(
        self, terms: Sequence[int], spelt: Sequence[str], known: WordKnowledge
    ) -> list[Similar]:
        there = self._count
        if len(self._similar) > MOST_TERMS:
            self._similar = {}
        lacking = [term for term in spelt if self._similar.get(term, NO_SIMILAR).known < there]
        if lacking:
            self._compare(lacking, dict(zip(spelt, terms, strict=True)), known)
        return [self._similar[term] for term in spelt]

    def _compare(self, lacking: list[str], spelt: Mapping[str, int], known: WordKnowledge) -> None:
        """Compares terms with the words that were not there when they were last asked for."""
        met = [self._similar.get(term, NO_SIMILAR) for term in lacking]
        start = min(one.known for one in met)
        near = self._measure_nearness(known.vectors(lacking), start)
        for term, one, values in zip(lacking, met, near, strict=True):
            self._raise_related(values, known.related.get(spelt[term], NO_WORDS), start)
            fresh = values[one.known - start :]
            at = (fresh > 0).nonzero()[0]  # of floats it would be slow
            numbers = at + (one.known + 1)
            found = Similar(numbers, fresh.take(at), self._count)
            self._similar[term] = one.merge(found)

    def _raise_related(self, values: Floats, related: Related, start: int) -> None:
        """Other forms of a term are as near as is said of them, or nearer."""
        numbers = self._find_numbers(np.fromiter(related, np.uint32, len(related)))
        for number, near in zip(numbers.tolist(), related.values(), strict=True):
            at = number - 1 - start
            if number and at >= 0:
                values[at] = max(values[at], near)

    def _measure_nearness(self, vectors: Floats, start: int) -> Floats:
        """How near each word from a number on is to each term, 0 to 1; a row per term."""
        matrix, scale = self._vectors[start:], self._scale[start:]
        top = np.maximum(np.abs(vectors).max(axis=1), 1e-12)
        coarse = np.rint(vectors * (127 / top[:, None])).astype(np.int8)
        dots = simsimd.cdist(coarse, matrix, metric="dot", out_dtype="float32", threads=1)
        near: Floats = np.asarray(dots, np.float32).reshape(len(vectors), -1)
        near *= scale
        near *= (top / 127)[:, None].astype(np.float32)
        near -= FAR
        near *= 1 / (1 - FAR)
        np.maximum(near, 0, out=near)
        np.minimum(near, 1, out=near)
        return near

    @property
    def nbytes(self) -> int:
        arrays = self._vectors.nbytes + self._scale.nbytes + self._rows.nbytes
        return arrays + self._words.nbytes + 80 * len(self._later) + KEPT_BYTES * len(self._similar)
