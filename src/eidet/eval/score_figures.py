"""Whether scores can be trusted: the best score of each question against whether it was right.

AUROC         how often a question with an answer has a higher best score than one without
right-AUROC   how often a right first hit has a higher score than a wrong one, or than one of no answer
calibration   1 less the mean gap between score and share of right first hits, over ten bins
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .bootstrap import Values

BINS: Final = 10


def score_figures(
    best: Sequence[float], right: Sequence[bool], unanswerable: Sequence[float]
) -> dict[str, float]:
    """The figures by name, of the best scores and whether they were right; those that can be told."""
    scores = np.array([*best, *unanswerable])
    truth = np.array([*right, *[False] * len(unanswerable)], np.bool_)
    scored: dict[str, float] = {}
    if unanswerable and best:
        scored["AUROC"] = measure_auroc(np.array(best), np.array(unanswerable))
    if truth.any() and not truth.all():
        scored["right-AUROC"] = measure_auroc(scores[truth], scores[~truth])
    if len(scores):
        scored["calibration"] = 1.0 - measure_calibration_error(scores, truth)
    return scored


def measure_auroc(above: Values, below: Values) -> float:
    """The share of pairs in which the one of `above` is larger; equal ones count half."""
    everything = np.sort(np.concatenate((above, below)))
    ranks = (
        np.searchsorted(everything, above, side="left") + np.searchsorted(everything, above, side="right") + 1
    ) / 2
    least = len(above) * (len(above) + 1) / 2
    return float((ranks.sum() - least) / (len(above) * len(below)))


def measure_calibration_error(scores: Values, right: NDArray[np.bool_]) -> float:
    at = np.clip((scores * BINS).astype(np.int64), 0, BINS - 1)
    gaps = np.abs(
        np.bincount(at, weights=scores, minlength=BINS) - np.bincount(at, weights=right, minlength=BINS)
    )
    return float(gaps.sum() / len(scores))
