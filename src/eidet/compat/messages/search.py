"""Stores that find messages: by meaning, by metadata, by date."""

from __future__ import annotations

import inspect
from functools import cached_property
from typing import Any, Final, Unpack

from ...core.record import Kind
from ...core.validate import Moment, clean_text
from ...core.where import Condition, Where
from ...memory import Memory
from ...models.adapt import adapt_embedder
from ...models.embed import Embedder, Vectors, embedder_of
from ...models.embed.quantise import list_rows
from ..opening import (
    check_whole,
    embed_ahead,
    embed_query,
    find_nearest,
    is_blank,
    open_memory,
    open_with_embedder,
)
from .base import BaseMemoryStore, Kept
from .message import Message, message_of_record

_CANDIDATES: Final = 100  # compared exactly, because the index smooths over neighbouring turns


class SemanticMemoryStore(BaseMemoryStore):
    """Messages found by the cosine of their vectors with that of a query.

    `embedding_model` is an object with `embed(text)` (sync or async), a function of a text, an embedder, or
    the name of one (see `eidet.models.embed`). By default it is the memory's own.
    """

    def __init__(self, embedding_model: object = None, **where: Unpack[Kept]) -> None:
        super().__init__(**where)
        self.embedding_model = embedding_model

    async def search(self, query: str, top_k: int = 5) -> list[Message]:
        """Returns the `top_k` messages nearest in meaning, nearest first."""
        check_whole(top_k, "top_k")
        memory = await self._ready()
        await embed_ahead(memory, [memory.trust.guarding.query(clean_text(query, "query"))])
        return await self._run(self._nearest, query, top_k)

    @property
    def embeddings(self) -> list[Vectors]:
        """The vectors of the messages, in their order; for a long one, the vector of its beginning."""
        if self._is_blank():
            return []
        rows = list_rows(self.conversation.records(), self.memory.parts.embedder.width)
        return [row[0] for row in rows]

    def _nearest(self, query: str, top_k: int) -> list[Message]:
        if not top_k:
            return []
        found = find_nearest(
            self.memory,
            embed_query(self.memory, query),
            scope=self.scope,
            session=self.session_id,
            kinds=Kind.MESSAGE,
            limit=top_k + _CANDIDATES,
        )
        return [message_of_record(record) for record, _ in found[:top_k]]

    @cached_property
    def embedder(self) -> Embedder:
        """The model as an embedder of the memory."""
        return embedder_for(self.embedding_model)

    def _history(self, limit: int | None, offset: int, roles: list[str] | None) -> list[Message]:
        return [] if self._is_blank() else super()._history(limit, offset, roles)

    def _is_blank(self) -> bool:
        return self.embedding_model is not None and is_blank(self.memory, self.embedder)

    def _open(self) -> Memory:
        if self.embedding_model is None:
            return open_memory(self._place)
        return open_with_embedder(
            self._place, self.embedder, "open it with that embedder, or leave out embedding_model"
        )


class FilterableMemoryStore(BaseMemoryStore):
    """Finds messages by their metadata."""

    async def get_messages_by_metadata(self, **metadata_filters: Any) -> list[Message]:
        """Finds messages whose metadata has all these values, oldest first; None also matches absence."""
        asked = [_having(name, value) for name, value in metadata_filters.items()]
        return await self._run(self._find_messages, where=Where(every=tuple(asked)))

    async def get_messages_by_date_range(self, start_date: Moment, end_date: Moment) -> list[Message]:
        """Finds messages from `start_date` to `end_date`, both included, in the order of adding."""
        return await self._run(self._find_messages, since=start_date, until=end_date)

    def _find_messages(self, **asked: Any) -> list[Message]:
        return [message_of_record(record) for record in self.conversation.records(**asked)]


def embedder_for(model: object) -> Embedder:
    """Wraps an object that embeds one text at a time; returns one of our embedders, or its name, as is."""
    if isinstance(model, str):
        return embedder_of(model)
    # looked up statically: asking for `width` may call a model
    ours = all(inspect.getattr_static(model, part, None) is not None for part in ("name", "width", "embed"))
    return model if ours else adapt_embedder(model, batch=False)  # type: ignore[return-value]


def _having(name: str, value: Any) -> Where:
    equal = Where(conditions=(Condition(("meta", name), "=", value),))
    absent = Where(conditions=(Condition(("meta", name), "exists", False),))
    return equal | absent if value is None else equal
