"""Arrays that grow, and the best of many scores."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import Floats, Rows

A = TypeVar("A", bound=np.generic)


def grow_capacity(capacity: int, needed: int) -> int:
    """Grows by half, so that appending costs constant time on average."""
    return max(needed, 64, capacity + capacity // 2)


def extend_array(array: NDArray[A], count: int, capacity: int) -> NDArray[A]:
    """A copy of the first `count` rows with room for `capacity`."""
    fresh = np.empty((capacity, *array.shape[1:]), array.dtype)
    fresh[:count] = array[:count]
    return fresh


def run_starts(values: NDArray[A]) -> Rows:
    """Where each run of equal values begins."""
    if not len(values):
        return np.empty(0, np.intp)
    return np.flatnonzero(np.append(True, values[1:] != values[:-1]))


def distinct(values: NDArray[A]) -> NDArray[A]:
    """The values rising, each once: `np.unique` without its detours, at a third of the cost."""
    values = np.sort(values)
    return values[run_starts(values)]


def top(scores: Floats, depth: int) -> Rows:
    """The positions of the `depth` highest scores, in no order."""
    if len(scores) <= depth:
        return np.arange(len(scores))
    above = scores > scores.min()
    if depth <= np.count_nonzero(above) < len(scores) // 2:  # the sort is slow where most are the same
        few = np.flatnonzero(above)
        return few[np.argpartition(scores[few], -depth)[-depth:]]
    return np.argpartition(scores, -depth)[-depth:]


def scale_scores(scores: Floats) -> Floats:
    """From 0 to 1 over what is there."""
    low, high = float(scores.min(initial=0.0)), float(scores.max(initial=0.0))
    return (scores - low) / np.float32(high - low) if high > low else scores


def judge_lowest(sample: Floats, count: int) -> float:
    """The lowest of `count` scores, judged by a sample: as far below the mean as for a normal law."""
    if not len(sample):
        return 0.0
    seen = float(sample.min())
    if count <= len(sample):
        return seen
    away = float(sample.std()) * float(np.sqrt(2 * np.log(count)))
    return max(-1.0, min(seen, float(sample.mean()) - away))
