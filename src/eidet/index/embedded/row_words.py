"""The words of every row by number: of some rows, it quickly tells which word fits a question best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .. import Floats, Rows
from .arrays import expand_runs, extend_array, grow_capacity, run_starts
from .filters import Mask
from .postings import Docs

NOBODY: Final = 0  # the number of no word: it fills up the last block of a row
BLOCK: Final = 16  # words; some rows are read by their blocks, which is quicker than word by word
FEW: Final = 8  # where no more than this part of the words is worth anything, only those are compared

Numbers = NDArray[np.int32]


class RowWords:
    """Numbers of words in blocks, row after row; each row has one block at least. Rows are only added."""

    def __init__(self, numbers: Numbers, docs: Docs, count: int) -> None:
        """From pairs of a word's number and the row that has it, for `count` rows."""
        sizes = np.bincount(docs, minlength=count)
        taken = np.maximum(1, -(-sizes // BLOCK))
        self._count = count
        self._ends: Rows = np.cumsum(taken)
        self._blocks: Numbers = np.full((self._size, BLOCK), NOBODY, np.int32)
        if (docs[1:] < docs[:-1]).any():
            numbers = numbers[np.argsort(docs)]
        shift = (self._ends - taken) * BLOCK - (np.cumsum(sizes) - sizes)
        self._blocks.reshape(-1)[np.arange(len(docs)) + np.repeat(shift, sizes)] = numbers

    @property
    def _size(self) -> int:
        """In blocks."""
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

    def _reserve(self, size: int, count: int) -> None:
        if size > len(self._blocks):
            self._blocks = extend_array(self._blocks, self._size, grow_capacity(len(self._blocks), size))
        if count > len(self._ends):
            self._ends = extend_array(self._ends, self._count, grow_capacity(len(self._ends), count))

    def find_best(self, values: Floats, worth: Mask, rows: Rows) -> Floats:
        """The highest value that any word of each row has; `values` has a row per term, a column per number.

        No value is below 0. Of numbers that are not `worth` anything, as `NOBODY`, all are 0. Rows rise.
        """
        blocks, ends = self._read(rows)
        numbers = blocks.reshape(-1)
        at: Rows = worth.take(numbers).nonzero()[0]
        if len(at) * FEW > len(numbers):
            return _find_best_of_all(values, blocks, ends)
        best = np.zeros((len(values), len(rows)), np.float32)
        if len(at):
            owners = ends.searchsorted(at // BLOCK, "right")
            starts = run_starts(owners)
            found = values.take(numbers.take(at), axis=1)
            best[:, owners.take(starts)] = np.maximum.reduceat(found, starts, axis=1)
        return best

    def _read(self, rows: Rows) -> tuple[Numbers, Rows]:
        """The blocks of some rows, and where each row ends among them."""
        if len(rows) == self._count:
            return self._blocks[: self._size], self._ends[: self._count]
        first = self._ends.take(rows - 1)
        first[rows == 0] = 0
        sizes, at = expand_runs(first, self._ends.take(rows))
        return self._blocks.take(at, axis=0), np.cumsum(sizes)

    @property
    def nbytes(self) -> int:
        return self._blocks.nbytes + self._ends.nbytes


def _find_best_of_all(values: Floats, blocks: Numbers, ends: Rows) -> Floats:
    """As `find_best`, by looking at every word."""
    starts = np.concatenate((_ZERO, ends[:-1] * BLOCK))
    best: Floats = np.maximum.reduceat(values.take(blocks.reshape(-1), axis=1), starts, axis=1)
    return best


_ZERO: Final = np.zeros(1, np.intp)
