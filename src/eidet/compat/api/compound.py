"""Strategies joined: nested and/or, and weighed against each other; the query that asks them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...core.record import Kind, Record, Tier
from ...core.where import Where
from ..opening import check_limit, check_number
from .errors import MemoryRetrievalException
from .ranking import Importance
from .reader import Look, Scored, by_score
from .strategies import Attribute, Ranked, Strategy, Temporal, TimeWindow

POOL: Final = 50  # of each part of a weighted search, at least


@dataclass(frozen=True, kw_only=True)
class Compound:
    """Strategies joined by 'and' or 'or', nested as deep as you like."""

    parts: tuple[Strategy, ...]
    how: str = "and"

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        if self.how not in ("and", "or") or not self.parts:
            raise MemoryRetrievalException("a compound search joins strategies by 'and' or 'or'")

    @property
    def graded(self) -> bool:
        return any(part.graded for part in self.parts)

    def where(self, look: Look) -> Where | None:
        filters = [part.where(look) for part in self.parts]
        known = tuple(one for one in filters if one is not None)
        if len(known) < len(filters):
            return None
        if self.how == "and":
            return Where(every=known)
        return Where(some=known)

    def score(self, look: Look, record: Record) -> float:
        scores = [part.score(look, record) for part in self._holding(look, record)]
        return sum(scores) / len(self.parts)

    def _holding(self, look: Look, record: Record) -> Iterator[Strategy]:
        for part in self.parts:
            own = part.where(look)
            if own is None or own.matches(record):
                yield part

    def find(self, look: Look, where: Where, k: int | None) -> list[Scored]:
        return self._all(look, where, k) if self.how == "and" else self._any(look, where, k)

    def _all(self, look: Look, where: Where, k: int | None) -> list[Scored]:
        filters: list[Strategy] = []
        ranking: list[Strategy] = []
        joined = [where]
        for part in self.parts:
            own = part.where(look)
            if own is None:
                ranking.append(part)
            else:
                filters.append(part)
                joined.append(own)
        answers, records = self._candidates(look, Where(every=tuple(joined)), filters, ranking, k)
        scored = []
        for record in records:
            scores = [part.score(look, record) for part in filters]
            scores += [answer[record.id].score for answer in answers]
            scored.append(Scored(record, _mean(scores)))
        return sorted(scored, key=by_score)[:k]

    def _candidates(
        self, look: Look, where: Where, filters: list[Strategy], ranking: list[Strategy], k: int | None
    ) -> tuple[list[dict[str, Scored]], Sequence[Record]]:
        """The answer of each ranking strategy by id, and the records that pass all parts."""
        if not ranking:
            limit = None if self.graded else k
            return [], look.find(where, order="-occurred", limit=limit)
        enough = _pool_size(filters, k) if len(ranking) == 1 else None
        answers = [{one.record.id: one for one in part.find(look, where, enough)} for part in ranking]
        return answers, list(_in_all(answers))

    def _any(self, look: Look, where: Where, k: int | None) -> list[Scored]:
        best: dict[str, Scored] = {}
        for part in self.parts:
            for one in part.find(look, where, k):
                if one.record.id not in best or one.score > best[one.record.id].score:
                    best[one.record.id] = one
        return sorted(best.values(), key=by_score)[:k]


@dataclass(frozen=True, kw_only=True)
class Weighted(Ranked):
    """The weighted mean of several strategies' scores; one that does not find a memory gives 0."""

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
    def total(self) -> float:
        return sum(weight for _, weight in self.parts)

    def find(self, look: Look, where: Where, k: int | None) -> list[Scored]:
        pool = None if k is None else max(POOL, 10 * k)
        records: dict[str, Record] = {}
        sums: dict[str, float] = {}
        for part, weight in self.parts:
            for record, score in part.find(look, where, pool):
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
        """Best first."""
        return self.strategy.find(look, Where(kinds=self.kinds, tiers=self.tiers), self.k)

    @property
    def goes_by_now(self) -> bool:
        """Whether the answer changes as time goes by, though nothing is written."""
        return _goes_by_now(self.strategy)


def _goes_by_now(strategy: Strategy) -> bool:
    match strategy:
        case Compound():
            return any(map(_goes_by_now, strategy.parts))
        case Weighted():
            return any(_goes_by_now(part) for part, _ in strategy.parts)
        case Temporal():
            return strategy.recency_weight > 0
    return isinstance(strategy, TimeWindow | Importance)


def _pool_size(filters: Sequence[Strategy], k: int | None) -> int | None:
    """The number of candidates to rank, so that graded filters can still reorder them."""
    return k if k is None or not any(part.graded for part in filters) else max(POOL, 10 * k)


def _in_all(answers: Sequence[dict[str, Scored]]) -> Iterator[Record]:
    for id, one in answers[0].items():
        if all(id in other for other in answers[1:]):
            yield one.record


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 1.0
