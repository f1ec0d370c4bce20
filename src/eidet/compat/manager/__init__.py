"""The door of the memory management system: `MemoryManager`, `ConversationContext` and `Agent`."""

from __future__ import annotations

from .memory_entry import MemoryConfig, MemoryEntry, MemoryTypes, Message
from .memory_manager import MemoryManager
from .streaming_agent import Agent, ConversationContext, History

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
