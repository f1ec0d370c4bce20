"""The door of the memory management system: `MemoryManager`, `ConversationContext` and `Agent`."""

from __future__ import annotations

from .conversation_context import ConversationContext, History
from .manager_config import MemoryConfig
from .memory_entry import MemoryEntry, MemoryTypes, Message
from .memory_manager import MemoryManager
from .streaming_agent import Agent

__all__ = [
    "Agent",
    "ConversationContext",
    "History",
    "MemoryConfig",
    "MemoryEntry",
    "MemoryManager",
    "MemoryTypes",
    "Message",
]
