"""The words of a scope's rows, and how well they align with those of a question.

Alignment is the weighted share of the question's terms that a row covers: a term it has counts 1, a
similar word counts by its cosine (see `lexicon`). Only the rows of candidates are read for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import Final

import numpy as np

from .. import Floats, Rows
from .arrays import distinct, expand_runs, extend_array, grow_capacity
from .filters import Mask
from .lexicon import NOBODY, Numbers, WordReader
from .postings import Docs, Postings

BLOCK: Final = 16  # words; reading rows by blocks is quicker than word by word


class RowWords:
    """Numbers of words in blocks, row after row; each row has at least one block. Rows are only added."""

    def __init__(self, numbers: Numbers, docs: Docs, count: int) -> None:
        """Builds the blocks of `count` rows from pairs of a word's number and its row."""
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
        """The size in blocks."""
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
        """Returns each row's highest value of any word, per term; `values` has a column per word number.

        No value is below 0. Numbers outside `worth`, such as `NOBODY`, have only zeros. Rows ascend.
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
        self._rows = RowWords(numbers.take(spelt.searchsorted(terms)), docs, postings.count)

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
