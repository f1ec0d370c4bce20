"""Memories of simulated agents: states, actions and interactions by step, in three tiers.

    from eidet.compat.api import AgentMemoryAPI

    memory_api = AgentMemoryAPI()
    memory_api.store_agent_state("agent-123", {"position": [10, 20], "health": 0.85}, step_number=1)
    memory_api.retrieve_similar_states("agent-123", {"health": 0.8})

See `docs/doors/api.md` for the rest.
"""

from __future__ import annotations

from ...upkeep.importance import action_importance, importance, move_score, state_importance
from .api import AgentMemoryAPI
from .builder import QueryBuilder, query
from .config import MemoryConfig, RedisIMConfig, RedisSTMConfig, SQLiteLTMConfig
from .errors import (
    InvalidAgentId,
    MemoryAPIException,
    MemoryConfigException,
    MemoryMaintenanceException,
    MemoryRetrievalException,
    MemoryStoreException,
    Severity,
    severity_of,
)
from .memory_hooks import (
    BaseAgent,
    default_memory_api,
    install_memory_hooks,
    set_default_memory_api,
    with_memory,
)
from .models import ActionData, ActionResult, AgentState
from .ranking import Compound, Content, Importance, MemoryQuery, Narrative, Similarity, Weighted
from .reader import merge_sorted
from .result_cache import cacheable
from .space import MemorySpace
from .strategies import Attribute, ContentPath, Example, Location, StepRange, Strategy, Temporal, TimeWindow

__all__ = [
    "ActionData",
    "ActionResult",
    "AgentMemoryAPI",
    "AgentState",
    "Attribute",
    "BaseAgent",
    "Compound",
    "Content",
    "ContentPath",
    "Example",
    "Importance",
    "InvalidAgentId",
    "Location",
    "MemoryAPIException",
    "MemoryConfig",
    "MemoryConfigException",
    "MemoryMaintenanceException",
    "MemoryQuery",
    "MemoryRetrievalException",
    "MemorySpace",
    "MemoryStoreException",
    "Narrative",
    "QueryBuilder",
    "RedisIMConfig",
    "RedisSTMConfig",
    "SQLiteLTMConfig",
    "Severity",
    "Similarity",
    "StepRange",
    "Strategy",
    "Temporal",
    "TimeWindow",
    "Weighted",
    "action_importance",
    "cacheable",
    "default_memory_api",
    "importance",
    "install_memory_hooks",
    "merge_sorted",
    "move_score",
    "query",
    "set_default_memory_api",
    "severity_of",
    "state_importance",
    "with_memory",
]
