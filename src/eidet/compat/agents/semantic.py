"""Semantic memory: facts, found by the cosine of their vectors."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from ...core.record import Kind, Record
from ...core.validate import clean_text
from ...memory import Memory
from ...models.embed import Embedder, Vectors
from ...views import Semantic
from ..checks import check_whole
from ..messages.search import embedder_for, vectors_of
from ..opening import (
    Place,
    embed_ahead,
    is_blank,
    is_shared,
    list_texts,
    open_with_embedder,
    run,
)
from .embedding import EmbeddingService
from .items import MemoryItem, item_of, short_id

Embed = Callable[[str], Any]
MOST = 1_000_000


class SemanticMemory:
    """Facts of a scope. Search gives those with a cosine of at least `similarity_threshold`.

    `embedding_fn` gives the vector of a text, as a function or a coroutine function; it is called with
    texts that were added or asked for, and with no others. It may also be an
    embedder of `eidet.models.embed`. Without one search finds nothing, unless `fallback=True` lets the memory
    itself recall, by words and by meaning.
    """

    def __init__(
        self,
        embedding_fn: Embed | object | None = None,
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
        self._place = memory
        self._memory: Memory | None = None
        self._opening = threading.Lock()
        self._last: dict[str, float] = {}  # how near what was found last was

    async def add(
        self,
        content: str,
        importance: float = 0.5,
        metadata: Mapping[str, Any] | None = None,
        *,
        keep_duplicates: bool = True,
    ) -> str:
        """Learns a fact; its id, of eight characters. Without `keep_duplicates`, that of the same fact
        if it is known already."""
        memory = await self._ready()
        if isinstance(content, str):
            await embed_ahead(memory, list_texts(memory, [content]))
        return await run(memory, self._add_fact, content, importance, metadata, keep_duplicates)

    async def search(self, query: str, limit: int = 5, min_importance: float = 0.0) -> list[MemoryItem]:
        """The nearest facts, nearest first; each counts as accessed and tells its `last_similarity`."""
        if not check_whole(limit, "limit") or (self.embedding_fn is None and not self.fallback):
            return []
        memory = await self._ready()
        await embed_ahead(memory, [memory.trust.guarding.query(clean_text(query, "query"))])
        return await run(memory, self._find_facts, query, limit, min_importance)

    async def get(self, memory_id: str) -> MemoryItem | None:
        """A fact by its id."""
        record = await run(await self._ready(), lambda: self._facts.get(memory_id))
        return None if record is None else self._item(record)

    async def update_importance(self, memory_id: str, importance: float) -> bool:
        """Whether there is such a fact."""
        return await run(await self._ready(), lambda: self._facts.set_importance(memory_id, importance))

    async def forget(self, memory_id: str) -> bool:
        """Whether there was such a fact; its vector goes with it."""
        return await run(await self._ready(), lambda: self._facts.forget(memory_id))

    async def consolidate(self) -> int:
        """Removes what is of little importance (below 0.3) and was accessed less than twice; how many."""
        return await run(await self._ready(), self._remove_minor)

    @property
    def memories(self) -> dict[str, MemoryItem]:
        """All facts by their ids, as they are now."""
        self.memory.admin.flush()
        return {record.id: self._item(record) for record in self._list_facts()}

    @property
    def embeddings(self) -> dict[str, Vectors]:
        """The vectors of the facts by their ids; of a long one that of its beginning."""
        if self.embedding_fn is None:
            return {}
        records = self._list_facts()
        if not records:
            return {}
        rows = vectors_of(records, self.memory.parts.embedder.width)
        return {record.id: row[0] for record, row in zip(records, rows, strict=True)}

    @property
    def memory(self) -> Memory:
        """The memory underneath, for the native verbs."""
        with self._opening:
            if self._memory is None:
                self._memory = self._open(self._embedder)
            return self._memory

    def close(self) -> None:
        """Closes the memory if this object opened it."""
        if self._memory is not None and not is_shared(self._place):
            self._memory.close()

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
        return item_of(record, None if near is None else {"last_similarity": near})

    def _add_fact(
        self, content: str, importance: float, metadata: Mapping[str, Any] | None, keep_duplicates: bool
    ) -> str:
        stored = self.memory.remember(
            content,
            scope=self.scope,
            kind=Kind.FACT,
            id=short_id(self.memory, self.scope),
            importance=importance,
            meta=metadata,
            keep_duplicates=keep_duplicates,
        )
        return stored.id

    def _find_facts(self, query: str, limit: int, min_importance: float) -> list[MemoryItem]:
        facts = self._facts
        if self.embedding_fn is None:
            hits = facts.search(query, limit, min_importance=min_importance)
            near = [(hit.record, hit.score) for hit in hits]
        else:
            least = self.similarity_threshold
            near = facts.similar(query, limit, threshold=least, min_importance=min_importance)
        self.memory.admin.flush()  # uses are told at once
        self._last.update({record.id: float(score) for record, score in near})
        items = [self._item(record) for record, _ in near]
        for item in items:
            item.access()
        return items

    async def _ready(self) -> Memory:
        """The memory, open."""
        return self.memory if self._place is None else await asyncio.to_thread(lambda: self.memory)

    @cached_property
    def _embedder(self) -> Embedder | None:
        if self.embedding_fn is None:
            return None
        service = getattr(self.embedding_fn, "__self__", self.embedding_fn)
        if isinstance(service, EmbeddingService):
            return service.client
        return embedder_for(self.embedding_fn)

    def _open(self, embedder: Embedder | None) -> Memory:
        instead = "leave out embedding_fn and pass fallback=True"
        return open_with_embedder(self._place, embedder, instead)
