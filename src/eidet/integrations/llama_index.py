"""LlamaIndex over a memory: `EidetMemoryBlock` for agents, `EidetNodeStore` for indexes.

The block is part of LlamaIndex' `Memory`. Messages that it flushes from its short-term queue are stored; each
turn of the agent is given what the memory knows about the latest message of the user, from any session.
The node store is a vector store; `EidetEmbedding` makes vectors with the memory's own embedder.
"""

from __future__ import annotations

import asyncio
import re
import threading
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput
from ..core.hit import Hit
from ..core.record import Record, key_id
from ..core.scope import Scope
from ..core.validate import QUERY_CHARS, dump_json
from ..core.where import Condition, Where
from ..models.embed.quantise import find_cosines
from ..text.tokens import counter_of, cut
from .extras import RisingTimes, finish, finishing, make_missing, walk

try:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.schema import BaseNode, MetadataMode
    from llama_index.core.vector_stores.types import (
        BasePydanticVectorStore,
        FilterCondition,
        FilterOperator,
        MetadataFilter,
        MetadataFilters,
        VectorStoreQuery,
        VectorStoreQueryMode,
        VectorStoreQueryResult,
    )
    from llama_index.core.vector_stores.utils import metadata_dict_to_node, node_to_metadata_dict
except ModuleNotFoundError as error:
    raise make_missing("LlamaIndex", "llama-index") from error

_SESSION: Final = "session_id"  # where LlamaIndex puts it into a message
_TOOLS: Final = ("tool", "function")
_NODE: Final = Where(conditions=(Condition("meta.llama_index", "=", "node"),))
_BY_VECTOR: Final = (VectorStoreQueryMode.DEFAULT,)
_BY_WORDS: Final = (
    VectorStoreQueryMode.TEXT_SEARCH,
    VectorStoreQueryMode.SPARSE,
    VectorStoreQueryMode.HYBRID,
    VectorStoreQueryMode.SEMANTIC_HYBRID,
)


class EidetMemoryBlock(BaseMemoryBlock[str]):
    """Stores flushed messages in a memory, and gives the agent what it knows about the user's message.

    What is given costs at most `budget` tokens, as `counter` counts them. `where` narrows what is given.
    """

    name: str = "memory"
    memory: Any = Field(exclude=True, repr=False)
    scope: str = "default"
    budget: int = 1000
    counter: Any = Field(default=None, exclude=True)
    where: Any = Field(default=None, exclude=True)

    _lock: Any = PrivateAttr(default_factory=threading.Lock)
    _times: Any = PrivateAttr(default=None)
    _unwritten: list[list[Draft]] = PrivateAttr(default_factory=list)

    def model_post_init(self, context: Any, /) -> None:
        """Checks the scope, so that a wrong one fails now and not in the middle of a conversation."""
        super().model_post_init(context)
        Scope.exactly(self.scope)
        self._times = RisingTimes(self.memory.parts.clock)

    async def _aget(self, messages: list[ChatMessage] | None = None, **_more: Any) -> str:
        query = _find_question(messages or [])
        if not query:
            return ""
        asked = partial(
            self.memory.context,
            query[-QUERY_CHARS:],
            scope=self.scope,
            budget=self.budget,
            counter=self.counter,
            where=self.where,
        )
        return str(await asyncio.to_thread(asked))

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Stores messages, all or none; a cancelled call is finished first.

        LlamaIndex flushes each message once. If the store is unavailable, the block therefore keeps them
        and writes them with the next flush; their ids make sure that none is stored twice.
        """
        if messages:
            self._unwritten.append(self._draft_messages(messages))  # before any other block runs
        await finish(self._write)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """The beginning of the content, shorter by at least that many tokens; None if nothing is left."""
        if not content:
            return None
        counter = counter_of(self.counter)
        return cut(content, counter.count(content) - tokens_to_truncate, counter) or None

    def _draft_messages(self, messages: Sequence[ChatMessage]) -> list[Draft]:
        return [
            _draft(message, at) for message, at in zip(messages, self._times.take(len(messages)), strict=True)
        ]

    def _write(self) -> None:
        with self._lock:
            while self._unwritten:
                try:
                    self.memory.remember(self._unwritten[0], scope=self.scope, again=True)
                except BadInput:
                    self._unwritten.pop(0)  # no later attempt can store them
                    raise
                self._unwritten.pop(0)


def _draft(message: ChatMessage, at: float) -> Draft:
    data = message.model_dump(mode="json")
    session = data["additional_kwargs"].pop(_SESSION, None)
    role = message.role.value
    return Draft(
        id=str(uuid.uuid4()),
        kind="message",
        text=_say(message),
        data=data,
        who=role,
        session=session,
        occurred=at,
        trust="tool" if role in _TOOLS else None,
        meta={"llama_index": "message"},
    )


def _find_question(messages: Sequence[ChatMessage]) -> str:
    """The user's latest message."""
    for message in reversed(messages):
        if message.role.value == "user":
            return (message.content or "").strip()
    return ""


def _say(message: ChatMessage) -> str:
    """Words a message for search: what was said, tool calls, and the type of anything else."""
    parts = []
    for block in message.blocks:
        if isinstance(block, TextBlock):
            parts.append(block.text)
        elif isinstance(block, ToolCallBlock):
            parts.append(f"{block.tool_name} {dump_json(block.tool_kwargs)}")
        else:
            parts.append(f"[{block.block_type}]")
    return "\n".join(parts).strip() or "[empty]"


class EidetEmbedding(BaseEmbedding):
    """The memory's own embedder as an embedding model of LlamaIndex."""

    memory: Any = Field(exclude=True, repr=False)

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embeddings([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        rows: list[list[float]] = self.memory.parts.embedder.embed(texts).tolist()
        return rows


class EidetNodeStore(BasePydanticVectorStore):
    """A vector store that keeps nodes with their text in one scope of a memory.

    A query with a vector ranks by cosine. In the modes text_search, sparse, hybrid and semantic_hybrid, and
    without a vector, the memory ranks by its own means, words and vectors together.
    """

    stores_text: bool = True
    is_embedding_query: bool = True
    memory: Any = Field(exclude=True, repr=False)
    scope: str = "llama_index"

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        Scope.exactly(self.scope)

    @classmethod
    def class_name(cls) -> str:
        return "EidetNodeStore"

    @property
    def client(self) -> Any:
        return self.memory

    def add(self, /, nodes: Sequence[BaseNode], **_more: Any) -> list[str]:
        """Stores nodes, all or none; one with an id that exists takes its place."""
        drafts = [_draft_node(node) for node in nodes]
        self.memory.remember(drafts, scope=self.scope, keep_duplicates=True, again=True, read_speakers=True)
        return [node.node_id for node in nodes]

    def get_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        """Nodes that meet both, those stored first before others."""
        found = walk(self.memory, _where_nodes(node_ids, filters), self.scope, order="created")
        return [_node_of(record) for record in found]

    def delete(self, /, ref_doc_id: str, **_more: Any) -> None:
        """Deletes the nodes of a document."""
        own = _test("ref_doc_id", "=", ref_doc_id)
        self.memory.forget(where=_NODE & own, scope=self.scope, for_good=False)

    def delete_nodes(
        self, /, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **_more: Any
    ) -> None:
        """Deletes nodes that meet both. Without either, nothing: see `clear`."""
        if node_ids is not None or filters is not None:
            self.memory.forget(where=_where_nodes(node_ids, filters), scope=self.scope, for_good=False)

    def clear(self) -> None:
        self.memory.forget(where=_NODE, scope=self.scope, for_good=False)

    def query(self, /, query: VectorStoreQuery, **_more: Any) -> VectorStoreQueryResult:
        where = _where_nodes(query.node_ids or None, query.filters)  # an index that lists no nodes sends []
        if query.doc_ids:
            where &= _test("ref_doc_id", "in", query.doc_ids)
        vector = _choose_vector(query)
        words = (query.query_str or "")[-QUERY_CHARS:] if vector is None else ""
        hits = self.memory.recall(
            words, vector=vector, scope=self.scope, where=where, limit=query.similarity_top_k, least=0
        )
        return VectorStoreQueryResult(
            nodes=[_node_of(hit.record) for hit in hits],
            similarities=[_rate(hit, vector) for hit in hits],
            ids=[str(hit.record.meta["node_id"]) for hit in hits],
        )

    async_add = finishing(add)
    aget_nodes = finishing(get_nodes)
    adelete = finishing(delete)
    adelete_nodes = finishing(delete_nodes)
    aclear = finishing(clear)
    aquery = finishing(query)


def _draft_node(node: BaseNode) -> Draft:
    """Stores the node as LlamaIndex writes it in `data`; `meta` has what filters use."""
    metadata = node_to_metadata_dict(node)
    written = {name: metadata.pop(name) for name in ("_node_content", "_node_type")}
    return Draft(
        key=node.node_id,
        kind="document",
        text=node.get_content(metadata_mode=MetadataMode.NONE).strip() or "[empty]",
        data=written,
        vector=node.embedding or None,
        meta={"llama_index": "node", "node_id": node.node_id, "metadata": metadata},
    )


def _node_of(record: Record) -> BaseNode:
    return metadata_dict_to_node(record.whole.data)  # type: ignore[arg-type,no-any-return,unused-ignore]


def _choose_vector(query: VectorStoreQuery) -> list[float] | None:
    """The vector to rank by; None where the memory ranks by its own means."""
    if query.mode not in (*_BY_VECTOR, *_BY_WORDS):
        raise BadInput(f"EidetNodeStore does not know the query mode {query.mode.value!r}")
    if query.mode in _BY_WORDS and query.query_str:
        return None
    vector: list[float] | None = query.query_embedding
    return vector


def _rate(hit: Hit, vector: list[float] | None) -> float:
    return hit.score if vector is None else max(0.0, find_cosines([hit.record], vector)[0])


def _where_nodes(node_ids: Sequence[str] | None, filters: MetadataFilters | None) -> Where:
    where = _NODE
    if node_ids is not None:
        where &= Where(ids=[key_id(id) for id in node_ids])
    if filters is not None and filters.filters:
        where &= _where_filters(filters)
    return where


def _where_filters(filters: MetadataFilters) -> Where:
    """Combines the filters by all, any or none, as their condition says."""
    parts = [
        _where_filters(one) if isinstance(one, MetadataFilters) else _where_filter(one)
        for one in filters.filters
    ]
    if filters.condition == FilterCondition.OR:
        return Where(some=tuple(parts))
    if filters.condition == FilterCondition.NOT:
        return Where(never=tuple(parts))
    return Where(every=tuple(parts))


def _where_filter(filter: MetadataFilter) -> Where:
    """Translates a filter as LlamaIndex means it: a missing value passes only `!=`, `nin` and `is_empty`."""
    test = partial(_test, filter.key)
    if filter.operator in _COMPARED:
        return test(_COMPARED[filter.operator], filter.value)
    return _OTHER_TESTS[filter.operator](test, filter.value)


def _test(key: str, op: str, value: Any) -> Where:
    return Where(conditions=(Condition(("meta", "metadata", key), op, value),))


def _is_empty(test: Callable[[str, Any], Where], _value: Any) -> Where:
    return Where(some=(test("exists", False), test("in", [None, "", []])))


def _has_each(test: Callable[[str, Any], Where], value: Any) -> Where:
    return Where(every=tuple(test("contains", one) for one in value))


def _has_any(test: Callable[[str, Any], Where], value: Any) -> Where:
    return Where(some=tuple(test("contains", one) for one in value))


_COMPARED: Final = {
    FilterOperator.EQ: "=",
    FilterOperator.GT: ">",
    FilterOperator.GTE: ">=",
    FilterOperator.LT: "<",
    FilterOperator.LTE: "<=",
    FilterOperator.IN: "in",
    FilterOperator.CONTAINS: "contains",
    FilterOperator.TEXT_MATCH: "contains",
}
_OTHER_TESTS: Final[dict[FilterOperator, Callable[[Callable[[str, Any], Where], Any], Where]]] = {
    FilterOperator.NE: lambda test, value: ~test("=", value),
    FilterOperator.NIN: lambda test, value: ~test("in", value),
    FilterOperator.TEXT_MATCH_INSENSITIVE: lambda test, value: test("regex", f"(?i){re.escape(value)}"),
    FilterOperator.ALL: _has_each,
    FilterOperator.ANY: _has_any,
    FilterOperator.IS_EMPTY: _is_empty,
}
