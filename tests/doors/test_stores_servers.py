"""The other doors on real servers, and all doors on one server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from importlib.metadata import entry_points

import pytest
from tests.making import Clock

from eidet import Memory
from eidet.compat.api import AgentMemoryAPI
from eidet.compat.enhanced import InMemoryStore, RedisStore
from eidet.compat.manager import MemoryConfig, MemoryManager
from eidet.compat.messages import BaseMemoryStore, Message
from eidet.store import verbs
from eidet.views import Conversation


@pytest.fixture(params=["postgres", "redis"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def memory(url: str) -> Iterator[Memory]:
    with Memory(url) as opened:
        yield opened


@pytest.mark.point(4, 31)
@pytest.mark.parametrize("name", ["postgresql", "postgres", "redis", "rediss", "sqlite", "ram"])
def test_every_kind_of_store_is_offered_under_the_scheme_of_its_url(name: str) -> None:
    (entry,) = entry_points(group="eidet.stores").select(name=name)
    assert callable(entry.load())


@pytest.mark.point(10)
def test_entries_of_the_cache_live_as_long_as_it_was_said(redis_url: str) -> None:
    clock = Clock(tick=0.001)
    with Memory(redis_url, clock=clock) as memory:
        cache, lasting = RedisStore(memory=memory, ttl=60), RedisStore(memory=memory, name="lasting")
        cache.add("k", "short")
        lasting.add("k", "for good")
        clock.now += 50
        cache.add("new", "fresh")
        assert (cache.get("k"), cache.get("new")) == ("short", "fresh")
        clock.now += 11
        assert (cache.get("k"), cache.get("new"), lasting.get("k")) == (None, "fresh", "for good")
        assert (len(cache), len(lasting)) == (1, 1)


@pytest.mark.point(10)
def test_the_server_lets_entries_of_the_cache_go_by_itself(redis_url: str) -> None:
    import time

    with RedisStore(f"{redis_url}?linger=0", ttl=0.4) as cache:
        started = time.monotonic()
        cache.add("k", "short")
        assert cache.get("k") == "short" or time.monotonic() - started > 0.4
        time.sleep(0.8)
        assert verbs.count_scopes(cache.memory.parts.store) == {}
        assert "k" not in cache


@pytest.mark.point(57)
def test_conversations_of_one_server_share_what_they_learn(url: str) -> None:
    async def learn() -> None:
        config = MemoryConfig(memory=url)
        manager = MemoryManager(config, conversation_id="one")
        await manager.add_memory("The launch is on Friday", "long_term")
        await manager.add_memory("We met in May", "episodic")
        await manager.add_memory("hello there", "short_term")
        config.close()

    async def ask() -> list[list[str]]:
        config = MemoryConfig(memory=url)
        other, same = (
            MemoryManager(config, conversation_id="two"),
            MemoryManager(config, conversation_id="one"),
        )
        found = [
            await other.search_memory("when is the launch?", "long_term", 1),
            await other.search_memory("when did we meet?", "episodic", 1),
        ]
        near = [manager.short_term_buffer for manager in (same, other)]
        config.close()
        return [[entry.content for entry in entries] for entries in (*found, *near)]

    asyncio.run(learn())
    assert asyncio.run(ask()) == [["The launch is on Friday"], ["We met in May"], ["hello there"], []]


@pytest.mark.point(4)
def test_what_one_door_wrote_every_other_door_finds(memory: Memory) -> None:
    async def message() -> None:
        await BaseMemoryStore(memory=memory, scope="ann", session_id="s").add_message(
            Message(role="user", content="My cat is called Minka")
        )

    asyncio.run(message())
    InMemoryStore(memory=memory, scope="ann").add("city", "Ann lives in Lisbon")
    AgentMemoryAPI(memory=memory).store_agent_state("ann", {"mood": "cheerful"}, 1)
    asyncio.run(
        MemoryManager(MemoryConfig(memory=memory, scope="ann")).add_memory("Ann likes chess", "long_term")
    )
    said = {record.text for record in memory.find(scope="ann")}
    assert len(said) == 4
    assert {"My cat is called Minka", "Ann lives in Lisbon", "Ann likes chess"} < said
    asked = {
        "what is the cat called?": "Minka",
        "where does Ann live?": "Lisbon",
        "who likes chess?": "chess",
    }
    for query, word in asked.items():
        assert any(word in hit.text for hit in memory.recall(query, scope="ann", limit=3)), query
    entries = asyncio.run(
        MemoryManager(MemoryConfig(memory=memory, scope="ann")).search_memory(
            "where is home?", "long_term", 5
        )
    )
    assert "Ann lives in Lisbon" in [entry.content for entry in entries]
    assert [m.content for m in Conversation(memory, "s", scope="ann").messages()] == [
        "My cat is called Minka"
    ]
