"""What a door does by itself goes on around what is held, and its models see only what they were given."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.doors.every_door import wait_for as run
from tests.making import history

from eidet.compat.agents import SemanticMemory
from eidet.compat.manager import ConversationContext, MemoryConfig
from eidet.compat.manager import Message as Said
from eidet.compat.messages import (
    AutoCleanupMemory,
    Message,
    SemanticMemoryStore,
)

HELD = "The contract was signed on Monday"
LONG_AGO = 1_000_000_000.0


def test_a_cleanup_leaves_what_is_held_and_archives_it_not_again_and_again() -> None:
    store = AutoCleanupMemory()
    run(store.add_message(Message("user", HELD, timestamp=LONG_AGO, metadata={"important": True})))  # type: ignore[arg-type]
    store.memory.upkeep.hold(store.messages[0].record_id or "")
    run(store.add_message(Message("user", "old", timestamp=LONG_AGO)))  # type: ignore[arg-type]
    assert run(store.cleanup()) == 1
    assert run(store.cleanup()) == 0
    assert history(store) == [HELD]
    assert history(store.archive_store) == []


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
