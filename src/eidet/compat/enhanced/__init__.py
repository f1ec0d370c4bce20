"""The door of the advanced memory guide: `EnhancedAgentMemory` and interchangeable `MemoryStore`s."""

from __future__ import annotations

from .agent_memory import EnhancedAgentMemory
from .stores import InMemoryStore, MemoryStore, RedisStore, SqliteStore
from .vector import VectorMemoryStore
from .working_store import Task, ToolCall, WorkingStore

__all__ = [
    "EnhancedAgentMemory",
    "InMemoryStore",
    "MemoryStore",
    "RedisStore",
    "SqliteStore",
    "Task",
    "ToolCall",
    "VectorMemoryStore",
    "WorkingStore",
]
