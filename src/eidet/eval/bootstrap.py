"""How sure a mean is: intervals by drawing the questions again, with replacement, many times."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

DRAWS: Final = 2000
_AT_ONCE: Final = 2_000_000  # numbers


def draw_means(values: Values, *, seed: int, draws: int = DRAWS) -> Values:
    """The mean of each column in each draw of as many rows, shape (draws, columns).

    Rows are drawn together, so columns of one draw are of the same questions.
    """
    count, chance = len(values), np.random.default_rng(seed)
    step = max(1, _AT_ONCE // count)
    sizes = [min(step, draws - start) for start in range(0, draws, step)]
    return np.concatenate([_times(count, size, chance) @ values / count for size in sizes])


def _times(count: int, draws: int, chance: np.random.Generator) -> Values:
    """How often each row came up in each draw."""
    drawn = chance.integers(count, size=(draws, count)) + np.arange(draws)[:, None] * count
    times = np.bincount(drawn.ravel(), minlength=draws * count).reshape(draws, count)
    return times.astype(np.float64)  # products of floats are many times as fast as of whole numbers


def intervals(values: Values, *, seed: int, level: float = 0.95) -> Values:
    """Low and high of the mean of each column, shape (columns, 2)."""
    edge = (1 - level) / 2
    found: Values = np.quantile(draw_means(values, seed=seed), [edge, 1 - edge], axis=0).T
    return found
