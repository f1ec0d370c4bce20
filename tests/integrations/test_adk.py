"""ADK's memory service over a memory, judged by real runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.integrations.conftest import Reopen
from tests.integrations.needs import need
from tests.integrations.promises import cancel_at_once, out_of_reach

need("google.adk", "adk")

from google.adk.agents import LlmAgent  # noqa: E402
from google.adk.events.event import Event  # noqa: E402
from google.adk.memory.memory_entry import MemoryEntry  # noqa: E402
from google.adk.models import BaseLlm, LlmResponse  # noqa: E402
from google.adk.runners import Runner  # noqa: E402
from google.adk.sessions import InMemorySessionService  # noqa: E402
from google.adk.tools import load_memory, preload_memory  # noqa: E402
from google.genai.types import Content, FunctionCall, Part  # noqa: E402
from pydantic import Field  # noqa: E402

from eidet import Memory, Unavailable  # noqa: E402
from eidet.integrations.adk import EidetMemoryService  # noqa: E402

ANN: dict[str, Any] = {"app_name": "home", "user_id": "ann"}
BOB: dict[str, Any] = {"app_name": "home", "user_id": "bob"}


class ScriptedModel(BaseLlm):
    """Gives its replies in order, and keeps what it was asked."""

    model: str = "scripted"
    replies: list[Any]
    requests: list[str] = Field(default_factory=list)

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[Any]:
        assert not stream
        asked = [content.model_dump_json(exclude_none=True) for content in llm_request.contents]
        self.requests.append("\n".join(asked))
        yield LlmResponse(content=Content(role="model", parts=[self.replies.pop(0)]))


def look_up(query: str) -> Part:
    return Part(function_call=FunctionCall(name="load_memory", args={"query": query}))


def said(text: str, **more: Any) -> Event:
    return Event(author="user", content=Content(role="user", parts=[Part(text=text)]), **more)


async def talk(memory: Memory, who: dict[str, Any], session: str, text: str, model: ScriptedModel) -> Any:
    """One turn of a real agent, after which its session is added to the memory."""
    sessions, memories = InMemorySessionService(), EidetMemoryService(memory)
    runner = Runner(
        app_name=who["app_name"],
        agent=LlmAgent(name="helper", model=model, tools=[load_memory]),
        session_service=sessions,
        memory_service=memories,
    )
    await sessions.create_session(**who, session_id=session)
    message = Content(role="user", parts=[Part(text=text)])
    async for _ in runner.run_async(user_id=who["user_id"], session_id=session, new_message=message):
        pass
    ended = await sessions.get_session(**who, session_id=session)
    assert ended is not None
    await memories.add_session_to_memory(ended)
    return ended


def test_a_fact_of_one_session_is_used_in_another_after_a_restart(reopen: Reopen) -> None:
    with reopen() as memory:
        model = ScriptedModel(replies=[Part(text="Noted.")])
        asyncio.run(talk(memory, ANN, "s1", "My gate code is 7731.", model))
    with reopen() as memory:
        model = ScriptedModel(replies=[look_up("gate code"), Part(text="It is 7731.")])
        asyncio.run(talk(memory, ANN, "s2", "What is my gate code?", model))
        assert "7731" not in model.requests[0]
        assert "My gate code is 7731." in model.requests[1]
        model = ScriptedModel(replies=[look_up("gate code"), Part(text="I don't know.")])
        asyncio.run(talk(memory, BOB, "s2", "What is Ann's gate code?", model))
        assert "7731" not in str(model.requests)


def test_memories_are_preloaded() -> None:
    async def ask(memory: Memory) -> None:
        runner = Runner(
            app_name="home",
            agent=LlmAgent(name="helper", model=model, tools=[preload_memory]),
            session_service=InMemorySessionService(),
            memory_service=EidetMemoryService(memory),
            auto_create_session=True,
        )
        message = Content(role="user", parts=[Part(text="What is my gate code?")])
        async for _ in runner.run_async(user_id="ann", session_id="s", new_message=message):
            pass

    model = ScriptedModel(replies=[Part(text="It is 7731.")])
    with Memory() as memory:
        memory.remember("Ann's gate code is 7731", scope="adk/home/ann")
        asyncio.run(ask(memory))
    assert "Ann's gate code is 7731" in model.requests[0]


def test_a_session_that_is_added_again_is_stored_once(reopen: Reopen) -> None:
    async def add(service: EidetMemoryService, memory: Memory) -> None:
        events = [said("The cat is called Tom."), said("Tom likes fish."), Event(author="helper")]
        for count in (1, 2, 3):
            await service.add_events_to_memory(**ANN, events=events[:count], session_id="s")
        await asyncio.gather(
            *(service.add_events_to_memory(**ANN, events=events, session_id="s") for _ in range(4))
        )
        assert memory.count(scope="adk/home/ann") == 2
        await service.add_events_to_memory(**ANN, events=events[:1], session_id="another")
        assert memory.count(scope="adk/home/ann") == 3

    with reopen() as memory:
        asyncio.run(add(EidetMemoryService(memory), memory))


def test_a_deleted_memory_stays_away(reopen: Reopen) -> None:
    async def delete(service: EidetMemoryService) -> None:
        events = [said("My gate code is 7731."), said("My cat is called Tom.")]
        await service.add_events_to_memory(**ANN, events=events, session_id="s")
        found = await service.search_memory(**ANN, query="gate code")
        await service.delete_memory(**BOB, memory_id=found.memories[0].id)
        assert await service.search_memory(**ANN, query="gate code") == found
        await service.delete_memory(**ANN, memory_id=found.memories[0].id)
        await service.delete_memory(**ANN, memory_id="not there")
        await service.delete_memory(**ANN)
        await service.add_events_to_memory(**ANN, events=events, session_id="s")
        left = await service.search_memory(**ANN, query="gate code, cat")
        assert [entry.content.parts[0].text for entry in left.memories] == ["My cat is called Tom."]

    with reopen() as memory:
        asyncio.run(delete(EidetMemoryService(memory)))


def test_memories_come_back_as_they_were_added() -> None:
    async def add(service: EidetMemoryService) -> None:
        picture = Part.from_bytes(data=b"\xff\x00", mime_type="image/png")
        content = Content(role="user", parts=[Part(text="Tom the cat"), picture])
        entry = MemoryEntry(
            id="tom",
            content=content,
            author="ann",
            timestamp="2026-01-02T03:04:05+00:00",
            custom_metadata={"a": 1},
        )
        await service.add_memory(**ANN, memories=[entry], custom_metadata={"b": [2]})
        await service.add_memory(**ANN, memories=[])
        (found,) = (await service.search_memory(**ANN, query="cat")).memories
        assert found == entry.model_copy(update={"custom_metadata": {"a": 1, "b": [2]}})
        assert (await service.search_memory(**ANN, query=" ")).memories == []
        event = said("Mia the dog", timestamp=1_700_000_000.0)
        await service.add_events_to_memory(**ANN, events=[event], custom_metadata={"topic": "pets"})
        (found, *_) = (await service.search_memory(**ANN, query="dog")).memories
        assert (found.content, found.author) == (event.content, "user")
        assert found.timestamp == "2023-11-14T22:13:20+00:00"
        assert found.custom_metadata == {"topic": "pets"}
        book = said("whale " * 200_000)
        await service.add_events_to_memory(**ANN, events=[book])
        (found, *_) = (await service.search_memory(**ANN, query="whale")).memories
        assert found.content == book.content

    with Memory() as memory:
        asyncio.run(add(EidetMemoryService(memory)))


def test_a_store_that_fails_keeps_no_half_of_a_turn() -> None:
    async def fail(service: EidetMemoryService) -> None:
        events = [said("one"), said("two")]
        with out_of_reach(service.memory), pytest.raises(Unavailable):
            await service.add_events_to_memory(**ANN, events=events)
        assert service.memory.count(scope="adk/home/ann") == 0
        await cancel_at_once(service.add_events_to_memory(**ANN, events=events))
        await service.add_events_to_memory(**ANN, events=events)
        assert service.memory.count(scope="adk/home/ann") == 2

    with Memory() as memory:
        asyncio.run(fail(EidetMemoryService(memory)))
