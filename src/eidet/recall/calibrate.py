"""From a sum of signals to a score that means the same for every question.

A sum only ranks: its best is near 1 even where nothing fits. The score is the share of hits like this
one that were right when it was measured, on questions half of which had no answer in what was
searched (docs/retrieval.md). Its odds fall with the distance to the best hit, and rise with how much of
the question the words of the best hits cover and how near their meaning is.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..index import Candidates
from .recipes import Recipe
from .signals import Signals, share_covered

BASE: Final = 1.0
GAP: Final = 15.0
COVERED: Final = 1.6
NEAR: Final = 1.5
FLOOR: Final = 0.05  # what nothing at all counts as
BEST: Final = 10  # hits whose words and meaning are looked at
NAMED: Final = ("date", "asked")
_LOST: Final = BASE + (COVERED + NEAR) * math.log(FLOOR)


def calibrate_scores(
    sums: NDArray[Any], rows: NDArray[np.intp], found: Candidates, signals: Signals, recipe: Recipe
) -> NDArray[Any]:
    """Scores for sums that fall, of the rows given; the order stays."""
    if not len(rows):
        return sums
    evidence = _evidence(rows[:BEST], found, signals, recipe)
    scores: NDArray[Any] = np.clip(sums, 0.0, 1.0)
    if evidence is not None:
        scores = 1.0 / (1.0 + np.exp(-(evidence + GAP * (sums - sums[0]))))
    return scores


def _evidence(rows: NDArray[np.intp], found: Candidates, signals: Signals, recipe: Recipe) -> float | None:
    """The log odds that the best hit is right; None where neither words nor meaning tell of it."""
    near = None
    if "dense" in signals.weights:
        near = max(float(found.dense[rows].max()), 0.0)
    here = None
    if "words" in signals.weights:
        here = share_covered(found, rows)
    if near is None and here is None:
        looked = recipe.dense > 0 or recipe.words > 0
        if looked and not fits(rows, signals):
            return _LOST
        return None
    one, other = here if here is not None else near, near if near is not None else here
    return BASE + COVERED * float(np.log(one + FLOOR)) + NEAR * float(np.log(other + FLOOR))  # type: ignore[operator]


def fits(rows: NDArray[np.intp], signals: Signals) -> bool:
    """Whether the time, session, kind or place that a question names is found: an answer by itself."""
    return any(bool(signals.shares[name][rows].any()) for name in NAMED if name in signals.weights)
