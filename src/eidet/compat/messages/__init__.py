"""Message memory of an agent framework: stores with `add_message`, `get_history`, `clear` and the rest.

base       BaseMemoryStore, to use and to inherit from     message    what it holds
limits     by messages, tokens, window, with overflow      search     by meaning, metadata, date
servers    file, PostgreSQL, Redis, S3; which to take; old messages archived
wrappers   stores around stores: encrypted, audited, one per context, and those of your own
summary    old messages summarised; LLMAgent, which stores its own messages
"""

from __future__ import annotations

from .base import BaseMemoryStore
from .limits import InMemoryMemoryStore, SafeMemoryStore, SlidingWindowMemory, TokenLimitedMemoryStore
from .message import Message
from .search import FilterableMemoryStore, SemanticMemoryStore
from .servers import (
    ArchiveMemoryStore,
    AutoCleanupMemory,
    FileMemoryStore,
    PostgresMemoryStore,
    RedisMemoryStore,
    S3MemoryStore,
    default_store,
)
from .summary import App, LLMAgent, RunContext, SummaryMemory
from .wrappers import Around, AuditMemoryStore, EncryptedMemoryStore, ScopedMemoryStore

__all__ = [
    "App",
    "ArchiveMemoryStore",
    "Around",
    "AuditMemoryStore",
    "AutoCleanupMemory",
    "BaseMemoryStore",
    "EncryptedMemoryStore",
    "FileMemoryStore",
    "FilterableMemoryStore",
    "InMemoryMemoryStore",
    "LLMAgent",
    "Message",
    "PostgresMemoryStore",
    "RedisMemoryStore",
    "RunContext",
    "S3MemoryStore",
    "SafeMemoryStore",
    "ScopedMemoryStore",
    "SemanticMemoryStore",
    "SlidingWindowMemory",
    "SummaryMemory",
    "TokenLimitedMemoryStore",
    "default_store",
]
