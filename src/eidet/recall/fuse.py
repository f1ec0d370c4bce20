"""From candidates with a score in each arm to one ranking in 0-1, with the reasons."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..index import Found, Span
from ..model import Hit, Signal

DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How much each signal counts. Weights are relative; a signal of weight 0 is not computed."""

    dense: float = 0.5
    words: float = 0.5
    importance: float = 0.05
    recency: float = 0.0
    uses: float = 0.0
    half_life_days: float = 30.0
    depth: int = 100


BALANCED: Final = Recipe()


@dataclass(slots=True, kw_only=True)
class Ranked:
    """Rows of the candidates, best first, with what each signal gave."""

    rows: NDArray[np.intp]
    scores: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    shares: dict[str, NDArray[Any]] = field(default_factory=dict)
    values: dict[str, NDArray[Any]] = field(default_factory=dict)
    ranks: dict[str, NDArray[Any]] = field(default_factory=dict)
    words: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    weights: dict[str, float] = field(default_factory=dict)

    def score(self, at: int) -> float:
        return float(self.scores[at])

    def signals(self, at: int) -> tuple[Signal, ...]:
        """What made the score, largest share first; a signal that gave nothing is left out."""
        signals = [
            Signal(
                name=name,
                value=float(self.values[name][at]),
                share=float(share[at]),
                rank=int(self.ranks[name][at]) if name in self.ranks else None,
            )
            for name, share in self.shares.items()
            if share[at] > 0
        ]
        return tuple(sorted(signals, key=lambda signal: -signal.share))


def fuse(found: Found, recipe: Recipe, limit: int, now: float) -> Ranked:
    """Min-max normalises each arm over all it searched, then adds up by weight.

    An arm that found nothing gives its weight to the others. Equal scores: the newer one first.
    """
    values = _values(found, recipe, now)
    weights = _weights(values, found, recipe)
    shares = {name: _normal(name, values[name], found) * weight for name, weight in weights.items()}
    scores = sum(shares.values(), np.zeros(len(found)))
    count = limit * 3 if recipe.uses > 0 else limit
    rows = np.lexsort((-found.seq, -scores))[:count]
    return Ranked(
        rows=rows,
        scores=scores[rows],
        shares={name: share[rows] for name, share in shares.items()},
        values={name: values[name][rows] for name in weights},
        ranks={name: _ranks(values[name])[rows] for name in ("dense", "words") if name in weights},
        words=found.words[rows],
        weights=weights,
    )


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


def _normal(name: str, values: NDArray[Any], found: Found) -> NDArray[Any]:
    span = found.spans.get(name, Span(0.0, 1.0))
    if span.high <= span.low:
        return np.where(values >= span.high, 1.0, 0.0)
    return np.clip((values - span.low) / (span.high - span.low), 0.0, 1.0)


def _ranks(values: NDArray[Any]) -> NDArray[np.intp]:
    ranks = np.empty(len(values), np.intp)
    ranks[np.argsort(-values, kind="stable")] = np.arange(1, len(values) + 1)
    return ranks


def with_uses(hits: list[Hit], recipe: Recipe) -> list[Hit]:
    """The hits ranked again with how often each was used, which only the store knows."""
    total = recipe.dense + recipe.words + recipe.importance + recipe.recency + recipe.uses
    most = max((hit.record.uses for hit in hits), default=0)
    if not most:
        return hits
    weight = recipe.uses / total
    again = [_used(hit, weight * np.log1p(hit.record.uses) / np.log1p(most)) for hit in hits]
    return sorted(again, key=lambda hit: -hit.score)


def _used(hit: Hit, share: float) -> Hit:
    signal = Signal(name="uses", value=float(hit.record.uses), share=float(share))
    return replace(hit, score=hit.score + float(share), signals=(*hit.signals, signal))
