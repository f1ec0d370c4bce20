"""Memory types for agents: working, conversation, semantic and episodic memory, and an agent with them.

items      MemoryItem, MemoryStore        working_memory, conversation_memory, semantic, episodic
embedding  EmbeddingService               system             AgentMemorySystem, memory-aware prompts
client     the Messages API               agent_with_memory  AgentWithMemory; tools: what it may call
"""

from __future__ import annotations

from ..messages.message import Message
from .agent_with_memory import AgentWithMemory, OutOfTurns
from .conversation_memory import ConversationMemory
from .embedding import EmbeddingService
from .episodic import Episode, EpisodicMemory
from .items import FactStore, MemoryItem, MemoryStore
from .semantic import SemanticMemory
from .system import AgentMemorySystem, create_memory_aware_prompt
from .tools import Tool
from .working_memory import WorkingMemory

__all__ = [
    "AgentMemorySystem",
    "AgentWithMemory",
    "ConversationMemory",
    "EmbeddingService",
    "Episode",
    "EpisodicMemory",
    "FactStore",
    "MemoryItem",
    "MemoryStore",
    "Message",
    "OutOfTurns",
    "SemanticMemory",
    "Tool",
    "WorkingMemory",
    "create_memory_aware_prompt",
]
