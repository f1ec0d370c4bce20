"""The stores that the document writes out, as it writes them: only the import differs."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, override, var-annotated, union-attr"
# mypy: disable-error-code="assignment, return-value, misc, operator, no-any-return, attr-defined"

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import numpy as np
import pytest

from eidet.compat.messages import BaseMemoryStore, InMemoryMemoryStore, Message


class TokenLimitedMemoryStore(InMemoryMemoryStore):
    def __init__(self, max_tokens: int = 4000):
        super().__init__()
        self.max_tokens = max_tokens

    async def add_message(self, message: Message):
        await super().add_message(message)
        total_tokens = sum(len(msg.content.split()) * 1.3 for msg in self.messages)
        while total_tokens > self.max_tokens and len(self.messages) > 1:
            self.messages.pop(0)
            total_tokens = sum(len(msg.content.split()) * 1.3 for msg in self.messages)


class SlidingWindowMemory(BaseMemoryStore):
    def __init__(self, window_size: int = 10):
        self.window_size = window_size
        self.messages = []

    async def add_message(self, message: Message):
        self.messages.append(message)
        if len(self.messages) > self.window_size:
            self.messages = self.messages[-self.window_size :]

    async def get_history(self, limit=None, offset=0, roles=None):
        return self.messages[offset:limit] if limit else self.messages[offset:]


class ScopedMemoryStore(BaseMemoryStore):
    def __init__(self):
        self.scopes = {}

    def get_scope(self, scope_name: str) -> BaseMemoryStore:
        if scope_name not in self.scopes:
            self.scopes[scope_name] = InMemoryMemoryStore()
        return self.scopes[scope_name]

    async def add_message(self, message: Message, scope: str = "default"):
        store = self.get_scope(scope)
        await store.add_message(message)


class SummaryMemory(BaseMemoryStore):
    def __init__(self, summarizer_agent: str, threshold: int = 50):
        self.recent_messages = []
        self.summaries = []
        self.summarizer_agent = summarizer_agent
        self.threshold = threshold

    async def add_message(self, message: Message):
        self.recent_messages.append(message)
        if len(self.recent_messages) >= self.threshold:
            await self.summarize_and_compress()

    async def summarize_and_compress(self):
        conversation = "\n".join(f"{msg.role}: {msg.content}" for msg in self.recent_messages)
        summary = await self.context.call_agent(
            self.summarizer_agent, f"Summarize this conversation:\n{conversation}"
        )
        self.summaries.append(Message(role="system", content=f"Previous conversation summary: {summary}"))
        self.recent_messages = self.recent_messages[-10:]


class SemanticMemoryStore(BaseMemoryStore):
    def __init__(self, embedding_model):
        self.messages = []
        self.embeddings = []
        self.embedding_model = embedding_model

    async def add_message(self, message: Message):
        self.messages.append(message)
        embedding = await self.embedding_model.embed(message.content)
        self.embeddings.append(embedding)

    async def search(self, query: str, top_k: int = 5) -> list[Message]:
        query_embedding = await self.embedding_model.embed(query)
        similarities = [
            np.dot(query_embedding, emb) / (np.linalg.norm(query_embedding) * np.linalg.norm(emb))
            for emb in self.embeddings
        ]
        top_indices = np.argsort(similarities)[-top_k:][::-1]
        return [self.messages[int(i)] for i in top_indices]


class FilterableMemoryStore(BaseMemoryStore):
    async def get_messages_by_metadata(self, **metadata_filters) -> list[Message]:
        return [
            message
            for message in self.messages
            if all(message.metadata.get(key) == value for key, value in metadata_filters.items())
        ]

    async def get_messages_by_date_range(self, start_date: datetime, end_date: datetime) -> list[Message]:
        return [msg for msg in self.messages if start_date <= msg.timestamp <= end_date]


class AutoCleanupMemory(BaseMemoryStore):
    async def archive(self, messages):
        self.archived = messages

    async def cleanup(self):
        cutoff_date = datetime.now() - timedelta(days=30)  # noqa: DTZ005
        self.messages = [msg for msg in self.messages if msg.timestamp > cutoff_date]
        important = [msg for msg in self.messages if msg.metadata.get("important", False)]
        await self.archive(important)


class SafeMemoryStore(BaseMemoryStore):
    def __init__(self, max_size: int, overflow_handler):
        self.max_size = max_size
        self.overflow_handler = overflow_handler
        self.messages = []

    async def add_message(self, message: Message):
        if len(self.messages) >= self.max_size:
            await self.overflow_handler(self.messages)
            self.messages = self.messages[int(self.max_size * 0.2) :]
        self.messages.append(message)


class AuditMemoryStore(BaseMemoryStore):
    current_user_id, request_ip = "ann", "10.0.0.1"

    def __init__(self):
        self.operational_store, self.audit_store = InMemoryMemoryStore(), InMemoryMemoryStore()

    def check_compliance(self, message):
        return ["checked"]

    async def add_message(self, message: Message):
        message.metadata.update(
            {
                "timestamp": datetime.now().isoformat(),  # noqa: DTZ005
                "user_id": self.current_user_id,
                "session_id": self.session_id,
                "ip_address": self.request_ip,
                "compliance_flags": self.check_compliance(message),
            }
        )
        await self.operational_store.add_message(message)
        await self.audit_store.add_message(message)


async def add(store: BaseMemoryStore, count: int) -> BaseMemoryStore:
    for i in range(count):
        await store.add_message(Message(role="user", content=f"Message {i}", metadata={"even": i % 2 == 0}))
    return store


def said(store: BaseMemoryStore) -> list[str | None]:
    return [message.content for message in store.messages]


@pytest.mark.point(77, 90)
def test_the_token_limit_of_the_document() -> None:
    assert said(asyncio.run(add(TokenLimitedMemoryStore(8), 9))) == ["Message 6", "Message 7", "Message 8"]


@pytest.mark.point(77, 91)
def test_the_sliding_window_of_the_document() -> None:
    store = asyncio.run(add(SlidingWindowMemory(3), 9))
    assert said(store) == ["Message 6", "Message 7", "Message 8"]
    assert [str(message) for message in asyncio.run(store.get_context_window())] == said(store)
    asyncio.run(store.clear())
    assert said(store) == []


@pytest.mark.point(89)
def test_the_scopes_of_the_document() -> None:
    store = ScopedMemoryStore()
    asyncio.run(store.add_message(Message(role="user", content="x"), scope="user_123"))
    assert said(store.get_scope("user_123")) == ["x"]
    assert said(store.get_scope("system")) == []


@pytest.mark.point(92)
def test_the_summaries_of_the_document() -> None:
    class Context:
        async def call_agent(self, name: str, request: str) -> str:
            return f"{name} read {request.count('Message')}"

    store = SummaryMemory("Summarizer", threshold=12)
    store.context = Context()
    asyncio.run(add(store, 12))
    assert [str(message) for message in store.summaries] == [
        "Previous conversation summary: Summarizer read 12"
    ]
    assert len(store.recent_messages) == 10


@pytest.mark.point(93)
def test_the_semantic_search_of_the_document() -> None:
    class Model:
        async def embed(self, text: str) -> list[float]:
            return [text.count("a") + 0.1, text.count("b") + 0.1]

    async def work() -> list[Message]:
        store = SemanticMemoryStore(Model())
        for text in ("aaa", "bbb", "ab"):
            await store.add_message(Message(role="user", content=text))
        return await store.search("a", top_k=2)

    assert [str(message) for message in asyncio.run(work())] == ["aaa", "ab"]


@pytest.mark.point(94, 95, 100)
def test_the_filters_of_the_document() -> None:
    store = FilterableMemoryStore()
    asyncio.run(add(store, 3))
    assert len(asyncio.run(store.get_messages_by_metadata(even=True))) == 2
    now = datetime.now()  # noqa: DTZ005
    assert len(asyncio.run(store.get_messages_by_date_range(now - timedelta(hours=1), now))) == 3


@pytest.mark.point(97)
def test_the_cleanup_of_the_document() -> None:
    store = AutoCleanupMemory()
    old = datetime.now() - timedelta(days=31)  # noqa: DTZ005

    async def work() -> None:
        await store.add_message(Message(role="user", content="old", timestamp=old))
        await store.add_message(Message(role="user", content="new", metadata={"important": True}))
        await store.cleanup()

    asyncio.run(work())
    assert said(store) == ["new"]
    assert [str(message) for message in store.archived] == ["new"]


@pytest.mark.point(98)
def test_the_overflow_of_the_document() -> None:
    seen: list[int] = []

    async def handler(messages: list[Message]) -> None:
        seen.append(len(messages))

    assert len(said(asyncio.run(add(SafeMemoryStore(10, handler), 11)))) == 9
    assert seen == [10]


@pytest.mark.point(101, 102)
def test_the_audit_of_the_document() -> None:
    store = AuditMemoryStore()
    asyncio.run(add(store, 1))
    assert store.operational_store.messages == store.audit_store.messages
    assert store.audit_store.messages[0].metadata["ip_address"] == "10.0.0.1"
