"""The memories of many agents behind one object."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ...core.scope import check_scope
from ...core.validate import Json
from ...core.where import Where
from ...memory import Memory
from ...upkeep import Maintained
from ..opening import OwnsMemory, Place, is_shared, open_memory
from .config import MemoryConfig
from .entries import Entry, label_of
from .errors import (
    MemoryConfigException,
    MemoryMaintenanceException,
    MemoryRetrievalException,
    translate_errors,
)
from .events import Events, Hook
from .files import load_file, save_file
from .retrieval import Tiers, Types
from .space import MemorySpace


class _AgentCalls:
    """Stores, questions and upkeep for one agent by its id."""

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


class AgentMemoryAPI(OwnsMemory, _AgentCalls):
    """Stores and finds what agents were, did and said. Safe for threads.

    Each agent has a scope of its own: its id, below the base `scope` if one is given. `memory` is a
    Memory to share, or a path or URL; without it the config says where (RAM, or the file of its
    `ltm_config`). `how` are further keywords of `Memory` (embedder, clock …) for one that is opened here.
    """

    def __init__(
        self,
        config: MemoryConfig | Mapping[str, Any] | None = None,
        *,
        memory: Place = None,
        scope: str | None = None,
        **how: Any,
    ) -> None:
        self.config: MemoryConfig = _config_of(config)
        with translate_errors(MemoryConfigException, "the memory cannot be opened"):
            if scope is not None:
                check_scope(scope)
            self.memory: Memory = self.config.open(**how) if memory is None else open_memory(memory, **how)
        self._owned = not is_shared(memory)
        self._scope = scope
        self._events = Events()
        self._spaces: dict[str, MemorySpace] = {}
        self._lock = threading.Lock()

    def get_memory_space(self, agent_id: str) -> MemorySpace:
        """The memory of one agent; the same object each time."""
        space = self._spaces.get(agent_id) if isinstance(agent_id, str) else None
        if space is None:
            label_of(agent_id)
            with self._lock:
                space = self._spaces.get(agent_id)
                if space is None:
                    space = self._spaces[agent_id] = MemorySpace(
                        agent_id,
                        memory=self.memory,
                        config=self.config,
                        scope=self._scope,
                        events=self._events,
                    )
        return space

    # Keeping.

    def agents(self) -> list[str]:
        """The agents that have memories, of this process or not."""
        known = {space.scope: agent_id for agent_id, space in self._spaces.items()}
        with translate_errors(MemoryRetrievalException, "the agents were not listed"):
            paths = _agents_in(self.memory, self._scope, set(known))
        return [known.get(path) or unquote(path.rpartition("/")[2]) for path in paths]

    def _list_agents(self, agent_id: str | None) -> list[str]:
        """The one that is named, else all."""
        return [agent_id] if agent_id is not None else self.agents()

    def force_memory_maintenance(self, agent_id: str | None = None) -> dict[str, Maintained]:
        """Brings the tiers of one agent, or of all, within their limits. Returns what was done, by agent.

        One agent that fails does not keep the others from it.
        """
        done: dict[str, Maintained] = {}
        failed: dict[str, MemoryMaintenanceException] = {}
        for name in self._list_agents(agent_id):
            try:
                done[name] = self.get_memory_space(name).maintain()
            except MemoryMaintenanceException as error:
                failed[name] = error
        if failed:
            name, first = next(iter(failed.items()))
            message = (
                f"maintenance failed for {len(failed)} of {len(failed) + len(done)} agents; {name}: {first}"
            )
            raise MemoryMaintenanceException(
                message, severity=first.severity, context={"failed": list(failed)}
            ) from first
        return done

    def configure_memory_system(self, config: Mapping[str, Any]) -> MemoryConfig:
        """Changes settings by name, such as `cleanup_interval` or `stm_config.ttl`; all of them or none.

        Where memories are kept cannot be changed while they are open.
        """
        if not isinstance(config, Mapping):
            raise MemoryConfigException(f"settings are a dict, not {type(config).__name__}")
        changed = self.config.but(config)
        if changed.place != self.config.place:
            raise MemoryConfigException("where memories are kept cannot be changed while they are open")
        with self._lock:
            self.config = changed
            for space in self._spaces.values():
                space.configure(changed)
        return changed

    # Cache, hooks, files.

    def clear_cache(self) -> None:
        for space in list(self._spaces.values()):
            space.clear_cache()

    def set_cache_ttl(self, ttl: float) -> None:
        """Sets for how many seconds answers are cached, for every agent; 0 disables the cache."""
        self.configure_memory_system({"cache_ttl": ttl})

    def cache_info(self) -> dict[str, Any]:
        """Sums the cache statistics of all agents."""
        infos = [space.cache_info() for space in list(self._spaces.values())]
        summed = ("entries", "memories", "hits", "misses")
        info: dict[str, Any] = {name: sum(one[name] for one in infos) for name in summed}
        info["ttl"] = self.config.cache_ttl
        return info

    def register_hook(self, event: str, hook: Hook, priority: int = 5) -> None:
        """A function to be called at an event with its data (and the space, if it takes two arguments).

        Events: state_stored, action_stored, interaction_stored, maintenance, and any of your own. What a
        hook answers with `{"store_memory": True, "memory_data": …}` is stored.
        """
        self._events.register(event, hook, priority)

    def unregister_hook(self, event: str, hook: Hook) -> bool:
        return self._events.unregister(event, hook)

    def save(self, path: str | Path, agent_id: str | None = None) -> int:
        """Writes one agent's memories, or all agents', to a .json or .jsonl file; how many memories."""
        scopes = {name: self.get_memory_space(name).scope for name in self._list_agents(agent_id)}
        with translate_errors(MemoryRetrievalException, f"{path} was not written"):
            return save_file(self.memory, scopes, Path(path))

    def load(self, path: str | Path) -> int:
        """Reads such a file (or plain entries) into the agents it names; a damaged one changes nothing."""
        return load_file(self, Path(path))


def _config_of(config: MemoryConfig | Mapping[str, Any] | None) -> MemoryConfig:
    if isinstance(config, MemoryConfig):
        return config
    if config is None:
        return MemoryConfig()
    if not isinstance(config, Mapping):
        raise MemoryConfigException(f"config must be a MemoryConfig or a dict, not {config!r}")
    return MemoryConfig().but(config)


def _agents_in(memory: Memory, scope: str | None, own: set[str]) -> list[str]:
    """The scopes of agents: those directly below the base; without one, those that hold what agents store."""
    if scope is not None:
        depth = scope.count("/") + 1
        return [path for path in memory.scopes(scope) if path != scope and path.count("/") == depth]
    paths = [path for path in memory.scopes() if "/" not in path]
    return [path for path in paths if path in own or _is_agent(memory, path)]


def _is_agent(memory: Memory, path: str) -> bool:
    return bool(memory.find(Where(kinds=("state", "action", "interaction")), scope=path, limit=1))
