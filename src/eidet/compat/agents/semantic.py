"""Semantic memory: facts, found by the cosine of their vectors."""

from __future__ import annotations

import asyncio
import os
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from ...core.draft import Details
from ...core.errors import BadInput, Misconfigured
from ...core.record import Record, Trust
from ...core.validate import clean_text
from ...memory import Memory
from ...models.embed import Embedder, Vectors, embed_checked, embedder_of
from ...models.embed.quantise import list_rows
from ...models.http import HttpEmbedder
from ...views import Semantic
from ..messages.search import embedder_for
from ..opening import (
    OwnsMemory,
    Place,
    check_whole,
    embed_ahead,
    is_blank,
    is_shared,
    list_texts,
    open_with_embedder,
    run,
)


@dataclass
class MemoryItem:
    """A memory as of the time it was read."""

    id: str
    content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    created_at: datetime = field(default_factory=datetime.now)
    importance: float = 0.5
    access_count: int = 0
    last_accessed: datetime | None = None

    def access(self) -> None:
        """Counts a use of this item; `search` counts the items it returns itself."""
        self.access_count += 1
        self.last_accessed = datetime.now()  # noqa: DTZ005  local time, as the other times of an item


class MemoryStore(ABC):
    """The interface of a store of memories; inherit from it to write your own."""

    @abstractmethod
    async def add(self, item: MemoryItem) -> None:
        """Adds a memory."""

    @abstractmethod
    async def get(self, id: str) -> MemoryItem | None:
        """Returns a memory by its id, or None."""

    @abstractmethod
    async def search(self, query: str, limit: int = 5) -> list[MemoryItem]:
        """Returns the memories that match a query, best first."""

    @abstractmethod
    async def delete(self, id: str) -> bool:
        """Deletes a memory. Returns whether it existed."""


def _item_of(record: Record, more: Mapping[str, Any] | None = None) -> MemoryItem:
    """Converts a record to an item, and adds `more` to its metadata."""
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


def _short_id(memory: Memory, scope: str) -> str:
    """Returns an id of eight characters that no record of the scope has."""
    while True:
        id = str(uuid.uuid4())[:8]
        if memory.get(id, scope=scope) is None:
            return id


VOYAGE: Final = "https://api.voyageai.com/v1"


class EmbeddingService:
    """Computes vectors by "voyage", "local" (offline, shipped with Eidet), or any embedder by its name.

    The key and the address of Voyage that are not given are read from VOYAGE_API_KEY and VOYAGE_BASE_URL.
    No request is made before the first text.
    """

    def __init__(
        self,
        provider: str = "voyage",
        *,
        model: str = "voyage-2",
        api_key: str | None = None,
        base_url: str | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.provider = provider
        self._model = model
        self._key = api_key or environment.get("VOYAGE_API_KEY", "").strip() or None
        self._url = base_url or environment.get("VOYAGE_BASE_URL", "").strip() or None
        if base_url is not None:
            self._key = api_key  # a key of the environment is sent to no other address

    @cached_property
    def client(self) -> Embedder:
        """The embedder, created on first use."""
        if self.provider != "voyage":
            try:
                return embedder_of("wordllama" if self.provider == "local" else self.provider)
            except Misconfigured as unknown:
                raise BadInput(f"Unknown provider: {self.provider}") from unknown
        if self._key is None and self._url is None:
            raise Misconfigured(
                "voyage needs a key: pass api_key=… or set VOYAGE_API_KEY; "
                'EmbeddingService("local") needs none'
            )
        embedder = HttpEmbedder(self._model, url=self._url or VOYAGE, key=self._key)
        embedder.name = f"voyage:{self._model}"
        return embedder_of(embedder)

    async def embed(self, text: str) -> list[float]:
        return (await self.embed_batch([text]))[0]

    async def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """Embeds texts: one vector per text, in the same order."""
        client = self.client
        rows = await asyncio.to_thread(embed_checked, client, list(texts))
        return [[float(number) for number in row] for row in rows]


_Embed = Callable[[str], Any]
MOST = 1_000_000


class SemanticMemory(OwnsMemory):
    """The facts of a scope. Search returns those with a cosine of at least `similarity_threshold`.

    `embedding_fn` is a function or coroutine function that returns the vector of a text, or an embedder of
    `eidet.models.embed`. It is called only with texts that were added or searched for. Without it, search
    finds nothing, unless `fallback=True` lets the memory itself recall by words and by meaning.
    """

    def __init__(
        self,
        embedding_fn: _Embed | object | None = None,
        similarity_threshold: float = 0.7,
        *,
        fallback: bool = False,
        memory: Place = None,
        scope: str = "default",
    ) -> None:
        self.embedding_fn = embedding_fn
        self.similarity_threshold = similarity_threshold
        self.fallback = fallback
        self.scope = scope
        self._embedder: Embedder | None = _embedder_of(embedding_fn)
        advice = "open it with that embedder, or leave out embedding_fn and pass fallback=True"
        self.memory: Memory = open_with_embedder(memory, self._embedder, advice)
        self._owned = not is_shared(memory)
        self._last: dict[str, float] = {}  # the last similarity of each fact found, by id

    async def add(
        self,
        content: str,
        importance: float = 0.5,
        metadata: Mapping[str, Any] | None = None,
        *,
        keep_duplicates: bool = True,
    ) -> str:
        """Stores a fact and returns its id of eight characters. Without `keep_duplicates`, returns the id of
        the same fact if it is stored already."""
        if isinstance(content, str):
            await embed_ahead(self.memory, list_texts(self.memory, [content]))
        details: Details = {"importance": importance, "meta": metadata, "keep_duplicates": keep_duplicates}
        return await run(self.memory, self._add_fact, content, details)

    async def search(self, query: str, limit: int = 5, min_importance: float = 0.0) -> list[MemoryItem]:
        """Returns the nearest facts first; each counts as accessed and carries its `last_similarity`."""
        if not check_whole(limit, "limit") or (self.embedding_fn is None and not self.fallback):
            return []
        asked = self.memory.trust.guarding.query(clean_text(query, "query"))
        await embed_ahead(self.memory, [asked])
        return await run(self.memory, self._find_facts, query, limit, min_importance)

    async def get(self, memory_id: str) -> MemoryItem | None:
        """Returns a fact or None; hides quarantined ones, because prompts are made of this."""
        record = await run(self.memory, lambda: self._facts.get(memory_id))
        return None if record is None or record.trust is Trust.QUARANTINED else self._item(record)

    async def update_importance(self, memory_id: str, importance: float) -> bool:
        """Sets a fact's importance. Returns whether it exists."""
        return await run(self.memory, lambda: self._facts.set_importance(memory_id, importance))

    async def forget(self, memory_id: str) -> bool:
        """Forgets a fact and its vector. Returns whether it existed."""
        return await run(self.memory, lambda: self._facts.forget(memory_id))

    async def consolidate(self) -> int:
        """Removes facts of importance below 0.3 that were accessed less than twice. Returns how many."""
        return await run(self.memory, self._remove_minor)

    @property
    def memories(self) -> dict[str, MemoryItem]:
        """All present facts by id."""
        self.memory.admin.flush()
        return {record.id: self._item(record) for record in self._list_facts()}

    @property
    def embeddings(self) -> dict[str, Vectors]:
        """The vectors of the facts by id; for a long fact, the vector of its beginning."""
        if self.embedding_fn is None:
            return {}
        records = self._list_facts()
        if not records:
            return {}
        rows = list_rows(records, self.memory.parts.embedder.width)
        return {record.id: row[0] for record, row in zip(records, rows, strict=True)}

    @property
    def _facts(self) -> Semantic:
        return Semantic(self.memory, scope=self.scope)

    def _list_facts(self) -> list[Record]:
        return [] if is_blank(self.memory, self._embedder) else self._facts.all(MOST, order="created")

    def _remove_minor(self) -> int:
        if is_blank(self.memory, self._embedder):
            return 0
        return self._facts.consolidate(below=0.3, uses=2)

    def _item(self, record: Record) -> MemoryItem:
        near = self._last.get(record.id)
        return _item_of(record, None if near is None else {"last_similarity": near})

    def _add_fact(self, content: str, details: Details) -> str:
        details["id"] = _short_id(self.memory, self.scope)
        return self._facts.add(content, **details).id

    def _find_facts(self, query: str, limit: int, min_importance: float) -> list[MemoryItem]:
        facts = self._facts
        if self.embedding_fn is None:
            hits = facts.search(query, limit, min_importance=min_importance)
            near = [(hit.record, hit.score) for hit in hits]
        else:
            least = self.similarity_threshold
            near = facts.similar(query, limit, threshold=least, min_importance=min_importance)
        self.memory.admin.flush()  # uses are visible at once
        self._last.update({record.id: float(score) for record, score in near})
        items = [self._item(record) for record, _ in near]
        for item in items:
            item.access()
        return items


def _embedder_of(embedding_fn: object) -> Embedder | None:
    service = getattr(embedding_fn, "__self__", embedding_fn)
    if isinstance(service, EmbeddingService):
        return service.client
    return None if embedding_fn is None else embedder_for(embedding_fn)
