"""A query built by chained calls: `space.query().similar_to(state).steps(10, 20).run()`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.validate import Json
from .entries import Entry, kinds_of, tiers_of
from .errors import MemoryRetrievalException
from .ranking import Compound, Content, Importance, MemoryQuery, Narrative, Similarity, Weighted
from .strategies import Attribute, ContentPath, Example, Location, StepRange, Strategy, Temporal, TimeWindow

Run = Callable[[MemoryQuery], list[tuple[Entry, float]]]


@dataclass(frozen=True, slots=True)
class QueryBuilder:
    """Every call returns a new builder. All conditions must hold, unless joined by `any_of`.

    Strategies added by `weigh` form one further condition, the weighted mean of their scores.
    """

    _run: Run | None = None
    _parts: tuple[Strategy, ...] = ()
    _weights: tuple[tuple[Strategy, float], ...] = ()
    _query: MemoryQuery = field(default_factory=MemoryQuery)

    def match(self, strategy: QueryBuilder | Strategy) -> QueryBuilder:
        """Adds a strategy, or what another query finds."""
        return replace(self, _parts=(*self._parts, _strategy(strategy)))

    def similar_to(
        self,
        state: Mapping[str, Json] | str | None = None,
        *,
        vector: Sequence[float] | None = None,
        least: float = 0.0,
    ) -> QueryBuilder:
        return self.match(Similarity(state=state, vector=vector, least=least))

    def about(self, text: str, *, least: float = 0.0) -> QueryBuilder:
        return self.match(Content(text=text, least=least))

    def steps(self, start: int | None = None, end: int | None = None) -> QueryBuilder:
        return self.match(Temporal(start_step=start, end_step=end))

    def between(self, since: float | None = None, until: float | None = None) -> QueryBuilder:
        return self.match(Temporal(since=since, until=until))

    def recent_first(self, weight: float = 1.0, *, half_life: float = 86_400.0) -> QueryBuilder:
        return self.match(Temporal(recency_weight=weight, half_life=half_life))

    def around_step(self, step: int, before: int = 5, after: int = 5) -> QueryBuilder:
        return self.match(StepRange(reference=step, before=before, after=after))

    def around_memory(self, memory_id: str, before: int = 3, after: int = 3) -> QueryBuilder:
        return self.match(Narrative(memory_id=memory_id, before=before, after=after))

    def within(self, *, minutes: float = 0.0, hours: float = 0.0, days: float = 0.0) -> QueryBuilder:
        return self.match(TimeWindow(minutes=minutes, hours=hours, days=days))

    def near(self, position: Sequence[float], radius: float) -> QueryBuilder:
        return self.match(Location(position=position, radius=radius))

    def in_box(self, low: Sequence[float], high: Sequence[float]) -> QueryBuilder:
        return self.match(Location(low=low, high=high))

    def attribute(
        self, name: str, value: Json, *, case_sensitive: bool = True, regex: bool = False
    ) -> QueryBuilder:
        return self.match(Attribute(fields={name: value}, case_sensitive=case_sensitive, regex=regex))

    def like(self, pattern: Mapping[str, Json]) -> QueryBuilder:
        return self.match(Example(pattern=pattern))

    def path(self, path: str, operator: str = "exists", value: Json = True) -> QueryBuilder:
        return self.match(ContentPath(path=path, operator=operator, value=value))

    def important(
        self,
        minimum: float | None = None,
        maximum: float | None = None,
        *,
        top: int | None = None,
        level: str | None = None,
    ) -> QueryBuilder:
        return self.match(Importance(minimum=minimum, maximum=maximum, top=top, level=level))

    def any_of(self, *choices: QueryBuilder | Strategy) -> QueryBuilder:
        return self.match(Compound(parts=tuple(map(_strategy, choices)), how="or"))

    def weigh(self, strategy: QueryBuilder | Strategy, weight: float) -> QueryBuilder:
        return replace(self, _weights=(*self._weights, (_strategy(strategy), weight)))

    def of_type(self, *memory_types: str) -> QueryBuilder:
        return replace(self, _query=replace(self._query, kinds=kinds_of(memory_types)))

    def in_tiers(self, *memory_tiers: str) -> QueryBuilder:
        return replace(self, _query=replace(self._query, tiers=tiers_of(memory_tiers)))

    def limit(self, k: int | None) -> QueryBuilder:
        return replace(self, _query=replace(self._query, k=k))

    def build(self) -> MemoryQuery:
        """Returns the query as a value. Without conditions it finds every memory."""
        parts = list(self._parts)
        if self._weights:
            parts.append(Weighted(parts=self._weights))
        if not parts:
            return self._query
        if len(parts) == 1:
            return replace(self._query, strategy=parts[0])
        return replace(self._query, strategy=Compound(parts=tuple(parts), how="and"))

    def run(self) -> list[Entry]:
        """Returns the memories, best first."""
        return [entry for entry, _ in self.run_scored()]

    def run_scored(self) -> list[tuple[Entry, float]]:
        """Returns the memories with their scores, best first."""
        if self._run is None:
            raise TypeError("this query belongs to no memory space: pass it to space.search(…)")
        return self._run(self.build())


def _strategy(given: Any) -> Strategy:
    if isinstance(given, QueryBuilder):
        return given.build().strategy
    checked: Strategy = strategy_of(given)
    return checked


def strategy_of(given: object) -> Any:
    """Returns a query or a strategy; a plain text becomes a search for its content."""
    if isinstance(given, QueryBuilder):
        return given.build()
    if isinstance(given, str):
        return Content(text=given)
    if not isinstance(given, MemoryQuery | Strategy):
        raise MemoryRetrievalException(f"a search takes a strategy, a query or a text, not {given!r:.80}")
    return given


def query() -> QueryBuilder:
    """Starts a query to pass to `space.search`, or to use as part of another."""
    return QueryBuilder()
