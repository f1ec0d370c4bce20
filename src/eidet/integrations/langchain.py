"""LangChain over a memory: `EidetRetriever`, `EidetVectorStore` and `EidetChatMessageHistory`."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final, Self

from ..core.dict_filters import Filter
from ..core.draft import Draft
from ..core.hit import Hit
from ..core.record import Record
from ..core.scope import Scope
from ..core.validate import dump_json
from ..core.where import Condition, Where
from ..memory import Memory
from ..models.adapt import adapt_embedder
from .extras import RisingTimes, finishing, make_missing, read_all

try:
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.vectorstores import VectorStore
except ModuleNotFoundError as error:
    raise make_missing("LangChain", "langchain") from error

_TURN: Final = Where(conditions=(Condition("meta.langchain", "=", "message"),))
_DOCUMENT: Final = Where(conditions=(Condition("meta.langchain", "=", "document"),))


class EidetRetriever(BaseRetriever):
    """Recalls records of all kinds: facts, messages, documents. `k` is how many."""

    memory: Any
    scope: str = "default"
    k: int = 4
    where: Any = None

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: Any,  # noqa: ARG002  # LangChain looks for it by name
        **options: Any,
    ) -> list[Document]:
        hits = self.memory.recall(
            query, scope=self.scope, limit=options.get("k", self.k), where=self.where, least=0
        )
        return [_document(hit.record, score=hit.score, why=hit.why()) for hit in hits]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: Any, **options: Any
    ) -> list[Document]:
        return await asyncio.to_thread(
            partial(self._get_relevant_documents, query, run_manager=run_manager, **options)
        )


class EidetVectorStore(VectorStore):
    """Documents in one scope of a memory, ranked as `Memory.recall` ranks.

    The memory embeds with its own embedder; `from_texts` opens one in RAM with the embedder you give.
    """

    def __init__(self, memory: Memory, *, scope: str = "default") -> None:
        self.memory = memory
        self.scope: str = Scope.exactly(scope).path

    @property
    def embeddings(self) -> None:
        """None: the memory's own embedder makes the vectors."""
        return None

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Any,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        memory: Memory | None = None,
        scope: str = "default",
        **_more: Any,
    ) -> Self:
        """Returns a store with these texts, in the given memory or in a new one in RAM with this embedder."""
        embed, name = embedding.embed_documents, type(embedding).__name__
        own = memory or Memory(embedder=adapt_embedder(embed, name=name, batch=True))
        store = cls(own, scope=scope)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **_more: Any,
    ) -> list[str]:
        """Stores texts, all or none, and returns their ids. A text with an existing id replaces that text."""
        contents = list(texts)
        names = [name or str(uuid.uuid4()) for name in ids or [None] * len(contents)]
        about = metadatas or [{}] * len(contents)
        drafts = [
            _draft_document(text, name, meta) for text, name, meta in zip(contents, names, about, strict=True)
        ]
        self.memory.remember(drafts, scope=self.scope, keep_duplicates=True, again=True, read_speakers=True)
        return names

    def delete(self, ids: list[str] | None = None, **_more: Any) -> bool | None:
        """Deletes documents; ignores ids that do not exist. Without ids, deletes all documents."""
        if ids is None:
            self.memory.forget(where=_DOCUMENT, scope=self.scope, for_good=False)
        else:
            self.memory.forget(list(ids), scope=self.scope, for_good=False)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Returns the documents that exist, in the order of `ids`."""
        return [_document(record) for record in self.memory.get(list(ids), scope=self.scope) if record]

    def similarity_search(
        self, query: str, k: int = 4, filter: Filter | None = None, **_more: Any
    ) -> list[Document]:
        return [_document(hit.record) for hit in self._recall(query, k, filter)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, filter: Filter | None = None, **_more: Any
    ) -> list[tuple[Document, float]]:
        """Searches with scores: the probability that each document answers the query, from 0 to 1."""
        return [(_document(hit.record), hit.score) for hit in self._recall(query, k, filter)]

    def similarity_search_by_vector(self, embedding: list[float], k: int = 4, **_more: Any) -> list[Document]:
        hits = self.memory.recall("", vector=embedding, scope=self.scope, limit=k, where=_DOCUMENT, least=0)
        return [_document(hit.record) for hit in hits]

    def _select_relevance_score_fn(self) -> Any:
        return float  # scores are from 0 to 1 already

    def _recall(self, query: str, k: int, filter: Filter | None) -> Sequence[Hit]:
        where: Filter = _DOCUMENT & _where_of(filter) if filter is not None else _DOCUMENT
        return self.memory.recall(query, scope=self.scope, limit=k, where=where, least=0)


class EidetChatMessageHistory(BaseChatMessageHistory):
    """The messages of a session. They are restored exactly, and `memory.recall` finds them as well."""

    def __init__(self, session_id: str, memory: Memory, *, scope: str = "default") -> None:
        self.session_id = session_id
        self.memory = memory
        self.scope: str = Scope.exactly(scope).path
        self._times = RisingTimes(memory.parts.clock)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # LangChain declares a field
        found = read_all(self.memory, _TURN, self.scope, session=self.session_id)
        return list(messages_from_dict([record.data for record in found]))

    async def aget_messages(self) -> list[BaseMessage]:
        return await asyncio.to_thread(lambda: self.messages)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Adds messages, all or none. Once it returns, they are durable."""
        drafts = [self._draft(message, at) for message, at in self._times.pair(messages)]
        self.memory.remember(drafts, scope=self.scope, again=True)

    aadd_messages = finishing(add_messages)

    def clear(self) -> None:
        self.memory.forget(where=_TURN, session=self.session_id, scope=self.scope, for_good=False)

    aclear = finishing(clear)

    def _draft(self, message: BaseMessage, at: float) -> Draft:
        data = message_to_dict(message)
        return Draft(
            kind="message",
            text=str(message.text).strip() or dump_json(data),
            data=data,
            who=_ROLES.get(message.type, message.type),
            session=self.session_id,
            occurred=at,
            meta={"langchain": "message"},
        )


_ROLES: Final = {"human": "user", "ai": "assistant"}


def _where_of(filter: Filter) -> Where:
    """Returns a `Where` as it is, or makes one from a dict of metadata: `{"topic": "music"}`."""
    if isinstance(filter, Where):
        return filter
    conditions = [Condition(f"meta.metadata.{name}", "=", value) for name, value in filter.items()]
    return Where(conditions=tuple(conditions))


def _draft_document(text: str, name: str, metadata: dict[str, Any]) -> Draft:
    data = None if text.strip() else {"content": text}
    meta = {"langchain": "document", "metadata": metadata}
    return Draft(id=name, kind="document", text=text if data is None else name, data=data, meta=meta)


def _document(record: Record, **more: Any) -> Document:
    """Converts a record to a document with its metadata, or if not of this store, the record's fields."""
    whole = record.whole
    text = whole.text
    if record.meta.get("langchain") == "document":
        if isinstance(whole.data, dict):
            text = str(whole.data["content"])
        metadata: Any = record.meta["metadata"]
        return Document(page_content=text, metadata={**metadata, **more}, id=record.id)
    about = {
        "kind": str(record.kind),
        "who": record.who,
        "session": record.session,
        "occurred": record.when.isoformat(),
        "source": record.source,
        **record.meta,
    }
    known = {name: value for name, value in about.items() if value is not None}
    return Document(page_content=text, metadata={**known, **more}, id=record.id)
