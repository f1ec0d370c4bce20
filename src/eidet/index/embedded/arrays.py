"""Helpers for arrays: growing them, runs of equal values, and the best of many scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import Floats, Rows

A = TypeVar("A", bound=np.generic)
MANY: Final = 4_096  # scores from which on a sample pays
_SAMPLED: Final = 16  # every 16th score is in the sample
MARKED: Final = 50_000  # rows up to which marking is quicker than sorting
_SURPLUS: Final = 8  # places in the sample beyond what the depth asks for


def make_room(array: NDArray[A], count: int, needed: int) -> NDArray[A]:
    """Returns the array if it has room for `needed` rows, else a longer copy of its first `count` rows.

    It grows by at least half, so that appending takes constant time on average.
    """
    if needed <= len(array):
        return array
    fresh = np.empty((max(needed, 64, len(array) + len(array) // 2), *array.shape[1:]), array.dtype)
    fresh[:count] = array[:count]
    return fresh


def run_starts(values: NDArray[A]) -> Rows:
    """Returns the position at which each run of equal values begins."""
    if not len(values):
        return np.empty(0, np.intp)
    begins = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    starts: Rows = begins.nonzero()[0]
    return starts


def expand_runs(first: NDArray[np.intp], last: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Returns the sizes of runs from `first` to before `last`, and all positions in them, run by run."""
    sizes = last - first
    at = np.arange(int(sizes.sum()))
    at += np.repeat(first - (np.cumsum(sizes) - sizes), sizes)
    return sizes, at


def distinct(values: NDArray[A]) -> NDArray[A]:
    """Returns the distinct values, ascending; takes a third of the time of `np.unique`."""
    values = np.sort(values)
    return values[run_starts(values)]


def unite(parts: Sequence[Rows], count: int) -> Rows:
    """Returns the rows, all below `count`, that are in any of the parts: ascending, each once."""
    if count > MARKED:
        return distinct(np.concatenate(parts))
    marked = np.zeros(count, np.bool_)
    for part in parts:
        marked[part] = True
    rows: Rows = marked.nonzero()[0]
    return rows


def top(scores: Floats, depth: int) -> Rows:
    """Returns the positions of the `depth` highest scores, in no order."""
    if len(scores) <= depth:
        return np.arange(len(scores))
    few = _find_high(scores, depth)
    if depth <= len(few) < len(scores) // 2:
        return few.take(scores.take(few).argpartition(len(few) - depth)[-depth:])
    return scores.argpartition(len(scores) - depth)[-depth:]


def _find_high(scores: Floats, depth: int) -> Rows:
    """Returns positions that include the `depth` highest; fast for few among many.

    A sample gives the cut-off. If most scores are equal, which sorts slowly, returns only those above.
    """
    low, rank = np.minimum.reduce(scores), (3 * depth) // (2 * _SAMPLED) + _SURPLUS
    if len(scores) > MANY and rank * _SAMPLED < len(scores):
        low = max(low, np.partition(scores[::_SAMPLED], -rank)[-rank])
    high: Rows = (scores > low).nonzero()[0]
    return high
