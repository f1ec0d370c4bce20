"""Metrics of rankings: one number per question, from the ranks of its gold. Pure, on arrays.

`found` is one row per question and one column per rank: whether the hit there is gold. `gold` is how
many gold records each question has, at least one. Every figure is in 0-1, higher is better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Found = NDArray[np.bool_]
_Counts = NDArray[np.int64]
Values = NDArray[np.float64]

KS: Final = (1, 3, 5, 10, 20)


def _recall_at(found: Found, gold: _Counts, k: int) -> Values:
    """Returns the share of the gold among the first k."""
    among: _Counts = found[:, :k].sum(axis=1)
    return among / gold


def _hit_at(found: Found, gold: _Counts, k: int) -> Values:  # noqa: ARG001
    """Returns 1 if any gold is among the first k, else 0."""
    among: _Counts = found[:, :k].sum(axis=1)
    return (among > 0).astype(np.float64)


def _all_at(found: Found, gold: _Counts, k: int) -> Values:
    """Returns 1 if all the gold is among the first k, else 0."""
    among: _Counts = found[:, :k].sum(axis=1)
    whole: Values = (among == gold).astype(np.float64)
    return whole


def _ndcg_at(found: Found, gold: _Counts, k: int) -> Values:
    """Computes nDCG: gold counts 1/log2(1 + rank), divided by the best possible sum."""
    gains = 1 / np.log2(np.arange(2, k + 2))
    best = np.cumsum(gains)[np.minimum(gold, k) - 1]
    values: Values = found[:, :k] @ gains[: found.shape[1]] / best
    return values


def _mrr(found: Found) -> Values:
    """Returns one over the rank of the first gold; 0 if there is none."""
    if not found.shape[1]:
        return np.zeros(len(found))
    return np.where(found.any(axis=1), 1 / (found.argmax(axis=1) + 1), 0.0)


_BY_RANK: Final[Mapping[str, Callable[[Found, _Counts, int], Values]]] = {
    "R": _recall_at,
    "nDCG": _ndcg_at,
    "hit": _hit_at,
    "all": _all_at,
}


def marks(ranked: Iterable[str | None], gold: Sequence[str], depth: int) -> Found:
    """Marks gold among the first `depth` ranks; a repeated record counts once."""
    wanted, row = set(gold), np.zeros(depth, np.bool_)
    for at, id in zip(range(depth), ranked, strict=False):
        if id in wanted:
            wanted.discard(id)
            row[at] = True
    return row


def collapse_sessions(sessions: Iterable[str | None]) -> list[str]:
    """Turns ranked turns into ranked sessions, in the order of their best turns."""
    return list(dict.fromkeys(session for session in sessions if session is not None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """The ranks of the gold of all questions, by records and by sessions."""

    found: Found
    gold: _Counts
    session_found: Found
    session_gold: _Counts  # 0: the gold has no session

    def columns(self, ks: Sequence[int]) -> dict[str, Values]:
        """Returns every figure by name, one number per question; NaN where a question has none."""
        named = {f"{name}@{k}": of(self.found, self.gold, k) for name, of in _BY_RANK.items() for k in ks}
        named["MRR"] = _mrr(self.found)
        return named | (self._by_session(ks) if self.session_gold.any() else {})

    def curve(self) -> dict[str, Values]:
        """Returns recall at every rank."""
        depth = self.found.shape[1]
        return {f"R@{k}": _recall_at(self.found, self.gold, k) for k in range(1, depth + 1)}

    def _by_session(self, ks: Sequence[int]) -> dict[str, Values]:
        has = self.session_gold > 0
        gold = np.maximum(self.session_gold, 1)
        return {
            f"session-{name}@{k}": np.where(has, _BY_RANK[name](self.session_found, gold, k), np.nan)
            for name in ("hit", "all")
            for k in ks
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Hits with a score from `low` to `high`: how many, and which share of them is gold."""

    low: float
    high: float
    hits: int
    gold: float


def calibration(scores: Values, gold: Found, bins: int = 10) -> list[Bin]:
    """Returns the share of gold hits by score, without empty bins."""
    at = np.clip((scores * bins).astype(np.int64), 0, bins - 1)
    hits, right = np.bincount(at, minlength=bins), np.bincount(at, weights=gold, minlength=bins)
    return [
        Bin(low=n / bins, high=(n + 1) / bins, hits=int(hits[n]), gold=float(right[n] / hits[n]))
        for n in np.flatnonzero(hits).tolist()
    ]


# Whether scores can be trusted: the best score of each question against whether it was right.
#
# AUROC         how often `answered` is higher for a question with an answer than for one without
# right-AUROC   how often a right first hit scores higher than a wrong one, or one without an answer
# calibration   1 minus the mean gap between score and share of right first hits, over ten bins


_BINS: Final = 10


def score_figures(
    best: Sequence[float], right: Sequence[bool], unanswerable: Sequence[float]
) -> dict[str, float]:
    """Returns the figures of the best scores by name, without those that cannot be computed."""
    scores = np.array([*best, *unanswerable])
    truth = np.array([*right, *[False] * len(unanswerable)], np.bool_)
    scored: dict[str, float] = {}
    if truth.any() and not truth.all():
        scored["right-AUROC"] = measure_auroc(scores[truth], scores[~truth])
    if len(scores):
        scored["calibration"] = 1.0 - _measure_calibration_error(scores, truth)
    return scored


def measure_auroc(above: Values, below: Values) -> float:
    """Returns the share of pairs in which the value of `above` is larger; ties count half."""
    everything = np.sort(np.concatenate((above, below)))
    ranks = (
        np.searchsorted(everything, above, side="left") + np.searchsorted(everything, above, side="right") + 1
    ) / 2
    least = len(above) * (len(above) + 1) / 2
    return float((ranks.sum() - least) / (len(above) * len(below)))


def _measure_calibration_error(scores: Values, right: NDArray[np.bool_]) -> float:
    at = np.clip((scores * _BINS).astype(np.int64), 0, _BINS - 1)
    gaps = np.abs(
        np.bincount(at, weights=scores, minlength=_BINS) - np.bincount(at, weights=right, minlength=_BINS)
    )
    return float(gaps.sum() / len(scores))
