"""Vectors of words, so that "instrument" in a question meets "violin" in a record.

A term's vector depends on the term alone: that of the word the embedder knows whole, if it has this
stem, else the embedding of the stem. So every process and every rebuilt index aligns the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Final, NamedTuple

import numpy as np
import simsimd
from numpy.typing import NDArray

from ...models.embed import WordEmbedder, reads_sentences
from ...models.embed.wordllama import WordLlama
from ...text import Analyzer, term_id
from ...text.words import Related, list_related
from .. import Floats
from .filters import Mask
from .postings import Terms
from .vectors import VectorPlanes, normalise

MOST: Final = 40_000  # words of a table, before the next scope gets another one: some 20 MB
NOBODY: Final = 0  # the number of no word
FAR: Final = 0.2  # the cosine of words that have nothing to do with each other
MOST_TERMS: Final = 2_000  # of questions, for which a table keeps similar words

Numbers = NDArray[np.intp]  # to be looked up by: narrower ones are widened each time, at twice the cost
_Spell = Callable[[Sequence[int]], dict[int, str]]  # term ids -> the terms, as far as they are found
_NO_WORDS: Final[Related] = {}


class _Similar(NamedTuple):
    """Numbers of words that are similar to a term, and how similar; those below `known` were compared."""

    numbers: Numbers
    nearness: Floats
    known: int


_NO_SIMILAR: Final = _Similar(np.empty(0, np.intp), np.empty(0, np.float32), 1)


class _Nearness(NamedTuple):
    """How near each word of a table is to each term (a row per term), and which words are near any."""

    values: Floats
    is_near: Mask


class Lexicon:
    """Vectors of words, by an embedder; and the table that scopes have their words in."""

    def __init__(self, embedder: WordEmbedder, analyzer: Analyzer) -> None:
        self._embedder, self._analyzer = embedder, analyzer
        self._table = WordTable(self)

    @cached_property
    def _own(self) -> dict[int, Floats]:
        """The vectors of words that the embedder knows whole, by the ids of their terms."""
        words: dict[int, Floats] = {}
        for word, vector in self._embedder.vocabulary():
            for term in self._analyzer.terms(word):
                words.setdefault(term_id(term), vector)
        return words

    @property
    def width(self) -> int:
        return self._embedder.width

    @property
    def related(self) -> Mapping[int, Related]:
        """Other forms of each term, and how near they are."""
        return list_related(self._analyzer)

    def reader(self, spell: _Spell) -> WordReader:
        """The words of one scope; its texts show how its terms are spelt."""
        if self._table.count > MOST:
            self._table = WordTable(self)
        return WordReader(self._table, spell)

    def embed(self, ids: Sequence[int], spell: _Spell) -> list[Floats | None]:
        """The vectors of words that the embedder knows whole, else of their terms; None if not spelt."""
        unknown = [id for id in ids if id not in self._own]
        spelt = spell(unknown) if unknown else {}
        made = self._embedder.embed(list(spelt.values())) if spelt else ()
        vectors = dict(zip(spelt, made, strict=True))
        return [self._own.get(id, vectors.get(id)) for id in ids]


class WordTable:
    """Words by number, from 1, with their unit vectors in bytes. Only grows. Safe from many threads."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._lock = threading.Lock()
        self._numbers: dict[int, int] = {}
        self._vectors = VectorPlanes(lexicon.width)
        self._vectors.append([None])  # of nobody
        self._similar: dict[str, _Similar] = {}
        self._last: tuple[tuple[str, ...], _Nearness] | None = None

    @property
    def count(self) -> int:
        return self._vectors.count

    def number(self, ids: Terms, spell: _Spell) -> Numbers:
        """Learns what is new. A word that nobody can spell is similar to none."""
        wanted = ids.tolist()
        with self._lock:
            fresh = [id for id in dict.fromkeys(wanted) if id not in self._numbers]
            if fresh:
                first, vectors = self.count, self._lexicon.embed(fresh, spell)
                self._vectors.append([None if one is None else _to_bytes(one) for one in vectors])
                self._numbers.update(zip(fresh, range(first, self.count), strict=True))
            return np.fromiter(map(self._numbers.__getitem__, wanted), np.intp, len(wanted))

    def compare(self, terms: Sequence[int], spelt: Sequence[str]) -> _Nearness:
        """A term is near to itself, and to words by their cosine from `FAR` on."""
        asked = tuple(spelt)
        with self._lock:
            if self._last is None or self._last[0] != asked or len(self._last[1].is_near) != self.count:
                self._last = asked, self._spread(terms, self._list_similar(terms, spelt))
            return self._last[1]

    def _spread(self, terms: Sequence[int], similar: list[_Similar]) -> _Nearness:
        values, is_near = np.zeros((len(terms), self.count), np.float32), np.zeros(self.count, np.bool_)
        is_near[np.concatenate([near.numbers for near in similar])] = True
        for row, term, near in zip(values, terms, similar, strict=True):
            row[near.numbers] = near.nearness
            if own := self._numbers.get(term):
                row[own] = 1.0
                is_near[own] = True
        return _Nearness(values, is_near)

    def _list_similar(self, terms: Sequence[int], spelt: Sequence[str]) -> list[_Similar]:
        if len(self._similar) > MOST_TERMS:
            self._similar = {}
        lacking = [term for term in spelt if self._similar.get(term, _NO_SIMILAR).known < self.count]
        if lacking:
            self._look_for_similar(lacking, dict(zip(spelt, terms, strict=True)))
        return [self._similar.get(term, _NO_SIMILAR) for term in spelt]

    def _look_for_similar(self, lacking: list[str], ids: Mapping[str, int]) -> None:
        """Compares terms with the words that were not there when they were last asked for."""
        met = [self._similar.get(term, _NO_SIMILAR) for term in lacking]
        start = min(one.known for one in met)
        near = self._measure_nearness(self._embed_terms([ids[term] for term in lacking], lacking), start)
        for term, one, values in zip(lacking, met, near, strict=True):
            self._raise_related(values, self._lexicon.related.get(ids[term], _NO_WORDS), start)
            fresh = values[one.known - start :]
            at = (fresh > 0).nonzero()[0]  # of floats it would be slow
            self._similar[term] = _Similar(
                np.concatenate((one.numbers, at + one.known)),
                np.concatenate((one.nearness, fresh.take(at))),
                self.count,
            )

    def _embed_terms(self, ids: Sequence[int], terms: Sequence[str]) -> Floats:
        spelt = dict(zip(ids, terms, strict=True))
        vectors = self._lexicon.embed(ids, lambda unknown: {id: spelt[id] for id in unknown})
        rows = normalise(np.array(vectors, np.float32).reshape(-1, self._lexicon.width))
        rows[[_has_digit(term) for term in terms]] = 0.0  # 4821 is not nearly 4812: only the same counts
        return rows

    def _raise_related(self, values: Floats, related: Related, start: int) -> None:
        """Raises other forms of a term to at least their stated nearness."""
        for id, near in related.items():
            at = self._numbers.get(id, NOBODY) - start
            if at >= 0:
                values[at] = max(values[at], near)

    def _measure_nearness(self, vectors: Floats, start: int) -> Floats:
        """Computes from 0 to 1 how near each word from `start` on is to each term; a row per term."""
        matrix, scale = self._vectors.high[start : self.count], self._vectors.scale[start : self.count]
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


class WordReader(NamedTuple):
    """A table of words for one scope, whose texts show how its terms are spelt."""

    table: WordTable
    spell: _Spell

    def number(self, ids: Terms) -> Numbers:
        return self.table.number(ids, self.spell)


def _to_bytes(vector: Floats) -> bytes:
    return np.asarray(vector, "<f4").tobytes()


def _has_digit(term: str) -> bool:
    return any(letter.isdigit() for letter in term)


def make_lexicon(embedder: object, analyzer: Analyzer | None) -> Lexicon | None:
    """A lexicon, where the embedder knows the vectors of words or, as it reads sentences, borrows some."""
    if analyzer is None:
        return None
    if isinstance(embedder, WordEmbedder):
        return Lexicon(embedder, analyzer)
    if reads_sentences(embedder) and find_spec("wordllama") is not None:
        return Lexicon(WordLlama(), analyzer)
    return None
