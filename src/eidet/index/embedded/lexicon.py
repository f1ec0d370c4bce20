"""Vectors of words, so that "instrument" in a question meets "violin" in a record.

A term's vector depends on the term alone: that of the word the embedder knows whole, if it has this
stem, else the embedding of the stem. So every process and every rebuilt index aligns the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from importlib.util import find_spec
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...models.embed import WordEmbedder, reads_sentences
from ...models.embed.wordllama import WordLlama
from ...text import Analyzer, term_id
from ...text.word_forms import Related, list_related
from .. import Floats, Rows
from .postings import Terms
from .vectors import VectorPlanes

MOST: Final = 100_000  # words kept, for all scopes together: some 50 MB

_Spell = Callable[[Sequence[int]], dict[int, str]]  # term ids -> the terms, as far as they are found


class WordReader(NamedTuple):
    """A lexicon for one scope, whose texts show how its terms are spelt."""

    learn: Callable[[Terms], tuple[NDArray[np.int8], Floats]]
    vectors: Callable[[Sequence[str]], Floats]
    related: Mapping[int, Related]


class Lexicon:
    """Unit vectors by term id, in bytes; learns terms when asked. Safe from many threads."""

    def __init__(self, embedder: WordEmbedder, analyzer: Analyzer) -> None:
        self._embedder, self._analyzer = embedder, analyzer
        self._lock = threading.Lock()
        self._begin()

    @cached_property
    def _own(self) -> dict[int, Floats]:
        """The vectors of words that the embedder knows whole, by the ids of their terms."""
        words: dict[int, Floats] = {}
        for word, vector in self._embedder.vocabulary():
            for term in self._analyzer.terms(word):
                words.setdefault(term_id(term), vector)
        return words

    def rows(self, ids: Terms, spell: _Spell) -> tuple[NDArray[np.int8], Floats]:
        """Returns bytes and scales, one row per term; zeros for a term without a known spelling."""
        with self._lock:
            if len(self._places) > MOST:
                self._begin()
            rows = self._find_places(ids)
            at = (rows == 0).nonzero()[0]
            if len(at):
                unknown = ids.take(at)
                self._learn(unknown.tolist(), spell)
                rows[at] = self._find_places(unknown)
            return self._vectors.high.take(rows, axis=0), self._vectors.scale.take(rows)

    def reader(self, spell: _Spell) -> WordReader:
        return WordReader(partial(self.rows, spell=spell), self.vectors, list_related(self._analyzer))

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
        self._places: dict[int, int] = {}
        self._vectors = VectorPlanes(self._embedder.width)
        self._vectors.append([None])

    def _learn(self, ids: Sequence[int], spell: _Spell) -> None:
        """A word that the embedder knows whole has its vector; others are embedded as they are spelt."""
        own = {id: self._own[id] for id in ids if id in self._own}
        self._add(list(own), own.values())
        rest = [id for id in ids if id not in own]
        if rest and (spelt := spell(rest)):
            self._add(list(spelt), self._embedder.embed(list(spelt.values())))

    def _add(self, ids: list[int], vectors: Iterable[Floats]) -> None:
        first = self._vectors.count
        self._vectors.append([np.asarray(vector, "<f4").tobytes() for vector in vectors])
        self._places.update(zip(ids, range(first, first + len(ids)), strict=True))

    def _find_places(self, ids: Terms) -> Rows:
        """The row of each; 0 for one that is not known."""
        return np.fromiter((self._places.get(id, 0) for id in ids.tolist()), np.intp, len(ids))


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
