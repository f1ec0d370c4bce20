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
from .arrays import distinct, expand_runs, extend_array, grow_capacity
from .filters import Mask
from .postings import Docs, Postings, Terms

NOBODY: Final = 0  # the number of no word: it fills up the last block of a row
BLOCK: Final = 16  # words; some rows are read by their blocks, which is quicker than word by word

Numbers = NDArray[np.intp]  # to be looked up by: narrower ones are widened each time, at twice the cost


class RowWords:
    """Numbers of words in blocks, row after row; each row has one block at least. Rows are only added."""

    def __init__(self, numbers: Numbers, docs: Docs, count: int) -> None:
        """Builds it from pairs of a word's number and its row, for `count` rows."""
        sizes = np.bincount(docs, minlength=count)
        taken = np.maximum(1, -(-sizes // BLOCK))
        self._count = count
        self._owners: Rows | None = None
        self._ends: Rows = np.cumsum(taken)
        self._blocks: Numbers = np.full((self._size, BLOCK), NOBODY, np.intp)
        if (docs[1:] < docs[:-1]).any():
            numbers = numbers[np.argsort(docs)]
        shift = (self._ends - taken) * BLOCK - (np.cumsum(sizes) - sizes)
        self._blocks.reshape(-1)[np.arange(len(docs)) + np.repeat(shift, sizes)] = numbers

    @property
    def _size(self) -> int:
        """Returns the size in blocks."""
        return int(self._ends[self._count - 1]) if self._count else 0

    def append(self, numbers: Sequence[int] | Numbers) -> None:
        """Adds a row, given by the numbers of its words."""
        at, size = self._size, len(numbers)
        end = at + max(1, -(-size // BLOCK))
        self._reserve(end, self._count + 1)
        row = self._blocks[at:end].reshape(-1)
        row[:size] = numbers
        row[size:] = NOBODY
        self._ends[self._count] = end
        self._count += 1
        self._owners = None

    def _reserve(self, size: int, count: int) -> None:
        if size > len(self._blocks):
            self._blocks = extend_array(self._blocks, self._size, grow_capacity(len(self._blocks), size))
        if count > len(self._ends):
            self._ends = extend_array(self._ends, self._count, grow_capacity(len(self._ends), count))

    def find_best(self, values: Floats, worth: Mask, rows: Rows) -> Floats:
        """The highest value that any word of each row has; `values` has a row per term, a column per number.

        No value is below 0. Of numbers that are not `worth` anything, as `NOBODY`, all are 0. Rows rise.
        """
        blocks, owners = self._read(rows)
        numbers = blocks.reshape(-1)
        at: Rows = worth.take(numbers).nonzero()[0]
        best = np.zeros((len(values), len(rows)), np.float32)
        places = owners.take(at // BLOCK) + len(rows) * np.arange(len(values))[:, None]
        np.maximum.at(  # a reduction run by run takes three times as long, as most rows have one word
            best.reshape(-1), places.reshape(-1), values.take(numbers.take(at), axis=1).reshape(-1)
        )
        return best

    def _read(self, rows: Rows) -> tuple[Numbers, Rows]:
        """The blocks of some rows, and the place of its row among them for each block."""
        if len(rows) == self._count:
            return self._blocks[: self._size], self._list_owners()
        first = self._ends.take(rows - 1)
        first[rows == 0] = 0
        sizes, at = expand_runs(first, self._ends.take(rows))
        return self._blocks.take(at, axis=0), np.arange(len(rows)).repeat(sizes)

    def _list_owners(self) -> Rows:
        """The row of each block; kept until rows are added."""
        if self._owners is None:
            ends = self._ends[: self._count]
            sizes = ends.copy()
            sizes[1:] -= ends[:-1]
            self._owners = np.arange(self._count).repeat(sizes)
        return self._owners

    @property
    def nbytes(self) -> int:
        return self._blocks.nbytes + self._ends.nbytes + 8 * self._size


FAR: Final = 0.2  # the cosine of words that have nothing to do with each other
MOST_TERMS: Final = 2_000  # of questions, for which similar words are kept
KEPT_BYTES: Final = 1_500  # about, for each of them

_NO_WORDS: Final[Related] = {}

Bytes = NDArray[np.int8]
Learn = Callable[[Terms], tuple[Bytes, Floats]]  # term ids -> their vectors and scales


class _WordKnowledge(Protocol):
    """What is known of terms: their unit vectors, and the other forms of each."""

    @property
    def vectors(self) -> Callable[[Sequence[str]], Floats]: ...

    @property
    def related(self) -> Mapping[int, Related]: ...


class _Similar(NamedTuple):
    """Numbers of words that are similar to a term, and how similar; `known` words were compared."""

    numbers: Numbers
    nearness: Floats
    known: int

    def merge(self, other: _Similar) -> _Similar:
        """Merges both, keeping the later one's `known`."""
        if not self.known:
            return other
        numbers = np.concatenate((self.numbers, other.numbers))
        return _Similar(numbers, np.concatenate((self.nearness, other.nearness)), other.known)


_NO_SIMILAR: Final = _Similar(np.empty(0, np.intp), np.empty(0, np.float32), 0)


class Vocabulary:
    """All words of the postings. Code that adds rows to those adds their words here, too.

    Words are numbered from 1. The vector of a word stands at its number less one.
    """

    def __init__(self, postings: Postings, learn: Learn) -> None:
        self._learn = learn
        terms, docs = postings.pairs()
        self._words: Terms = distinct(terms)
        self._later: dict[int, int] = {}  # numbers of words that came after those
        self._rows = RowWords(self._words.searchsorted(terms) + 1, docs, postings.count)
        self._vectors, self._scale = learn(self._words)
        self._similar: dict[str, _Similar] = {}

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
        self, terms: Sequence[int], spelt: Sequence[str], known: _WordKnowledge, weights: Floats, rows: Rows
    ) -> Floats:
        """Scores each row from 0 to 1: the share of the terms' weight that its words cover. Rows ascend."""
        total = weights.sum()
        if not total > 0 or not len(rows):
            return np.zeros(len(rows), np.float32)
        nearness, is_near = self._spread(terms, self._list_similar(terms, spelt, known))
        shares: Floats = (weights / total) @ self._rows.find_best(nearness, is_near, rows)
        return shares

    def _spread(self, terms: Sequence[int], similar: list[_Similar]) -> tuple[Floats, Mask]:
        """Computes how near each word is to each term (a row per term), and which words are near any."""
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
        self, terms: Sequence[int], spelt: Sequence[str], known: _WordKnowledge
    ) -> list[_Similar]:
        there = self._count
        if len(self._similar) > MOST_TERMS:
            self._similar = {}
        lacking = [term for term in spelt if self._similar.get(term, _NO_SIMILAR).known < there]
        if lacking:
            self._compare(lacking, dict(zip(spelt, terms, strict=True)), known)
        return [self._similar[term] for term in spelt]

    def _compare(self, lacking: list[str], spelt: Mapping[str, int], known: _WordKnowledge) -> None:
        """Compares terms with the words that were not there when they were last asked for."""
        met = [self._similar.get(term, _NO_SIMILAR) for term in lacking]
        start = min(one.known for one in met)
        near = self._measure_nearness(known.vectors(lacking), start)
        for term, one, values in zip(lacking, met, near, strict=True):
            self._raise_related(values, known.related.get(spelt[term], _NO_WORDS), start)
            fresh = values[one.known - start :]
            at = (fresh > 0).nonzero()[0]  # of floats it would be slow
            numbers = at + (one.known + 1)
            found = _Similar(numbers, fresh.take(at), self._count)
            self._similar[term] = one.merge(found)

    def _raise_related(self, values: Floats, related: Related, start: int) -> None:
        """Raises other forms of a term to at least their stated nearness."""
        numbers = self._find_numbers(np.fromiter(related, np.uint32, len(related)))
        for number, near in zip(numbers.tolist(), related.values(), strict=True):
            at = number - 1 - start
            if number and at >= 0:
                values[at] = max(values[at], near)

    def _measure_nearness(self, vectors: Floats, start: int) -> Floats:
        """Computes from 0 to 1 how near each word from `start` on is to each term; a row per term."""
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
