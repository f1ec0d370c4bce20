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

    dense: float = 0.4
    words: float = 0.6
    importance: float = 0.05
    recency: float = 0.0
    uses: float = 0.0
    half_life_days: float = 30.0
    depth: int = 100


BALANCED: Final = Recipe()


@dataclass(slots=True, kw_only=True)
class Ranked:
    """Rows of the candidates, best first, with their scores and what each signal gave."""

    rows: NDArray[np.intp]
    scores: list[float] = field(default_factory=list)
    signals: list[tuple[Signal, ...]] = field(default_factory=list)
    weights: dict[str, float] = field(default_factory=dict)


def fuse(found: Found, recipe: Recipe, limit: int, now: float) -> Ranked:
    """Min-max normalises each arm over all it searched, then adds up by weight.

    An arm that found nothing gives its weight to the others. Equal scores: the newer one first.
    """
    values = _values(found, recipe, now)
    weights = _weights(values, found, recipe)
    shares = {name: _normal(name, values[name], found, weight) for name, weight in weights.items()}
    scores = np.sum(list(shares.values()), axis=0) if shares else np.zeros(len(found))
    newest_first = np.arange(len(found))[::-1]  # candidates come by rising seq
    order = newest_first[np.argsort(-scores[::-1], kind="stable")]
    rows = order[: limit * 3 if recipe.uses > 0 else limit]
    told = [_told(name, values[name], share, rows) for name, share in shares.items()]
    return Ranked(
        rows=rows,
        scores=scores[rows].tolist(),
        signals=[_largest_first(signals) for signals in zip(*told, strict=True)] or [()] * len(rows),
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


def _normal(name: str, values: NDArray[Any], found: Found, weight: float) -> NDArray[Any]:
    """Values brought to 0-1 over what the arm searched, times the weight."""
    span = found.spans.get(name, Span(0.0, 1.0))
    if span.high <= span.low:
        return np.where(values >= span.high, weight, 0.0)
    share = (values - span.low) * (weight / (span.high - span.low))
    return np.minimum(np.maximum(share, 0.0), weight)


def _told(name: str, values: NDArray[Any], share: NDArray[Any], rows: NDArray[np.intp]) -> list[Signal]:
    """The signal of each row, with its rank among all candidates."""
    chosen = values[rows]
    ranks: list[int | None] = [None] * len(rows)
    if name in ("dense", "words"):
        ranks = (1 + (values > chosen[:, None]).sum(axis=1)).tolist()
    return [
        Signal(name=name, value=value, share=part, rank=rank)
        for value, part, rank in zip(chosen.tolist(), share[rows].tolist(), ranks, strict=True)
    ]


def _largest_first(signals: tuple[Signal, ...]) -> tuple[Signal, ...]:
    """Signals by their share; one that gave nothing is left out."""
    return tuple(sorted((s for s in signals if s.share > 0), key=lambda s: -s.share))


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
