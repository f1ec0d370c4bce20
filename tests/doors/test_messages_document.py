"""Stores that the document writes out, as it writes them: only the import differs.

Those that use what the base class has: its messages as a list, with and without its constructor.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, override, var-annotated, union-attr"
# mypy: disable-error-code="assignment, return-value, misc, operator, no-any-return, attr-defined"

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

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


class AutoCleanupMemory(BaseMemoryStore):
    async def archive(self, messages):
        self.archived = messages

    async def cleanup(self):
        cutoff_date = datetime.now() - timedelta(days=30)  # noqa: DTZ005
        self.messages = [msg for msg in self.messages if msg.timestamp > cutoff_date]
        important = [msg for msg in self.messages if msg.metadata.get("important", False)]
        await self.archive(important)


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


@pytest.mark.point(101, 102)
def test_the_audit_of_the_document() -> None:
    store = AuditMemoryStore()
    asyncio.run(add(store, 1))
    assert store.operational_store.messages == store.audit_store.messages
    assert store.audit_store.messages[0].metadata["ip_address"] == "10.0.0.1"
