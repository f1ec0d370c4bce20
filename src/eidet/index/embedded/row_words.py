"""The words of every row by number: of some rows, it quickly tells which word fits a question best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .. import Floats, Rows
from .arrays import expand_runs, extend_array, grow_capacity, run_starts
from .postings import Docs

NOBODY: Final = 0  # the number of no word: each row begins with it, so that none is empty
FEW: Final = 8  # where no more than this part of the words is worth anything, only those are compared

Numbers = NDArray[np.int32]


class RowWords:
    """Numbers of words, one row after the other. Rows are only added."""

    def __init__(self, numbers: Numbers, docs: Docs, count: int) -> None:
        """From pairs of a word's number and the row that has it, for `count` rows."""
        sizes = np.bincount(docs, minlength=count) + 1
        self._ends: NDArray[np.intp] = np.cumsum(sizes)
        self._count = count
        self._numbers: Numbers = np.full(len(numbers) + count, NOBODY, np.int32)
        order = np.argsort(docs)
        self._numbers[np.arange(len(docs)) + docs[order] + 1] = numbers[order]

    @property
    def _size(self) -> int:
        return int(self._ends[self._count - 1]) if self._count else 0

    def append(self, rows: Sequence[Sequence[int]]) -> None:
        """Adds rows, each given by the numbers of its words."""
        sizes = [len(row) + 1 for row in rows]
        size, count = self._size + sum(sizes), self._count + len(rows)
        if size > len(self._numbers):
            self._numbers = extend_array(self._numbers, self._size, grow_capacity(len(self._numbers), size))
        if count > len(self._ends):
            self._ends = extend_array(self._ends, self._count, grow_capacity(len(self._ends), count))
        at = self._size
        for row, end in zip(rows, (np.cumsum(sizes) + at).tolist(), strict=True):
            self._numbers[at:end] = [NOBODY, *row]
            self._ends[self._count] = at = end
            self._count += 1

    def find_best(self, values: Floats, rows: Rows) -> Floats:
        """The highest value that any word of each row has; `values` has a row per term, a column per number.

        No value is below 0, and that of `NOBODY` is 0. The rows wanted rise.
        """
        numbers, ends = self._read(rows)
        worth: Rows = values.any(axis=0).take(numbers).nonzero()[0]  # few words are like any of the terms
        if len(worth) * FEW > len(numbers):
            starts = np.concatenate((_ZERO, ends[:-1]))
            everywhere: Floats = np.maximum.reduceat(values.take(numbers, axis=1), starts, axis=1)
            return everywhere
        best = np.zeros((len(values), len(rows)), np.float32)
        if len(worth):
            owners = ends.searchsorted(worth, "right")
            starts = run_starts(owners)
            found = values.take(numbers.take(worth), axis=1)
            best[:, owners.take(starts)] = np.maximum.reduceat(found, starts, axis=1)
        return best

    def _read(self, rows: Rows) -> tuple[Numbers, Rows]:
        """The numbers of all words of some rows, and where each row ends among them."""
        if len(rows) == self._count:
            return self._numbers[: self._size], self._ends[: self._count]
        first = self._ends.take(rows - 1)
        first[rows == 0] = 0
        sizes, at = expand_runs(first, self._ends.take(rows))
        return self._numbers.take(at), np.cumsum(sizes)

    @property
    def nbytes(self) -> int:
        return self._numbers.nbytes + self._ends.nbytes


_ZERO: Final = np.zeros(1, np.intp)
