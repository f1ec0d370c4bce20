"""From candidates with a score in each arm to one ranking in 0-1, with the reasons."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..index import Found, Span
from ..model import Hit, Reasons, Signal

DAY: Final = 86_400.0
UNIT: Final = Span(0.0, 1.0)  # of signals that are 0-1 by themselves


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How much each signal counts. Weights are relative; a signal of weight 0 is not computed."""

    dense: float = 0.4
    words: float = 0.6
    importance: float = 0.05
    recency: float = 0.0
    uses: float = 0.0
    half_life_days: float = 30.0
    depth: int = 100

    def __post_init__(self) -> None:
        for name in ("dense", "words", "importance", "recency", "uses"):
            weight = getattr(self, name)
            if not (math.isfinite(weight) and weight >= 0):
                raise BadInput(f"the weight {name} is a number from 0 up, not {weight!r}")
        if not self.half_life_days > 0 or self.depth < 1:
            raise BadInput("half_life_days and depth are above 0")


BALANCED: Final = Recipe()


@dataclass(slots=True, kw_only=True)
class Ranked:
    """Rows of the candidates, best first, their scores, and what it takes to explain them."""

    rows: NDArray[np.intp]
    scores: list[float] = field(default_factory=list)
    values: dict[str, NDArray[Any]] = field(default_factory=dict)
    shares: dict[str, NDArray[Any]] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)

    def signals(self, at: int) -> tuple[Signal, ...]:
        """What made the score of the hit at a place, largest share first; what gave nothing is left out."""
        row = self.rows[at]
        signals = [self._signal(name, row) for name, share in self.shares.items() if share[row] > 0]
        return tuple(sorted(signals, key=lambda signal: -signal.share))

    def _signal(self, name: str, row: np.intp) -> Signal:
        values = self.values[name]
        rank = 1 + int((values > values[row]).sum()) if name in ("dense", "words") else None
        return Signal(name=name, value=float(values[row]), share=float(self.shares[name][row]), rank=rank)


def fuse(found: Found, recipe: Recipe, limit: int, now: float) -> Ranked:
    """Min-max normalises each arm over all it searched, then adds up by weight.

    An arm that found nothing gives its weight to the others. Equal scores: the newer one first.
    """
    values = _values(found, recipe, now)
    weights = _weights(values, found, recipe)
    shares = {name: _share(values[name], found.spans.get(name, UNIT), weights[name]) for name in weights}
    scores = sum(shares.values(), np.zeros(len(found)))
    last = len(found) - 1  # candidates come by rising seq: turned round, a stable sort puts newer ones first
    order = last - np.argsort(-scores[::-1], kind="stable")
    if "dense" not in weights and "words" in weights:  # asked by words alone: what has none is no answer
        order = order[found.words[order] > 0]
    rows = order[: limit * 3 if recipe.uses > 0 else limit]
    return Ranked(rows=rows, scores=scores[rows].tolist(), values=values, shares=shares, weights=weights)


def _values(found: Found, recipe: Recipe, now: float) -> dict[str, NDArray[Any]]:
    values: dict[str, NDArray[Any]] = {
        "dense": found.dense,
        "words": found.words,
        "importance": found.importance,
    }
    if recipe.recency > 0:
        age = np.maximum(now - found.occurred, 0.0) / DAY
        values["recency"] = np.exp2(-age / recipe.half_life_days)
    return values


def _weights(values: dict[str, NDArray[Any]], found: Found, recipe: Recipe) -> dict[str, float]:
    """Weights of the signals that say something, adding up to one."""
    wanted = {name: getattr(recipe, name) for name in values}
    for arm in ("dense", "words"):
        if found.spans[arm].high <= 0:
            wanted.pop(arm)
    total = sum(weight for weight in wanted.values() if weight > 0) + max(recipe.uses, 0)
    return {name: weight / total for name, weight in wanted.items() if weight > 0}


def _share(values: NDArray[Any], span: Span, weight: float) -> NDArray[Any]:
    """Values brought to 0-1 over what the arm searched, times the weight."""
    if span is UNIT:
        return values * weight
    if span.high <= span.low:
        return np.where(values >= span.high, weight, 0.0)
    return np.maximum((values - span.low) * (weight / (span.high - span.low)), 0.0)


def with_uses(hits: list[Hit], recipe: Recipe) -> list[Hit]:
    """The hits ranked again with how often each was used, which only the store knows."""
    total = recipe.dense + recipe.words + recipe.importance + recipe.recency + recipe.uses
    most = max((hit.record.uses for hit in hits), default=0)
    if not most:
        return hits
    weight = recipe.uses / total
    again = [_used(hit, weight * math.log1p(hit.record.uses) / math.log1p(most)) for hit in hits]
    return sorted(again, key=lambda hit: -hit.score)


def _used(hit: Hit, share: float) -> Hit:
    signal = Signal(name="uses", value=float(hit.record.uses), share=share)
    told = Reasons(signals=(*hit.signals, signal), matched=hit.matched)
    return replace(hit, score=hit.score + share, reasons=lambda: told)
