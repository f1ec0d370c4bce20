"""A single memory, the port of stores that keep them, and one store that does."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ...core.record import Kind, Record
from ...memory import Memory
from ...views import Semantic
from ..opening import OwnsMemory, Place, run


@dataclass
class MemoryItem:
    """A memory as it was when it was read."""

    id: str
    content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    created_at: datetime = field(default_factory=datetime.now)
    importance: float = 0.5
    access_count: int = 0
    last_accessed: datetime | None = None

    def access(self) -> None:
        """Counts a use of this item; what a store's `search` finds is counted by itself."""
        self.access_count += 1
        self.last_accessed = datetime.now()  # noqa: DTZ005  local time, as the other times of an item


class MemoryStore(ABC):
    """What a store of memories does; inherit from it for one of your own."""

    @abstractmethod
    async def add(self, item: MemoryItem) -> None:
        """Adds a memory."""

    @abstractmethod
    async def get(self, id: str) -> MemoryItem | None:
        """A memory by its id."""

    @abstractmethod
    async def search(self, query: str, limit: int = 5) -> list[MemoryItem]:
        """The memories that matter for a query, best first."""

    @abstractmethod
    async def delete(self, id: str) -> bool:
        """Whether there was such a memory."""


class FactStore(OwnsMemory, MemoryStore):
    """Memories as facts of a `Memory`, found by meaning and by words. An id that exists is replaced."""

    def __init__(self, *, memory: Place = None, scope: str = "default") -> None:
        self._take(memory)
        self.scope = scope
        self._facts = Semantic(self.memory, scope=scope)

    async def add(self, item: MemoryItem) -> None:
        await run(self.memory, self._add, item)

    async def get(self, id: str) -> MemoryItem | None:
        found = await run(self.memory, self._facts.get, id)
        return None if found is None else item_of(found)

    async def search(self, query: str, limit: int = 5) -> list[MemoryItem]:
        hits = await run(self.memory, self._facts.search, query, limit)
        return [item_of(hit.record) for hit in hits]

    async def delete(self, id: str) -> bool:
        return await run(self.memory, self._facts.forget, id)

    def _add(self, item: MemoryItem) -> None:
        self.memory.remember(
            item.content,
            scope=self.scope,
            kind=Kind.FACT,
            id=item.id,
            importance=item.importance,
            occurred=item.created_at,
            meta=item.metadata,
            keep_duplicates=True,
        )


def item_of(record: Record, more: Mapping[str, Any] | None = None) -> MemoryItem:
    """A record as an item, with what else is known of it in its metadata."""
    whole = record.whole
    return MemoryItem(
        id=whole.id,
        content=whole.text,
        metadata={**whole.meta, **(more or {})},
        created_at=datetime.fromtimestamp(whole.occurred),  # noqa: DTZ006  as `datetime.now` gives it
        importance=whole.importance,
        access_count=whole.uses,
        last_accessed=None if whole.last_used is None else datetime.fromtimestamp(whole.last_used),  # noqa: DTZ006
    )


def short_id(memory: Memory, scope: str) -> str:
    """Eight characters that no record of the scope has."""
    while True:
        id = str(uuid.uuid4())[:8]
        if memory.get(id, scope=scope) is None:
            return id
