"""The memories of many agents behind one object."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Mapping
from functools import update_wrapper
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from ...core.scope import check_scope
from ...core.where import Where
from ...memory import Memory
from ...upkeep import Maintained
from ..opening import OwnsMemory, Place, is_shared, open_memory
from .config import MemoryConfig
from .entries import label_of
from .errors import (
    MemoryConfigException,
    MemoryMaintenanceException,
    MemoryRetrievalException,
    translate_errors,
)
from .files import load_file, save_file
from .space import Events, Hook, MemorySpace

T = TypeVar("T")


def _of_agent(method: Callable[..., T]) -> Callable[..., T]:
    """Returns a method of a space as one of the API, which takes the agent's id first."""

    def call(self: AgentMemoryAPI, agent_id: str, *args: Any, **kwargs: Any) -> T:
        return method(self.get_memory_space(agent_id), *args, **kwargs)

    own, *rest = inspect.signature(method).parameters.values()
    named = inspect.Parameter("agent_id", own.kind, annotation="str")
    others = [one for one in rest if one.name != "agent_id"]
    update_wrapper(call, method).__signature__ = inspect.signature(method).replace(  # type: ignore[attr-defined]
        parameters=[own, named, *others]
    )
    return call


class AgentMemoryAPI(OwnsMemory):
    """Stores and finds states, actions and interactions of agents. Thread-safe.

    Each agent has a scope of its own: its id, below the base `scope` if one is given. `memory` is a
    Memory to share, or a path or URL; by default the config has the place (RAM, or the file of its
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
        """Returns the memory of one agent, the same object each time."""
        label_of(agent_id)
        with self._lock:
            if agent_id not in self._spaces:
                given: dict[str, Any] = {"memory": self.memory, "config": self.config, "scope": self._scope}
                self._spaces[agent_id] = MemorySpace(agent_id, events=self._events, **given)
            return self._spaces[agent_id]

    # For one agent by its id: what its space does.

    store_agent_state = _of_agent(MemorySpace.store_state)
    store_agent_interaction = _of_agent(MemorySpace.store_interaction)
    store_agent_action = _of_agent(MemorySpace.store_action)
    store_batch = _of_agent(MemorySpace.store_batch)
    retrieve_state_by_id = _of_agent(MemorySpace.retrieve_state_by_id)
    retrieve_recent_states = _of_agent(MemorySpace.retrieve_recent_states)
    retrieve_similar_states = _of_agent(MemorySpace.retrieve_similar_states)
    retrieve_by_time_range = _of_agent(MemorySpace.retrieve_by_time_range)
    retrieve_by_attributes = _of_agent(MemorySpace.retrieve_by_attributes)
    hybrid_retrieve = _of_agent(MemorySpace.hybrid_retrieve)
    search_by_embedding = _of_agent(MemorySpace.search_by_embedding)
    search_by_content = _of_agent(MemorySpace.search_by_content)
    get_memory_snapshots = _of_agent(MemorySpace.get_memory_snapshots)
    get_attribute_change_history = _of_agent(MemorySpace.get_attribute_change_history)
    get_memory_statistics = _of_agent(MemorySpace.get_statistics)
    flush_to_ltm = _of_agent(MemorySpace.flush_to_ltm)
    clear_agent_memory = _of_agent(MemorySpace.clear)
    set_importance_score = _of_agent(MemorySpace.set_importance_score)
    trigger_event = _of_agent(MemorySpace.trigger_event)

    # Keeping.

    def agents(self) -> list[str]:
        """Lists the agents that have memories, whichever process stored them."""
        known = {space.scope: agent_id for agent_id, space in self._spaces.items()}
        with translate_errors(MemoryRetrievalException, "the agents were not listed"):
            paths = _agents_in(self.memory, self._scope, set(known))
        return [known.get(path) or unquote(path.rpartition("/")[2]) for path in paths]

    def _list_agents(self, agent_id: str | None) -> list[str]:
        """Returns the named agent alone, otherwise all agents."""
        return [agent_id] if agent_id is not None else self.agents()

    def force_memory_maintenance(self, agent_id: str | None = None) -> dict[str, Maintained]:
        """Brings the tiers of one agent, or of all, within their limits. Returns what was done, by agent.

        If an agent fails, the others are still maintained, and its error is raised at the end.
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

        The place of the memories cannot be changed while they are open.
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
        """Calls `hook` at each such event with its data, a dict, and the space.

        Events: state_stored, action_stored, interaction_stored, maintenance, and any of your own. If a
        hook returns `{"store_memory": True, "memory_data": …}`, that memory is stored.
        """
        self._events.register(event, hook, priority)

    def save(self, path: str | Path, agent_id: str | None = None) -> int:
        """Writes one agent's memories, or all agents', to a .json or .jsonl file. Returns how many."""
        scopes = [self.get_memory_space(name).scope for name in self._list_agents(agent_id)]
        with translate_errors(MemoryRetrievalException, f"{path} was not written"):
            return save_file(self.memory, scopes, Path(path))

    def load(self, path: str | Path) -> int:
        """Loads a saved file (or plain entries) for the agents it names; a damaged one changes nothing."""
        return load_file(self, Path(path), self._scope)


def _config_of(config: MemoryConfig | Mapping[str, Any] | None) -> MemoryConfig:
    if isinstance(config, MemoryConfig):
        return config
    if config is None:
        return MemoryConfig()
    if not isinstance(config, Mapping):
        raise MemoryConfigException(f"config must be a MemoryConfig or a dict, not {config!r}")
    return MemoryConfig().but(config)


def _agents_in(memory: Memory, scope: str | None, own: set[str]) -> list[str]:
    """Lists the scopes of agents: those directly below the base, or without one, those with their records."""
    if scope is not None:
        depth = scope.count("/") + 1
        return [path for path in memory.scopes(scope) if path != scope and path.count("/") == depth]
    paths = [path for path in memory.scopes() if "/" not in path]
    return [path for path in paths if path in own or _is_agent(memory, path)]


def _is_agent(memory: Memory, path: str) -> bool:
    return bool(memory.find(Where(kinds=("state", "action", "interaction")), scope=path, limit=1))
