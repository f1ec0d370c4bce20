"""Aligns the words of questions and rows, so that "instrument" in a question meets "violin" in a record.

Alignment is the weighted share of the question's terms that a row covers: a term it has counts 1, a similar
word counts by the cosine of their vectors. Only the rows of candidates are read for it.

A term's vector depends on the term alone: it is that of a word in the embedder's vocabulary with this stem,
else the embedding of the stem. So every process and every rebuilt index aligns words the same way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from itertools import accumulate, chain, pairwise
from typing import Final, NamedTuple

import numpy as np
import simsimd
from numpy.typing import NDArray

from ...models.embed import WordEmbedder, reads_sentences
from ...models.embed.wordllama import WordLlama
from ...text import Analyzer, term_id
from ...text.words import Related, list_related
from .. import Floats, Rows
from .arrays import distinct, expand_runs, make_room
from .filters import Mask
from .postings import Docs, Postings, Terms
from .vectors import VectorPlanes, normalise

MOST: Final = 40_000  # words of a table, after which the next scope gets a new one: some 20 MB
_NOBODY: Final = 0  # the number that stands for no word
FAR: Final = 0.2  # the cosine of unrelated words
BLOCK: Final = 16  # words; reading rows by blocks is quicker than word by word
MOST_TERMS: Final = 2_000  # terms of questions for which a table keeps similar words

Numbers = NDArray[np.intp]  # indices: narrower ones are widened at each lookup, at twice the cost
_Spell = Callable[[Sequence[int]], dict[int, str]]  # term ids -> those terms that are found
_NO_WORDS: Final[Related] = {}


class _Similar(NamedTuple):
    """Numbers of words similar to a term, and their similarity; those below `known` were compared."""

    numbers: Numbers
    nearness: Floats
    known: int


_NO_SIMILAR: Final = _Similar(np.empty(0, np.intp), np.empty(0, np.float32), 1)


class _Nearness(NamedTuple):
    """The nearness of each word of a table to each term, a row per term; `is_near` marks words near any."""

    values: Floats
    is_near: Mask


class Lexicon:
    """Gets vectors of words from an embedder, and holds the table of words that scopes share."""

    def __init__(self, embedder: WordEmbedder, analyzer: Analyzer) -> None:
        self._embedder, self._analyzer = embedder, analyzer
        self._table = _WordTable(self)

    @cached_property
    def _own(self) -> dict[int, Floats]:
        """The vectors of the embedder's vocabulary, by the ids of their terms."""
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
        """Other forms of each term, and their nearness."""
        return list_related(self._analyzer)

    def reader(self, spell: _Spell) -> WordReader:
        """Returns a reader for the words of one scope; `spell` finds spellings of terms in its texts."""
        if self._table.count > MOST:
            self._table = _WordTable(self)
        return WordReader(self._table, spell)

    def embed(self, ids: Sequence[int], spell: _Spell) -> list[Floats | None]:
        """Returns the vectors of words in the embedder's vocabulary, else of terms; None if not spelt."""
        unknown = [id for id in ids if id not in self._own]
        spelt = spell(unknown) if unknown else {}
        made = self._embedder.embed(list(spelt.values())) if spelt else ()
        vectors = dict(zip(spelt, made, strict=True))
        return [self._own.get(id, vectors.get(id)) for id in ids]


class _WordTable:
    """Words by number, from 1, with their unit vectors in bytes. It only grows. Thread-safe."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._lock = threading.Lock()
        self._numbers: dict[int, int] = {}
        self._vectors = VectorPlanes(lexicon.width)
        self._vectors.append([None])  # for _NOBODY
        self._similar: dict[str, _Similar] = {}
        self._last: tuple[tuple[str, ...], _Nearness] | None = None

    @property
    def count(self) -> int:
        return self._vectors.count

    def number(self, ids: Terms, spell: _Spell) -> Numbers:
        """Returns the words' numbers; adds new words. A word without a spelling is similar to none."""
        wanted = ids.tolist()
        with self._lock:
            fresh = [id for id in dict.fromkeys(wanted) if id not in self._numbers]
            if fresh:
                first, vectors = self.count, self._lexicon.embed(fresh, spell)
                self._vectors.append(
                    [None if one is None else np.asarray(one, "<f4").tobytes() for one in vectors]
                )
                self._numbers.update(zip(fresh, range(first, self.count), strict=True))
            return np.fromiter(map(self._numbers.__getitem__, wanted), np.intp, len(wanted))

    def compare(self, terms: Sequence[int], spelt: Sequence[str]) -> _Nearness:
        """Returns the nearness of all words: 1 for the term itself, else by the cosine from `FAR` on."""
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
        """Compares terms with the words that were added since each was last used."""
        met = [self._similar.get(term, _NO_SIMILAR) for term in lacking]
        start = min(one.known for one in met)
        near = self._measure_nearness(self._embed_terms([ids[term] for term in lacking], lacking), start)
        for term, one, values in zip(lacking, met, near, strict=True):
            self._raise_related(values, self._lexicon.related.get(ids[term], _NO_WORDS), start)
            fresh = values[one.known - start :]
            at = (fresh > 0).nonzero()[0]  # faster than on the floats
            self._similar[term] = _Similar(
                np.concatenate((one.numbers, at + one.known)),
                np.concatenate((one.nearness, fresh.take(at))),
                self.count,
            )

    def _embed_terms(self, ids: Sequence[int], terms: Sequence[str]) -> Floats:
        spelt = dict(zip(ids, terms, strict=True))
        vectors = self._lexicon.embed(ids, lambda unknown: {id: spelt[id] for id in unknown})
        rows = normalise(np.array(vectors, np.float32).reshape(-1, self._lexicon.width))
        rows[[_has_digit(term) for term in terms]] = 0.0  # 4821 is not like 4812: only equal numbers count
        return rows

    def _raise_related(self, values: Floats, related: Related, start: int) -> None:
        """Raises other forms of a term to at least their stated nearness."""
        for id, near in related.items():
            at = self._numbers.get(id, _NOBODY) - start
            if at >= 0:
                values[at] = max(values[at], near)

    def _measure_nearness(self, vectors: Floats, start: int) -> Floats:
        """Computes the nearness (0 to 1) of each word from `start` on to each term; a row per term."""
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
    """A table of words with a function that spells the terms of one scope."""

    table: _WordTable
    spell: _Spell

    def number(self, ids: Terms) -> Numbers:
        return self.table.number(ids, self.spell)


class _RowWords:
    """Numbers of words in blocks, row after row; each row has at least one block. Rows are only added."""

    def __init__(self, numbers: Numbers, docs: Docs, count: int) -> None:
        """Builds the blocks of `count` rows from pairs of a word's number and its row."""
        sizes = np.bincount(docs, minlength=count)
        taken = np.maximum(1, -(-sizes // BLOCK))
        self._count = count
        self._owners: Rows | None = None
        self._ends: Rows = np.cumsum(taken)
        self._blocks: Numbers = np.full((self._size, BLOCK), _NOBODY, np.intp)
        if (docs[1:] < docs[:-1]).any():
            numbers = numbers[np.argsort(docs)]
        shift = (self._ends - taken) * BLOCK - (np.cumsum(sizes) - sizes)
        self._blocks.reshape(-1)[np.arange(len(docs)) + np.repeat(shift, sizes)] = numbers

    @property
    def _size(self) -> int:
        """The size in blocks."""
        return int(self._ends[self._count - 1]) if self._count else 0

    def append(self, numbers: Sequence[int] | Numbers) -> None:
        """Adds a row, given by the numbers of its words."""
        at, size = self._size, len(numbers)
        end = at + max(1, -(-size // BLOCK))
        self._blocks = make_room(self._blocks, at, end)
        self._ends = make_room(self._ends, self._count, self._count + 1)
        row = self._blocks[at:end].reshape(-1)
        row[:size] = numbers
        row[size:] = _NOBODY
        self._ends[self._count] = end
        self._count += 1
        self._owners = None

    def find_best(self, values: Floats, worth: Mask, rows: Rows) -> Floats:
        """Returns each row's highest value of any word, per term; `values` has a column per word number.

        No value is below 0. Numbers outside `worth`, such as `_NOBODY`, have only zeros. Rows ascend.
        """
        blocks, owners = self._read(rows)
        numbers = blocks.reshape(-1)
        at: Rows = worth.take(numbers).nonzero()[0]
        best = np.zeros((len(values), len(rows)), np.float32)
        places = owners.take(at // BLOCK) + len(rows) * np.arange(len(values))[:, None]
        np.maximum.at(  # reducing run by run takes three times as long, as most rows have one word
            best.reshape(-1), places.reshape(-1), values.take(numbers.take(at), axis=1).reshape(-1)
        )
        return best

    def _read(self, rows: Rows) -> tuple[Numbers, Rows]:
        """Returns the blocks of some rows, and for each block the position of its row among `rows`."""
        if len(rows) == self._count:
            return self._blocks[: self._size], self._list_owners()
        first = self._ends.take(rows - 1)
        first[rows == 0] = 0
        sizes, at = expand_runs(first, self._ends.take(rows))
        return self._blocks.take(at, axis=0), np.arange(len(rows)).repeat(sizes)

    def _list_owners(self) -> Rows:
        """Returns the row of each block; cached until rows are added."""
        if self._owners is None:
            ends = self._ends[: self._count]
            sizes = ends.copy()
            sizes[1:] -= ends[:-1]
            self._owners = np.arange(self._count).repeat(sizes)
        return self._owners

    @property
    def nbytes(self) -> int:
        return self._blocks.nbytes + self._ends.nbytes + 8 * self._size


class Vocabulary:
    """The words of all rows of the postings; whenever rows are added to those, `append` adds their words."""

    def __init__(self, postings: Postings, words: WordReader) -> None:
        self._known = words
        terms, docs = postings.pairs()
        spelt = distinct(terms)
        numbers = words.number(spelt)
        self._rows = _RowWords(numbers.take(spelt.searchsorted(terms)), docs, postings.count)

    def append(self, units: Sequence[Sequence[int]]) -> None:
        """Adds the words of new rows, given by their ids."""
        numbers = self._known.number(np.fromiter(chain.from_iterable(units), np.uint32))
        for start, end in pairwise(accumulate(map(len, units), initial=0)):
            self._rows.append(numbers[start:end])

    def align(self, terms: Sequence[int], spelt: Sequence[str], weights: Floats, rows: Rows) -> Floats:
        """Returns for each row the share (0 to 1) of the terms' weight that its words cover. Rows ascend."""
        total = weights.sum()
        if not total > 0 or not len(rows):
            return np.zeros(len(rows), np.float32)
        nearness, is_near = self._known.table.compare(terms, spelt)
        shares: Floats = (weights / total) @ self._rows.find_best(nearness, is_near, rows)
        return shares

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes


def _has_digit(term: str) -> bool:
    return any(letter.isdigit() for letter in term)


def make_lexicon(embedder: object, analyzer: Analyzer | None) -> Lexicon | None:
    """Makes a lexicon from an embedder of words, or from WordLlama for one of sentences; else None."""
    if analyzer is None:
        return None
    if isinstance(embedder, WordEmbedder):
        return Lexicon(embedder, analyzer)
    if reads_sentences(embedder) and find_spec("wordllama") is not None:
        return Lexicon(WordLlama(), analyzer)
    return None
