"""The words of a scope with their vectors: how well the words of rows align with a question's.

Alignment is the weighted share of the question's terms that a row covers: a term it has counts 1, a
similar word counts by its cosine, from nothing at `FAR` to 1. Few words are similar to a term, one in a
hundred or so: they are looked up once for each term and kept, and the postings tell which rows have them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count
from typing import Final, NamedTuple, Protocol

import numpy as np
import simsimd
from numpy.typing import NDArray

from ...text.thesaurus import Related
from .. import Floats, Rows
from .arrays import distinct
from .postings import Postings, Terms

FAR: Final = 0.2  # the cosine of words that have nothing to do with each other
MOST_TERMS: Final = 2_000  # of questions, for which similar words are kept
KEPT_BYTES: Final = 1_000  # about, for each of them

NO_WORDS: Final[Related] = {}

Bytes = NDArray[np.int8]
Learn = Callable[[Sequence[int]], tuple[Bytes, Floats]]  # term ids -> their vectors and scales


class WordKnowledge(Protocol):
    """What is known of terms: their unit vectors, and the words that a thesaurus names with each."""

    @property
    def vectors(self) -> Callable[[Sequence[str]], Floats]: ...

    @property
    def related(self) -> Mapping[int, Related]: ...


class Similar(NamedTuple):
    """Words of a scope that are similar to a term, and how similar, rising; `known` words were compared."""

    words: Terms
    nearness: Floats
    known: int

    def merge(self, other: Similar) -> Similar:
        """Both, with the later one's `known`."""
        nearness = np.concatenate((self.nearness, other.nearness))
        order = np.argsort(nearness, kind="stable")
        return Similar(np.concatenate((self.words, other.words))[order], nearness[order], other.known)


NO_SIMILAR: Final = Similar(np.empty(0, np.uint32), np.empty(0, np.float32), 0)


class Vocabulary:
    """All words that the postings have; whoever adds rows to these tells their words here, too."""

    def __init__(self, postings: Postings, learn: Learn) -> None:
        self._postings, self._learn = postings, learn
        self._words: Terms = distinct(postings.pairs()[0])
        self._numbers = {id: number for number, id in enumerate(self._words.tolist())}
        self._vectors, self._scale = learn(self._words.tolist())
        self._similar: dict[str, Similar] = {}

    def append(self, units: Sequence[Sequence[int]]) -> None:
        """Learns the words of new rows, given by their ids."""
        fresh = [id for id in dict.fromkeys(chain.from_iterable(units)) if id not in self._numbers]
        if fresh:
            vectors, scale = self._learn(fresh)
            self._numbers.update(zip(fresh, count(len(self._words)), strict=False))
            self._words = np.concatenate((self._words, np.array(fresh, np.uint32)))
            self._vectors = np.concatenate((self._vectors, vectors))
            self._scale = np.concatenate((self._scale, scale))

    def align(
        self, terms: Sequence[int], spelt: Sequence[str], known: WordKnowledge, weights: Floats, rows: Rows
    ) -> Floats:
        """For each row 0 to 1: the share of the terms' weight that its words cover."""
        total = weights.sum()
        if not total > 0 or not len(rows):
            return np.zeros(len(rows), np.float32)
        best = self._cover(terms, self._list_similar(terms, spelt, known))
        if len(rows) < self._postings.count:
            best = best.take(rows, axis=1)
        shares: Floats = (weights / total) @ best
        return shares

    def _cover(self, terms: Sequence[int], similar: list[Similar]) -> Floats:
        """How near the nearest word of each row is to each term; a row per term."""
        sizes, words, nearness = [], [], []
        for term, near in zip(terms, similar, strict=True):
            words += [near.words, np.array([term], np.uint32)]  # the term itself comes last: it wins
            nearness += [near.nearness, _WHOLE]
            sizes.append(len(near.words) + 1)
        which, docs = self._postings.find_rows(np.concatenate(words))
        count = self._postings.count
        covered = np.zeros(len(terms) * count, np.float32)
        first = np.repeat(np.arange(len(terms)) * count, sizes)
        # of several words of a row, the nearest is written last
        covered[first.take(which) + docs] = np.concatenate(nearness).take(which)
        return covered.reshape(len(terms), count)

    def _list_similar(
        self, terms: Sequence[int], spelt: Sequence[str], known: WordKnowledge
    ) -> list[Similar]:
        there = len(self._words)
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
            at = fresh.nonzero()[0]
            found = Similar(self._words[one.known :].take(at), fresh.take(at), len(self._words))
            self._similar[term] = one.merge(found)

    def _raise_related(self, values: Floats, related: Related, start: int) -> None:
        """Words that the thesaurus names with a term are as near as it says, or nearer."""
        for id in related.keys() & self._numbers.keys():
            at = self._numbers[id] - start
            if at >= 0:
                values[at] = max(values[at], related[id])

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
        arrays = (self._vectors, self._scale, self._words)
        return (
            sum(array.nbytes for array in arrays) + 80 * len(self._numbers) + KEPT_BYTES * len(self._similar)
        )


_WHOLE: Final = np.ones(1, np.float32)
