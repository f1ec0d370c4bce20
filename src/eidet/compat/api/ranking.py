"""Strategies that rank by similarity, words, importance or neighbours, and that combine others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...core.record import Kind, Record, Tier
from ...core.validate import Json, clean_json
from ...core.where import Where
from ..opening import check_limit, check_number, check_positive, check_whole
from .entries import check_id
from .errors import MemoryRetrievalException
from .models import contents_of
from .reader import Look, Scored, both, by_score, closeness, state_as_text
from .strategies import Attribute, Strategy

RERANKED: Final = 3  # candidates per result whose values are compared
LEVELS: Final[dict[str, tuple[float | None, float | None]]] = {
    "low": (None, math.nextafter(0.4, 0.0)),
    "medium": (0.4, math.nextafter(0.7, 0.0)),
    "high": (0.7, None),
}


@dataclass(frozen=True, kw_only=True)
class Similarity(Strategy):
    """Memories similar to a state, by its values, or to a text or a vector, by cosine."""

    state: Mapping[str, Json] | str | None = None
    vector: Sequence[float] | None = None
    least: float = 0.0

    def __post_init__(self) -> None:
        if (self.state is None) == (self.vector is None):
            raise MemoryRetrievalException("a similarity search needs a state (or a text), or else a vector")
        check_number(self.least, "least", most=1.0, error=MemoryRetrievalException)
        if self.vector is not None:
            object.__setattr__(self, "vector", _numbers(self.vector))

    def find(self, look: Look, where: Where, k: int | None) -> list[Scored]:
        return [one for one in self._rank(look, where, k) if one.score >= self.least]

    def _rank(self, look: Look, where: Where, k: int | None) -> list[Scored]:
        if self.vector is not None:
            return look.nearest(self.vector, where, k)
        if isinstance(self.state, str):
            return look.nearest(look.vector_of(self.state), where, k)
        return look.resembling(self.state, where, k)


@dataclass(frozen=True, kw_only=True)
class Hybrid(Strategy):
    """The memories nearest to a state by its text, by the weighted mean of that and of its values' closeness.

    Of many memories, this is much faster than to compare the values of all, as `Similarity` does.
    """

    state: Mapping[str, Json] | str
    vector_weight: float = 0.7
    attribute_weight: float = 0.3

    def __post_init__(self) -> None:
        for name in ("vector_weight", "attribute_weight"):
            check_number(getattr(self, name), name, error=MemoryRetrievalException)
        total = self.vector_weight + self.attribute_weight
        check_positive(total, "the sum of the weights", error=MemoryRetrievalException)

    def find(self, look: Look, where: Where, k: int | None) -> list[Scored]:
        text = look.vector_of(state_as_text(self.state))
        nearest = look.nearest(text, where, None if k is None else RERANKED * k)
        values = {} if isinstance(self.state, str) else clean_json(contents_of(self.state), "a state")
        share = self.attribute_weight / (self.vector_weight + self.attribute_weight)
        mean = [
            Scored(record, (1 - share) * near + share * closeness(values, record.data))
            for record, near in nearest
        ]
        return sorted(mean, key=by_score)[:k]


@dataclass(frozen=True, kw_only=True)
class Content(Strategy):
    """Memories about a text, by meaning and by words."""

    text: str
    least: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise MemoryRetrievalException(f"a content search needs a text, not {type(self.text).__name__}")
        check_number(self.least, "least", most=1.0, error=MemoryRetrievalException)

    def find(self, look: Look, where: Where, k: int | None) -> list[Scored]:
        return [one for one in look.about(self.text, where, k) if one.score >= self.least]


@dataclass(frozen=True, kw_only=True)
class Importance(Strategy):
    """Memories by priority after decay: in a range, at a level (low, medium, high), or the `top` few."""

    minimum: float | None = None
    maximum: float | None = None
    top: int | None = None
    level: str | None = None
    ages = True

    def __post_init__(self) -> None:
        for name, bound in (("minimum", self.minimum), ("maximum", self.maximum)):
            if bound is not None:
                check_number(bound, name, most=1.0, error=MemoryRetrievalException)
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise MemoryRetrievalException(f"minimum {self.minimum} is above maximum {self.maximum}")
        check_limit(self.top, "top", error=MemoryRetrievalException)
        if self.level is not None and self.level not in LEVELS:
            raise MemoryRetrievalException(f"level must be low, medium or high, not {self.level!r}")

    def find(self, look: Look, where: Where, k: int | None) -> list[Scored]:
        low, high = (self.minimum, self.maximum) if self.level is None else LEVELS[self.level]
        most = min((n for n in (k, self.top) if n is not None), default=None)
        bounds = Where(importance_min=low, importance_max=None if look.decays else high)
        enough = None if look.decays else most
        there = look.find(both(where, bounds), order="-importance", limit=enough)
        scored = [Scored(record, look.importance(record)) for record in there]
        kept = [one for one in scored if (low or 0.0) <= one.score <= (1.0 if high is None else high)]
        return sorted(kept, key=by_score)[:most]


@dataclass(frozen=True, kw_only=True)
class Narrative(Strategy):
    """A memory and its neighbours before and after, in the order in which they happened."""

    memory_id: str
    before: int = 3
    after: int = 3
    include: bool = True

    def __post_init__(self) -> None:
        check_id(self.memory_id)
        for name, count in (("before", self.before), ("after", self.after)):
            check_whole(count, name, error=MemoryRetrievalException)

    def find(self, look: Look, where: Where, k: int | None) -> list[Scored]:
        centre = look.require(self.memory_id)
        same, earlier, later = _around(centre)
        beside = [r for r in look.find(both(where, same), order="seq") if r.id != centre.id]
        here = sorted([*beside, centre], key=_moment)
        at = next(i for i, record in enumerate(here) if record.id == centre.id)
        by = "occurred" if centre.step is None else "step"
        past = look.find(both(where, earlier), order=f"-{by}", limit=self.before)[::-1] + here[:at]
        future = here[at + 1 :] + look.find(both(where, later), order=by, limit=self.after)
        past, future = past[-self.before :] if self.before else [], future[: self.after]
        scored = [Scored(r, 1 / (2 + n)) for n, r in enumerate(reversed(past))][::-1]
        if self.include:
            scored.append(Scored(centre, 1.0))
        return (scored + [Scored(r, 1 / (2 + n)) for n, r in enumerate(future)])[:k]


def _around(centre: Record) -> tuple[Where, Where, Where]:
    """Returns the filters at the same step (or time), before it and after it."""
    if centre.step is not None:
        at = centre.step
        return Where(step_from=at, step_to=at), Where(step_to=at - 1), Where(step_from=at + 1)
    time = centre.occurred
    same = Where(since=time, until=time)
    return same, Where(until=time) & ~same, Where(since=time) & ~same


def _moment(record: Record) -> tuple[float, float, str]:
    return record.occurred, record.created, record.id


def _numbers(vector: Sequence[float]) -> tuple[float, ...]:
    try:
        return tuple(map(float, vector))
    except (TypeError, ValueError):
        raise MemoryRetrievalException(f"an embedding is a list of numbers, not {vector!r:.80}") from None


POOL: Final = 50  # the fewest candidates of each part of a weighted search


@dataclass(frozen=True, kw_only=True)
class Compound(Strategy):
    """Strategies joined by 'and' or 'or', nested to any depth."""

    parts: tuple[Strategy, ...]
    how: str = "and"

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        if self.how not in ("and", "or") or not self.parts:
            raise MemoryRetrievalException("a compound search joins strategies by 'and' or 'or'")

    @property
    def sorts(self) -> bool:  # type: ignore[override]
        return any(part.sorts or part.ages for part in self.parts)

    @property
    def ages(self) -> bool:  # type: ignore[override]
        return any(part.ages for part in self.parts)

    def where(self, look: Look) -> Where | None:
        filters = [part.where(look) for part in self.parts]
        known = tuple(one for one in filters if one is not None)
        if len(known) < len(filters):
            return None
        return Where(every=known) if self.how == "and" else Where(some=known)

    def score(self, look: Look, record: Record) -> float:
        owns = [(part, part.where(look)) for part in self.parts]
        scores = [part.score(look, record) for part, own in owns if own is None or own.matches(record)]
        return sum(scores) / len(self.parts)

    def find(self, look: Look, where: Where, k: int | None) -> list[Scored]:
        return self._all(look, where, k) if self.how == "and" else self._any(look, where, k)

    def _all(self, look: Look, where: Where, k: int | None) -> list[Scored]:
        owns = [(part, part.where(look)) for part in self.parts]
        filters = [part for part, own in owns if own is not None]
        ranking = [part for part, own in owns if own is None]
        joined = Where(every=(where, *(own for _, own in owns if own is not None)))
        if not ranking:
            found = look.find(joined, order=self.order, limit=None if self.sorts else k)
            scored = [Scored(one, _mean([part.score(look, one) for part in filters])) for one in found]
            return sorted(scored, key=by_score)[:k]
        enough = _pool_size(k) if len(ranking) == 1 else None
        first, *others = [{one.record.id: one for one in part.find(look, joined, enough)} for part in ranking]
        scored = []
        for id, (record, score) in first.items():
            if all(id in other for other in others):
                scores = [score, *(other[id].score for other in others)]
                scores += [part.score(look, record) for part in filters]
                scored.append(Scored(record, _mean(scores)))
        return sorted(scored, key=by_score)[:k]

    def _any(self, look: Look, where: Where, k: int | None) -> list[Scored]:
        best: dict[str, Scored] = {}
        for part in self.parts:
            for one in part.find(look, where, k):
                if one.record.id not in best or one.score > best[one.record.id].score:
                    best[one.record.id] = one
        return sorted(best.values(), key=by_score)[:k]


@dataclass(frozen=True, kw_only=True)
class Weighted(Strategy):
    """The weighted mean of several strategies' scores; one that does not find a memory counts as 0."""

    parts: tuple[tuple[Strategy, float], ...]

    def __post_init__(self) -> None:
        given = self.parts.items() if isinstance(self.parts, Mapping) else self.parts
        weighed = [
            (part, check_number(weight, "each of the weights", error=MemoryRetrievalException))
            for part, weight in given
        ]
        object.__setattr__(self, "parts", tuple(weighed))
        if not self.total:
            raise MemoryRetrievalException("a weighted search needs weights from 0 up, some above 0")

    @property
    def ages(self) -> bool:  # type: ignore[override]
        return any(part.ages for part, _ in self.parts)

    @property
    def total(self) -> float:
        return sum(weight for _, weight in self.parts)

    def find(self, look: Look, where: Where, k: int | None) -> list[Scored]:
        records: dict[str, Record] = {}
        sums: dict[str, float] = {}
        for part, weight in self.parts:
            for record, score in part.find(look, where, _pool_size(k)) if weight else ():
                records[record.id] = record
                sums[record.id] = sums.get(record.id, 0.0) + weight * score
        best = sorted(sums.items(), key=lambda item: -item[1])[:k]
        return [Scored(records[id], total / self.total) for id, total in best]


@dataclass(frozen=True, kw_only=True)
class MemoryQuery:
    """A query: a strategy, and the memories it searches."""

    strategy: Strategy = field(default_factory=lambda: Attribute(fields={}))
    kinds: tuple[Kind, ...] | None = None
    tiers: tuple[Tier, ...] | None = None
    k: int | None = 10

    def __post_init__(self) -> None:
        check_limit(self.k, "k", least=0, error=MemoryRetrievalException)

    def answer(self, look: Look) -> list[Scored]:
        """Returns the memories that match, best first."""
        return self.strategy.find(look, Where(kinds=self.kinds, tiers=self.tiers), self.k)


def _pool_size(k: int | None) -> int | None:
    """Returns how many candidates to rank, so that other scores can still reorder them."""
    return None if k is None else max(POOL, 10 * k)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
