"""Vectors of words, so that "instrument" in a question meets "violin" in a record.

A term's vector depends on the term alone: that of the word the embedder knows whole, if it has this
stem, else the embedding of the stem. So every process and every rebuilt index aligns the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from importlib.util import find_spec
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ...models.embed import NumberedEmbedder, WordEmbedder, reads_sentences
from ...models.embed.wordllama import WordLlama
from ...text import Analyzer, term_id, unpack
from ...text.word_forms import Related, list_related
from .. import Floats
from .postings import Terms
from .term_places import TermPlaces
from .vectors import VectorPlanes
from .word_table import WordTable, read_table

MOST: Final = 100_000  # words kept, for all scopes together: some 50 MB

Spell = Callable[[Sequence[int]], dict[int, str]]  # term ids -> the terms, as far as they are found


class WordReader(NamedTuple):
    """A lexicon for one scope, whose texts tell how its terms are spelt."""

    learn: Callable[[Terms], tuple[NDArray[np.int8], Floats]]
    vectors: Callable[[Sequence[str]], Floats]
    related: Mapping[int, Related]


class OwnWords(Protocol):
    """The words that an embedder knows whole, by the ids of their terms."""

    @property
    def related(self) -> Mapping[int, Related]: ...
    def find(self, ids: Sequence[int]) -> dict[int, bytes]:
        """The vectors of those of the ids that the embedder has a word for."""


class TabledWords:
    """Read from the table that comes with the package."""

    def __init__(self, embedder: NumberedEmbedder, table: WordTable) -> None:
        self._embedder, self._table = embedder, table
        self.related: Mapping[int, Related] = table.related

    def find(self, ids: Sequence[int]) -> dict[int, bytes]:
        numbers = self._table.find_numbers(ids)
        rows = np.asarray(self._embedder.read_words(list(numbers.values())), "<f4")
        return dict(zip(numbers, map(bytes, rows), strict=True))


class AnalysedWords:
    """Every word of the embedder goes through the analyzer, when the first is asked for."""

    def __init__(self, embedder: WordEmbedder, analyzer: Analyzer) -> None:
        self._embedder, self._analyzer = embedder, analyzer

    @property
    def related(self) -> Mapping[int, Related]:
        return list_related(self._analyzer)

    @cached_property
    def _vectors(self) -> dict[int, bytes]:
        words: dict[int, bytes] = {}
        for word, vector in self._embedder.vocabulary():
            for id in unpack(self._analyzer.pack_text(word)):
                words.setdefault(id, np.asarray(vector, "<f4").tobytes())
        return words

    def find(self, ids: Sequence[int]) -> dict[int, bytes]:
        known = self._vectors
        return {id: known[id] for id in ids if id in known}


def own_words(embedder: WordEmbedder, analyzer: Analyzer) -> OwnWords:
    """The embedder's own words; from the table where there is one for just this embedder and analyzer."""
    if isinstance(embedder, NumberedEmbedder):
        table = read_table(embedder, analyzer)
        if table is not None:
            return TabledWords(embedder, table)
    return AnalysedWords(embedder, analyzer)


class Lexicon:
    """Unit vectors by term id, in bytes; learns terms when asked. Safe from many threads."""

    def __init__(self, embedder: WordEmbedder, analyzer: Analyzer) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()
        self._own = own_words(embedder, analyzer)
        self._begin()

    def rows(self, ids: Terms, spell: Spell) -> tuple[NDArray[np.int8], Floats]:
        """Bytes and scales, one row per term; zeros for a term that nobody can spell."""
        with self._lock:
            if len(self._places) > MOST:
                self._begin()
            rows = self._places.find(ids)
            at = (rows == 0).nonzero()[0]
            if len(at):
                unknown = ids.take(at)
                self._learn(unknown.tolist(), spell)
                rows[at] = self._places.find(unknown)
            return self._vectors.high.take(rows, axis=0), self._vectors.scale.take(rows)

    def reader(self, spell: Spell) -> WordReader:
        return WordReader(partial(self.rows, spell=spell), self.vectors, self._own.related)

    def vectors(self, terms: Sequence[str]) -> Floats:
        """The unit vectors of the terms of a question, one row each."""
        spelt = {term_id(term): term for term in terms}
        ids = np.fromiter(map(term_id, terms), np.uint32, len(terms))
        high, scale = self.rows(ids, lambda ids: {id: spelt[id] for id in ids})
        vectors = high * scale[:, None]
        vectors[[_has_digit(term) for term in terms]] = 0.0  # 4821 is not nearly 4812: only the same counts
        return vectors

    def _begin(self) -> None:
        """No words; the first row is for terms that are not known."""
        self._places = TermPlaces()
        self._vectors = VectorPlanes(self._embedder.width)
        self._vectors.append([None])

    def _learn(self, ids: Sequence[int], spell: Spell) -> None:
        """A word that the embedder knows whole has its vector; others are embedded as they are spelt."""
        own = self._own.find(ids)
        self._add(list(own), list(own.values()))
        rest = [id for id in ids if id not in own]
        if rest and (spelt := spell(rest)):
            made = np.asarray(self._embedder.embed(list(spelt.values())), "<f4")
            self._add(list(spelt), [row.tobytes() for row in made])

    def _add(self, ids: list[int], vectors: list[bytes]) -> None:
        self._vectors.append(vectors)
        self._places.add(ids)


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
