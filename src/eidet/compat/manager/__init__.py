"""The door of the memory management system: `MemoryManager`, `ConversationContext` and `Agent`."""

from __future__ import annotations

from ..messages.message import Message
from .entries import MemoryConfig, MemoryEntry, MemoryTypes
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
