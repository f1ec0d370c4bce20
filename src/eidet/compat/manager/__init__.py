"""The door of the memory management system: `MemoryManager`, `ConversationContext` and `Agent`."""

from __future__ import annotations

from .agent import Agent
from .config import MemoryConfig
from .conversation import ConversationContext, History
from .entries import MemoryEntry, MemoryTypes, Message
from .memory import MemoryManager

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
