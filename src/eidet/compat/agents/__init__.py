"""Memory types for agents: working, conversation, semantic and episodic memory, and an agent with them.

working_memory, conversation_memory      what the task needs; what was said
semantic           facts, MemoryItem, MemoryStore and EmbeddingService
system             AgentMemorySystem, episodic memory, memory-aware prompts
agent_with_memory  AgentWithMemory and its tools    client  the Messages API
"""

from __future__ import annotations

from ..messages.message import Message
from .agent_with_memory import AgentWithMemory, OutOfTurns, Tool
from .conversation_memory import ConversationMemory
from .semantic import EmbeddingService, MemoryItem, MemoryStore, SemanticMemory
from .system import AgentMemorySystem, Episode, EpisodicMemory, create_memory_aware_prompt
from .working_memory import WorkingMemory

__all__ = [
    "AgentMemorySystem",
    "AgentWithMemory",
    "ConversationMemory",
    "EmbeddingService",
    "Episode",
    "EpisodicMemory",
    "MemoryItem",
    "MemoryStore",
    "Message",
    "OutOfTurns",
    "SemanticMemory",
    "Tool",
    "WorkingMemory",
    "create_memory_aware_prompt",
]
