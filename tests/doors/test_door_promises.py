"""Legal holds and the guard, through the doors: what a door does by itself keeps to them, too."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from tests.making import history

from eidet import Memory
from eidet.compat.agents import SemanticMemory
from eidet.compat.api import AgentMemoryAPI
from eidet.compat.enhanced import VectorMemoryStore
from eidet.compat.manager import ConversationContext, MemoryConfig, MemoryManager
from eidet.compat.manager import Message as Said
from eidet.compat.messages import (
    AutoCleanupMemory,
    BaseMemoryStore,
    InMemoryMemoryStore,
    Message,
    SafeMemoryStore,
    SemanticMemoryStore,
    SummaryMemory,
)

HELD = "The contract was signed on Monday"
LONG_AGO = 1_000_000_000.0
MAIL = "ann.smith@example.com"


def run(work: Awaitable[Any]) -> Any:
    async def wait() -> Any:
        return await work

    return asyncio.run(wait())


def hold(store: BaseMemoryStore) -> None:
    """Adds a message, and lets the law hold it."""
    run(store.add_message(Message(role="user", content=HELD, timestamp=LONG_AGO)))  # type: ignore[arg-type]
    store.memory.upkeep.hold(store.messages[0].record_id or "", scope=store.scope)


def added(store: BaseMemoryStore, *words: str) -> list[str | None]:
    for word in words:
        run(store.add_message(Message(role="user", content=word)))
    return history(store)


# What a store does by itself goes on around what is held.


def test_limits_leave_what_is_held_and_go_on() -> None:
    store = InMemoryMemoryStore(max_messages=2)
    hold(store)
    assert HELD in added(store, "one", "two", "three")
    assert "three" in history(store)


def test_an_overflow_leaves_what_is_held_and_goes_on() -> None:
    seen: list[Message] = []
    store = SafeMemoryStore(2, seen.extend)
    hold(store)
    assert HELD in added(store, "one", "two", "three")
    assert "three" in history(store)


def test_a_cleanup_leaves_what_is_held_and_archives_it_not_again_and_again() -> None:
    store = AutoCleanupMemory()
    run(store.add_message(Message("user", HELD, timestamp=LONG_AGO, metadata={"important": True})))  # type: ignore[arg-type]
    store.memory.upkeep.hold(store.messages[0].record_id or "")
    run(store.add_message(Message("user", "old", timestamp=LONG_AGO)))  # type: ignore[arg-type]
    assert run(store.cleanup()) == 1
    assert run(store.cleanup()) == 0
    assert history(store) == [HELD]
    assert history(store.archive_store) == []


def test_a_summary_leaves_what_is_held() -> None:
    store = SummaryMemory(threshold=11)
    hold(store)
    added(store, *(f"word {number}" for number in range(11)))
    assert len(store.memory.find(kinds="message")) == 12


def test_a_task_makes_room_around_what_is_held() -> None:
    manager = MemoryManager(MemoryConfig(working_capacity=1))
    manager.working_memory["law"] = HELD
    manager.memory.upkeep.hold(manager.working_memory["law"].id)
    manager.working_memory["one"] = "one"
    manager.working_memory["two"] = "two"
    assert sorted(manager.working_memory) == ["law", "two"]


# What a caller asks for is refused, and nothing is half done.


# Embedders see what is kept, not what was said.


class Watched:
    """An embedding function that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, text: str) -> list[float]:
        self.asked.append(text)
        return [1.0, float(len(text)), 2.0]


class WatchedAsync(Watched):
    async def embed(self, text: str) -> list[float]:  # type: ignore[override]
        return super().embed(text)


async def tell_messages(model: Watched, memory: Memory) -> None:
    store = SemanticMemoryStore(memory=memory)
    await store.add_message(Message(role="user", content=f"Write to {MAIL}"))
    await store.search("whom to write to?")


async def tell_facts(model: Watched, memory: Memory) -> None:
    facts = SemanticMemory(fallback=True, memory=memory)
    await facts.add(f"Write to {MAIL}")
    await facts.search("whom to write to?")


async def tell_texts(model: Watched, memory: Memory) -> None:
    store = VectorMemoryStore(memory=memory)
    store.add("k", f"Write to {MAIL}")
    store.search("whom to write to?")


async def tell_states(model: Watched, memory: Memory) -> None:
    api = AgentMemoryAPI(memory=memory)
    api.store_agent_state("a", {"mail": MAIL}, 1)
    api.retrieve_similar_states("a", {"mail": "whom?"})


async def tell_conversations(model: Watched, memory: Memory) -> None:
    context = ConversationContext("c", MemoryConfig(memory=memory))
    await context.add_message(Said("user", f"Write to {MAIL}"))


@pytest.mark.parametrize("make", [Watched, WatchedAsync])
@pytest.mark.parametrize("tell", [tell_messages, tell_facts, tell_texts, tell_states, tell_conversations])
def test_no_embedder_sees_what_the_guard_takes_out(
    tell: Callable[[Watched, Memory], Awaitable[None]], make: type[Watched]
) -> None:
    model = make()
    with Memory(embedder=model, guard="redact") as memory:
        run(tell(model, memory))
    assert model.asked
    assert MAIL not in repr(model.asked)


# A function that embeds is called with texts that were given.


def given_only(asked: Sequence[str], given: set[str]) -> bool:
    return bool(asked) and set(asked) <= given


@pytest.mark.parametrize("make", [Watched, WatchedAsync])
def test_an_embedding_function_sees_only_texts_that_were_given(make: type[Watched]) -> None:
    model = make()

    async def work() -> None:
        facts = SemanticMemory(model.embed)
        assert (await facts.get("x"), await facts.forget("x"), await facts.consolidate()) == (None, False, 0)
        assert (facts.memories, facts.embeddings) == ({}, {})
        assert await facts.search("anything?") == []
        stored = await facts.add("Ann lives in Lisbon")
        assert list(facts.embeddings) == [stored]
        await facts.search("where?")

    run(work())
    assert given_only(model.asked, {"anything?", "Ann lives in Lisbon", "where?"})


@pytest.mark.parametrize("make", [Watched, WatchedAsync])
def test_so_does_the_model_of_a_store_of_messages(make: type[Watched]) -> None:
    model = make()

    async def work() -> None:
        store = SemanticMemoryStore(model)
        assert (await store.get_history(), store.embeddings) == ([], [])
        await store.add_message(Message(role="user", content="Ann lives in Lisbon"))
        await store.search("where?")

    run(work())
    assert given_only(model.asked, {"Ann lives in Lisbon", "where?"})


def test_a_message_without_content_is_part_of_a_conversation() -> None:
    context = ConversationContext("c", MemoryConfig())
    run(context.add_message(Said("user", "Hello")))
    run(context.add_message(Said("assistant", None)))
    assert [message.content for message in context.history] == ["Hello", None]
    assert run(context.end()).content
