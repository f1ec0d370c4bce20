"""The calls that name an agent: each is one of the agent's own `MemorySpace`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.validate import Json
from .entries import Entry
from .retrieval import Tiers, Types
from .space import MemorySpace


class AgentCalls:
    """What can be stored, asked and done for one agent by its id."""

    def get_memory_space(self, agent_id: str) -> MemorySpace:
        """The memory of one agent."""
        raise NotImplementedError

    # Storing.

    def store_agent_state(
        self, agent_id: str, state_data: Any, step_number: int, priority: float = 1.0
    ) -> str:
        return self.get_memory_space(agent_id).store_state(state_data, step_number, priority)

    def store_agent_interaction(
        self, agent_id: str, interaction_data: Any, step_number: int, priority: float = 1.0
    ) -> str:
        return self.get_memory_space(agent_id).store_interaction(interaction_data, step_number, priority)

    def store_agent_action(
        self, agent_id: str, action_data: Any, step_number: int, priority: float = 1.0
    ) -> str:
        return self.get_memory_space(agent_id).store_action(action_data, step_number, priority)

    def store_batch(self, agent_id: str, memories: Sequence[Mapping[str, Any]]) -> list[str]:
        """Stores many at once, all or none: dicts with contents, step_number, priority and memory_type."""
        return self.get_memory_space(agent_id).store_batch(memories)

    # Retrieving.

    def retrieve_state_by_id(self, agent_id: str, memory_id: str) -> Entry | None:
        return self.get_memory_space(agent_id).retrieve_state_by_id(memory_id)

    def retrieve_recent_states(
        self, agent_id: str, count: int = 10, memory_type: Types = None
    ) -> list[Entry]:
        return self.get_memory_space(agent_id).retrieve_recent_states(count, memory_type)

    def retrieve_similar_states(
        self, agent_id: str, query_state: Any, k: int = 5, memory_type: Types = None
    ) -> list[Entry]:
        return self.get_memory_space(agent_id).retrieve_similar_states(query_state, k, memory_type)

    def retrieve_by_time_range(
        self,
        agent_id: str,
        start_step: int | None = None,
        end_step: int | None = None,
        memory_type: Types = None,
    ) -> list[Entry]:
        return self.get_memory_space(agent_id).retrieve_by_time_range(start_step, end_step, memory_type)

    def retrieve_by_attributes(
        self, agent_id: str, attributes: Mapping[str, Json], memory_type: Types = None
    ) -> list[Entry]:
        return self.get_memory_space(agent_id).retrieve_by_attributes(attributes, memory_type)

    def hybrid_retrieve(
        self,
        agent_id: str,
        query_state: Any,
        k: int = 5,
        memory_type: Types = None,
        vector_weight: float = 0.7,
        attribute_weight: float = 0.3,
    ) -> list[Entry]:
        space = self.get_memory_space(agent_id)
        return space.hybrid_retrieve(query_state, k, memory_type, vector_weight, attribute_weight)

    def search_by_embedding(
        self, agent_id: str, query_embedding: Sequence[float], k: int = 5, memory_type: Types = None,
        memory_tiers: Tiers = None,
    ) -> list[Entry]:  # fmt: skip
        space = self.get_memory_space(agent_id)
        return space.search_by_embedding(query_embedding, k, memory_type, memory_tiers)

    def search_by_content(
        self, agent_id: str, content_query: str | Mapping[str, Json], k: int = 5, memory_type: Types = None
    ) -> list[Entry]:
        return self.get_memory_space(agent_id).search_by_content(content_query, k, memory_type)

    def get_memory_snapshots(self, agent_id: str, steps: Sequence[int]) -> dict[int, Entry | None]:
        return self.get_memory_space(agent_id).get_memory_snapshots(steps)

    def get_attribute_change_history(
        self,
        agent_id: str,
        attribute_name: str,
        start_step: int | None = None,
        end_step: int | None = None,
    ) -> list[dict[str, Any]]:
        space = self.get_memory_space(agent_id)
        return space.get_attribute_change_history(attribute_name, start_step, end_step)

    # Keeping.

    def get_memory_statistics(self, agent_id: str) -> dict[str, Any]:
        return self.get_memory_space(agent_id).get_statistics()

    def flush_to_ltm(self, agent_id: str, include_stm: bool = True) -> dict[str, int]:
        return self.get_memory_space(agent_id).flush_to_ltm(include_stm)

    def clear_agent_memory(self, agent_id: str, memory_tiers: Tiers = None) -> int:
        """Deletes an agent's memories, or those of some tiers; how many there were."""
        return self.get_memory_space(agent_id).clear(memory_tiers)

    def set_importance_score(self, agent_id: str, memory_id: str, importance_score: float) -> bool:
        return self.get_memory_space(agent_id).set_importance_score(memory_id, importance_score)

    def trigger_event(self, agent_id: str, event: str, data: Mapping[str, Any] | None = None) -> list[Any]:
        return self.get_memory_space(agent_id).trigger_event(event, data)
