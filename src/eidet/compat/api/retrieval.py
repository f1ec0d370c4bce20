"""Queries of one agent's memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.condition import Condition, resolve, same
from ...core.record import Kind, Record
from ...core.validate import Json
from ...core.where import Where
from ..opening import check_whole
from .builder import QueryBuilder, strategy_of
from .entries import Entry, contents_as_json, kinds_of, tiers_of
from .errors import MemoryRetrievalException
from .ranking import Content, Hybrid, MemoryQuery, Similarity
from .reader import AgentReader, Look, state_as_text
from .strategies import Attribute, Strategy, check_steps


def _state_at(look: Look, step: int) -> Record | None:
    """Returns the newest state that was stored for a step, or None."""
    found = look.find(Where(step_from=step, step_to=step, kinds=(Kind.STATE,)), order="-created", limit=1)
    return found[0] if found else None


def _changes_of(look: Look, name: str, start: int | None, end: int | None) -> list[dict[str, Any]]:
    """Lists the changes of an attribute (a dotted path) between states; the first value counts as one."""
    if not isinstance(name, str) or not name:
        raise MemoryRetrievalException(f"attribute_name is a text, not {name!r}")
    steps = name.split(".")
    there = Condition(("data", *steps), "exists", True)
    where = Where(step_from=start, step_to=end, kinds=(Kind.STATE,), conditions=(there,))
    changes: list[dict[str, Any]] = []
    for record in look.find(where, order="step"):
        value = resolve(record.data, steps)
        before = changes[-1]["new_value"] if changes else None
        if not changes or not same(before, value):
            changes.append(_change(record, before, value))
    return changes


def _change(record: Record, before: Json, after: Json) -> dict[str, Any]:
    return {
        "memory_id": record.id,
        "step_number": record.step,
        "timestamp": record.occurred,
        "previous_value": before,
        "new_value": after,
    }


@dataclass(frozen=True, kw_only=True)
class _Steps(Strategy):
    """Memories between two steps, both included, in the order of their steps; `-step` is newest first."""

    start: int | None = None
    end: int | None = None
    order: str = "step"

    def __post_init__(self) -> None:
        check_steps(self.start, self.end)

    def where(self, look: Look) -> Where | None:  # noqa: ARG002
        return Where(step_from=self.start, step_to=self.end)


Types = str | Iterable[str] | None
Tiers = str | Iterable[str] | None


class Retrieval(AgentReader):
    """The queries of an agent's memories; answers are cached for a while."""

    # Retrieving.

    def retrieve_state_by_id(self, memory_id: str) -> Entry | None:
        """Returns a memory in full, whatever its tier shows, or None. Counts as a retrieval."""
        with self._translate_errors("the memory was not read", memory_id=memory_id):
            found = self._look().get(memory_id)
            if found is None:
                return None
            self._count_use(found)
            return {**self._entry(found), "contents": contents_as_json(self._whole(found))}

    def retrieve_recent_states(
        self, count: int = 10, memory_type: Types = None, *, memory_tiers: Tiers = None
    ) -> list[Entry]:
        """Returns the memories of the latest steps, newest first."""
        return self.search(_Steps(order="-step"), _check_count(count, "count"), memory_type, memory_tiers)

    def retrieve_by_time_range(
        self,
        start_step: int | None = None,
        end_step: int | None = None,
        memory_type: Types = None,
        *,
        agent_id: str | None = None,
        memory_tiers: Tiers = None,
    ) -> list[Entry]:
        """Returns the memories between two steps, both included, in order of steps."""
        self._check_agent(agent_id)
        return self.search(_Steps(start=start_step, end=end_step), None, memory_type, memory_tiers)

    def retrieve_by_attributes(
        self,
        attributes: Mapping[str, Json],
        memory_type: Types = None,
        *,
        agent_id: str | None = None,
        memory_tiers: Tiers = None,
        k: int | None = None,
    ) -> list[Entry]:
        """Finds memories with these values, newest first; names may be dotted paths."""
        self._check_agent(agent_id)
        return self.search(Attribute(fields=attributes), k, memory_type, memory_tiers)

    def retrieve_similar_states(
        self,
        query_state: Any,
        k: int = 5,
        memory_type: Types = None,
        *,
        agent_id: str | None = None,
        memory_tiers: Tiers = None,
    ) -> list[Entry]:
        """Finds the nearest by vector and, among those, the closest by attributes."""
        self._check_agent(agent_id)
        return self.hybrid_retrieve(query_state, k, memory_type, memory_tiers=memory_tiers)

    def hybrid_retrieve(
        self,
        query_state: Any,
        k: int = 5,
        memory_type: Types = None,
        vector_weight: float = 0.7,
        attribute_weight: float = 0.3,
        *,
        memory_tiers: Tiers = None,
    ) -> list[Entry]:
        """Ranks by a weighted mean of vector and attribute similarity; numbers count by their closeness."""
        near = Hybrid(state=query_state, vector_weight=vector_weight, attribute_weight=attribute_weight)
        return self.search(near, _check_count(k, "k"), memory_type, memory_tiers)

    def search_by_embedding(
        self,
        query_embedding: Sequence[float],
        k: int = 5,
        memory_type: Types = None,
        memory_tiers: Tiers = None,
    ) -> list[Entry]:
        """Finds the memories nearest to a vector of the memory's own embedder."""
        return self.search(
            Similarity(vector=query_embedding), _check_count(k, "k"), memory_type, memory_tiers
        )

    def search_by_content(
        self,
        content_query: str | Mapping[str, Json],
        k: int = 5,
        memory_type: Types = None,
        memory_tiers: Tiers = None,
    ) -> list[Entry]:
        """Finds memories about a text (or a dict put into words), by meaning and by words."""
        with self._translate_errors("the query cannot be compared"):
            text = state_as_text(content_query)
        if not text.strip():
            raise MemoryRetrievalException("content_query is empty: say what to look for")
        return self.search(Content(text=text), _check_count(k, "k"), memory_type, memory_tiers)

    def search(
        self,
        query: Strategy | MemoryQuery | QueryBuilder | str,
        k: int | None = 10,
        memory_type: Types = None,
        memory_tiers: Tiers = None,
    ) -> list[Entry]:
        """Finds memories by any strategy, best first; a whole query sets the other arguments itself."""
        return [entry for entry, _ in self.search_scored(query, k, memory_type, memory_tiers)]

    def search_scored(
        self,
        query: Strategy | MemoryQuery | QueryBuilder | str,
        k: int | None = 10,
        memory_type: Types = None,
        memory_tiers: Tiers = None,
    ) -> list[tuple[Entry, float]]:
        """Returns what `search` finds, with scores."""
        asked = strategy_of(query)
        if not isinstance(asked, MemoryQuery):
            asked = MemoryQuery(
                strategy=asked,
                kinds=kinds_of(memory_type),
                tiers=tiers_of(memory_tiers),
                k=k,
            )
        return [(self._entry(one.record), one.score) for one in self._answer(asked)]

    def query(self) -> QueryBuilder:
        """Starts a query in words: `space.query().similar_to(state).steps(10, 20).limit(5).run()`."""
        return QueryBuilder(self.search_scored)

    # History.

    def get_memory_snapshots(self, steps: Sequence[int]) -> dict[int, Entry | None]:
        """Returns the state at each step, the newest of several; None for a step without one."""
        snapshots: dict[int, Entry | None] = dict.fromkeys(steps)
        look = self._look()
        with self._translate_errors("the snapshots were not read"):
            for step in steps:
                if (record := _state_at(look, step)) is not None:
                    snapshots[step] = self._entry(record)
        return snapshots

    def get_attribute_change_history(
        self, attribute_name: str, start_step: int | None = None, end_step: int | None = None
    ) -> list[dict[str, Any]]:
        """Lists the changes of an attribute (a dotted path) between states, in order of steps."""
        check_steps(start_step, end_step)
        with self._translate_errors("the changes were not read"):
            return _changes_of(self._look(), attribute_name, start_step, end_step)

    # Cache.

    def clear_cache(self) -> None:
        self.cache.clear()

    def set_cache_ttl(self, ttl: float) -> None:
        """Sets for how many seconds answers are cached; 0 disables the cache."""
        self.cache.set_ttl(ttl)

    def cache_info(self) -> dict[str, Any]:
        return self.cache.info()

    # Inside.

    def _check_agent(self, agent_id: str | None) -> None:
        if agent_id is not None and agent_id != self.agent_id:
            raise MemoryRetrievalException(
                f"this space is the memory of agent {self.agent_id!r}, not of {agent_id!r}: ask "
                f"api.get_memory_space({agent_id!r})"
            )


def _check_count(count: int, name: str) -> int:
    return check_whole(count, name, least=1, error=MemoryRetrievalException)
