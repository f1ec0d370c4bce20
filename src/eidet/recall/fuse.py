"""From signals to one ranking in 0-1, with the reasons."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core.errors import Unavailable
from ..core.hit import Hit, Reasons, Signal
from ..index import Candidates
from .calibrate import calibrate_scores, fits
from .recipes import Recipe
from .signals import Signals

if TYPE_CHECKING:
    from ..models.rerank import Reranker

RANKED: Final = ("dense", "words")
STRANGE: Final = 4.0  # without one word in common, so many times the score is wanted
MANY: Final = 8  # times the limit: of so many candidates, only the best are put in order
POOL: Final = 0.1  # what each further good turn adds to the score of its session, at most two


@dataclass(slots=True, kw_only=True)
class Ranked:
    """Rows of the candidates, best first, their scores, and what it takes to explain them."""

    rows: NDArray[np.intp]
    scores: list[float] = field(default_factory=list)
    values: dict[str, NDArray[Any]] = field(default_factory=dict)
    shares: Callable[[], dict[str, NDArray[Any]]] = dict  # by signal, what it adds for each candidate
    weights: dict[str, float] = field(default_factory=dict)  # of a recipe's own
    alone: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))
    columns: dict[str, SignalColumn] = field(default_factory=dict)  # of all hits, once one is asked about

    def signals(self, at: int) -> tuple[Signal, ...]:
        """What made the score of the hit at a place, largest share first; what gave nothing is left out."""
        if not self.columns:
            self.columns.update(self._read_columns())
        parts = {name: column.shares[at] for name, column in self.columns.items()}
        arms = [name for name in RANKED if name in parts]
        if arms and "context" in parts and self.alone[self.rows[at]]:  # it has no other context than itself
            own = parts.pop("context")
            parts |= {name: parts[name] + own / len(arms) for name in arms}
        total = sum(parts.values())
        if total <= 0:  # told by what speaks for it alone
            parts = {name: part for name, part in parts.items() if part > 0}
            total = sum(parts.values())
        scale = self.scores[at] / total if total > 0 else 0.0
        signals = []
        for name, part in parts.items():
            if share := part * scale:
                signals.append(self.columns[name].tell(name, at, share))
        return tuple(sorted(signals, key=_share_of, reverse=True))

    def list_weights(self) -> dict[str, float]:
        """How much each signal counts, adding up to one: its weight, or what it adds for the best hits."""
        if self.weights:
            return self.weights
        added = {
            name: float(abs(shares[self.rows]).max(initial=0.0)) for name, shares in self.shares().items()
        }
        total = sum(added.values())
        return {name: most / total for name, most in added.items() if most}

    def _read_columns(self) -> dict[str, SignalColumn]:
        """What each signal gave each hit: one look at the arrays for all of them."""
        columns = {}
        for name, shares in self.shares().items():
            values = self.values.get(name, shares)
            ranks = None
            if name in RANKED:
                behind = np.sort(values).searchsorted(values[self.rows], "right")
                ranks = (1 + len(values) - behind).tolist()
            columns[name] = SignalColumn(values[self.rows].tolist(), shares[self.rows].tolist(), ranks)
        return columns


_share_of: Final = attrgetter("share")


@dataclass(frozen=True, slots=True)
class SignalColumn:
    """One signal of all hits: its values, what they add to the sum, and their places among all candidates."""

    values: list[float]
    shares: list[float]
    ranks: list[int] | None

    def tell(self, name: str, at: int, share: float) -> Signal:
        rank = None
        if self.ranks is not None:
            rank = self.ranks[at]
        return Signal(name=name, value=float(self.values[at]), share=share, rank=rank)


def fuse(found: Candidates, signals: Signals, recipe: Recipe, limit: int, unit: str = "record") -> Ranked:
    """Adds the signals up by weight; equal scores: the newer one first.

    An arm that found nothing gives its weight to the others. Where even the best is no answer, there
    is none.
    """
    sums = sum_signals(signals, len(found))
    pooled = sums if unit == "record" else _pool_sums(sums, found, unit)
    rows = _order_rows(pooled, found, signals, unit, limit)
    return settle(
        Ranked(
            rows=rows,
            scores=calibrate_scores(pooled[rows], rows, found, signals, recipe).tolist(),
            values=signals.values,
            shares=partial(_weigh_shares, signals),
            weights=signals.weights,
            alone=found.traits.session < 0,
        ),
        found,
        signals,
        recipe,
        unit,
    )


def _weigh_shares(signals: Signals) -> dict[str, NDArray[Any]]:
    return {name: signals.shares[name] * weight for name, weight in signals.weights.items()}


def settle(
    ranked: Ranked, found: Candidates, signals: Signals, recipe: Recipe, unit: str = "record"
) -> Ranked:
    """Without any hit where even the best is no answer; else with what each arm found nearest."""
    rows, scores = ranked.rows, ranked.scores
    least = recipe.nothing
    if signals.terms and not np.logical_or.reduce(found.words.take(rows)):
        least *= STRANGE
    if len(rows) and scores[0] < least and not fits(rows, signals):
        rows, scores = rows[:0], []
    if unit == "record" and (nearest := _list_nearest(rows, found)):
        rows, scores = np.append(rows, nearest), scores + [0.0] * len(nearest)
    return replace(ranked, rows=rows, scores=scores)


def _list_nearest(rows: NDArray[np.intp], found: Candidates) -> list[int]:
    """The row that each arm found nearest, if only others were ranked first: it may have the very text."""
    nearest = []
    for arm in (found.dense, found.words):
        if len(arm) and np.maximum.reduce(arm.take(rows), initial=0.0) < arm.max():
            nearest.append(int(arm.argmax()))
    return list(dict.fromkeys(nearest))


def _order_rows(
    sums: NDArray[Any], found: Candidates, signals: Signals, unit: str, limit: int
) -> NDArray[np.intp]:
    """The best rows, best first; newer ones first among equals."""
    rows = None
    if "dense" not in signals.weights and "words" in signals.weights:
        rows = (found.words > 0).nonzero()[0]  # asked by words alone: what has none is no answer
    if signals.meant is not None:
        rows = signals.meant.nonzero()[0] if rows is None else rows[signals.meant.take(rows)]
    if unit == "record":
        rows = _pick_highest(sums, rows, limit)
    elif rows is None:
        rows = np.arange(len(sums))
    newest = rows[::-1]  # candidates come by rising seq: turned round, a stable sort puts newer ones first
    order = newest.take((-sums.take(newest)).argsort(kind="stable"))
    if unit != "record":
        order = _best_of_each(order, _groups(found, unit))
    return order[:limit]


def _pick_highest(sums: NDArray[Any], rows: NDArray[np.intp] | None, limit: int) -> NDArray[np.intp]:
    """Rising rows, of those given or of all; of many, only those among the `limit` highest."""
    values = sums if rows is None else sums.take(rows)
    if len(values) <= MANY * limit:
        return np.arange(len(sums)) if rows is None else rows
    sorted_out = values.copy()
    sorted_out.partition(len(values) - limit)
    highest: NDArray[np.intp] = (values >= sorted_out[-limit]).nonzero()[0]
    return highest if rows is None else rows.take(highest)


def sum_signals(signals: Signals, count: int) -> NDArray[Any]:
    """What the signals of each of `count` candidates come to, by weight."""
    sums = np.zeros(count)
    for name, weight in signals.weights.items():
        sums += signals.shares[name] * weight
    np.maximum(sums, 0.0, out=sums)
    return sums


def _groups(found: Candidates, unit: str) -> NDArray[np.int64]:
    """A number for each row's session (or scope); a record without a session is its own."""
    if unit == "scope":
        return found.scope.astype(np.int64)
    alone = -1 - np.arange(len(found), dtype=np.int64)
    return np.where(found.traits.session >= 0, found.traits.session.astype(np.int64), alone)


def _pool_sums(sums: NDArray[Any], found: Candidates, unit: str) -> NDArray[Any]:
    """The best turn of each group carries what its next best add; the others stay as they are."""
    groups, pooled = _groups(found, unit), sums.copy()
    order = np.lexsort((-sums, groups))
    if len(order):
        starts = np.flatnonzero(np.append(True, np.diff(groups[order]) != 0))
    else:
        starts = order
    for further in (1, 2):
        at = starts + further
        here = at < len(order)
        here[here] = groups[order[at[here]]] == groups[order[starts[here]]]
        pooled[order[starts[here]]] += POOL * sums[order[at[here]]]
    return pooled / (1 + 2 * POOL)


def _best_of_each(order: NDArray[np.intp], groups: NDArray[np.int64]) -> NDArray[np.intp]:
    _, first = np.unique(groups[order], return_index=True)
    return order[np.sort(first)]


def _count_phrases(text: str, phrases: tuple[str, ...]) -> int:
    low = text.casefold()
    return sum(phrase.casefold() in low for phrase in phrases)


def with_phrases(hits: list[Hit], phrases: tuple[str, ...], recipe: Recipe) -> list[Hit]:
    """Ranked again: who says what was quoted moves up."""
    weight = recipe.asked / (1 + recipe.asked)
    counts = [_count_phrases(hit.text, phrases) for hit in hits]
    if not weight or not any(counts):
        return hits
    again = [
        _raise_score(hit, "asked", float(has), weight * has / len(phrases))
        for hit, has in zip(hits, counts, strict=True)
    ]
    return sorted(again, key=lambda hit: -hit.score)


def rerank_hits(hits: list[Hit], query: str, reranker: Reranker | None) -> tuple[list[Hit], tuple[str, ...]]:
    """The hits in the order of a reranker's scores; as they were, with a note, when it cannot be had."""
    if reranker is None or not hits:
        return hits, ()
    from ..models.rerank import score_checked

    try:
        scores = score_checked(reranker, query, [hit.text for hit in hits])
    except Unavailable as error:
        return hits, (f"not reranked: {error}",)
    again = [_replace_score(hit, reranker.name, score) for hit, score in zip(hits, scores, strict=True)]
    return sorted(again, key=lambda hit: -hit.score), (f"reranked by {reranker.name}",)


def _replace_score(hit: Hit, name: str, score: float) -> Hit:
    reasons = Reasons(
        signals=(Signal(name=name, value=score, share=score), *(replace(s, share=0.0) for s in hit.signals)),
        matched=hit.matched,
        words=hit.reasons().words,
    )
    return replace(hit, score=score, reasons=lambda: reasons)


def with_uses(hits: list[Hit], recipe: Recipe) -> list[Hit]:
    """The hits ranked again with how often each was used, which only the store knows."""
    most = max((hit.record.uses for hit in hits), default=0)
    if not most:
        return hits
    weight = recipe.uses / (1 + recipe.uses)
    again = [
        _raise_score(
            hit, "uses", float(hit.record.uses), weight * math.log1p(hit.record.uses) / math.log1p(most)
        )
        for hit in hits
    ]
    return sorted(again, key=lambda hit: -hit.score)


def _raise_score(hit: Hit, name: str, value: float, share: float) -> Hit:
    """The score moved towards 1 by a share of what it lacks."""
    gain = share * (1 - hit.score)
    if not gain:
        return hit
    reasons = Reasons(
        signals=(*hit.signals, Signal(name=name, value=value, share=gain)),
        matched=hit.matched,
        words=hit.reasons().words,
    )
    return replace(hit, score=hit.score + gain, reasons=lambda: reasons)
