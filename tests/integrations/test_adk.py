"""ADK's services over a memory, judged by real runs and by ADK's own services in RAM."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.integrations.conftest import Reopen
from tests.integrations.needs import need
from tests.integrations.promises import cancel_at_once, out_of_reach

need("google.adk", "adk")

from google.adk.agents import LlmAgent  # noqa: E402
from google.adk.errors.already_exists_error import AlreadyExistsError  # noqa: E402
from google.adk.errors.session_not_found_error import SessionNotFoundError  # noqa: E402
from google.adk.events.event import Event  # noqa: E402
from google.adk.events.event_actions import EventActions  # noqa: E402
from google.adk.memory.memory_entry import MemoryEntry  # noqa: E402
from google.adk.models import BaseLlm, LlmResponse  # noqa: E402
from google.adk.runners import Runner  # noqa: E402
from google.adk.sessions import InMemorySessionService  # noqa: E402
from google.adk.sessions.base_session_service import GetSessionConfig  # noqa: E402
from google.adk.tools import load_memory, preload_memory  # noqa: E402
from google.genai.types import Content, FunctionCall, Part  # noqa: E402
from pydantic import Field  # noqa: E402

from eidet import Memory, Unavailable  # noqa: E402
from eidet.integrations.adk import EidetMemoryService, EidetSessionService  # noqa: E402

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


async def read(service: EidetSessionService, config: GetSessionConfig | None = None) -> Any:
    found = await service.get_session(**ANN, session_id=" s ", config=config)
    assert found is not None
    return found


async def talk(memory: Memory, who: dict[str, Any], session: str, text: str, model: ScriptedModel) -> Any:
    """One turn of a real agent, after which its session is added to the memory."""
    sessions, memories = EidetSessionService(memory), EidetMemoryService(memory)
    runner = Runner(
        app_name=who["app_name"],
        agent=LlmAgent(name="helper", model=model, tools=[load_memory]),
        session_service=sessions,
        memory_service=memories,
    )
    if await sessions.get_session(**who, session_id=session) is None:
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


def test_a_session_goes_on_after_a_restart(reopen: Reopen) -> None:
    with reopen() as memory:
        model = ScriptedModel(replies=[Part(text="Noted.")])
        first = asyncio.run(talk(memory, ANN, "s", "My gate code is 7731.", model))
    with reopen() as memory:
        model = ScriptedModel(replies=[Part(text="It is 7731.")])
        second = asyncio.run(talk(memory, ANN, "s", "What is my gate code?", model))
        assert "My gate code is 7731." in model.requests[0]
        assert second.events[:2] == first.events
        assert [event.author for event in second.events] == ["user", "helper"] * 2
        (hit, *_) = memory.recall("gate code", scope="adk/home/ann/sessions", kinds="message")
        assert "gate code" in hit.text


def test_memories_are_preloaded() -> None:
    async def ask(memory: Memory) -> None:
        runner = Runner(
            app_name="home",
            agent=LlmAgent(name="helper", model=model, tools=[preload_memory]),
            session_service=EidetSessionService(memory),
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


NAMES = st.sampled_from(["ann", "ann", "ann", "bob/b"])  # mostly in one place, where more happens
SESSIONS = st.sampled_from(["s", "s", "s", "t"])
APPS = st.sampled_from(["home", "home", "home", "work/1"])
KEYS = st.sampled_from(["k", "app:k", "user:k", "temp:k", "app:n", "user:n", "n", "x:y"])
VALUES = st.sampled_from([None, 0, 0.1 + 0.2, 2**70, "ü\x00", [], {"a": None}, [{"b": [1]}], True])
STATES = st.dictionaries(KEYS, VALUES, max_size=4)
TIMES = st.sampled_from([2e9, 2e9 + 0.5, 2e9 + 1, 2e9 + 7])


@dataclass(frozen=True)
class Step:
    verb: str
    app_name: str
    user_id: str
    session_id: str
    state: dict[str, Any]
    at: float
    count: int


STEPS = st.builds(
    Step,
    verb=st.sampled_from([*["append"] * 5, "create", "again", "twin", "partial", "get", "get", "delete"]),
    app_name=APPS,
    user_id=NAMES,
    session_id=SESSIONS,
    state=STATES,
    at=TIMES,
    count=st.integers(0, 3),
)


class Driver:
    """Does the same with any service, and tells what it answers."""

    def __init__(self, service: Any) -> None:
        self.service = service
        self.copies: dict[tuple[str, ...], Any] = {}  # what a runner would hold
        self.last: Event | None = None

    async def take(self, step: Step, event: Event) -> Any:
        who = {"app_name": step.app_name, "user_id": step.user_id}
        place = (step.app_name, step.user_id, step.session_id)
        if step.verb == "create":
            try:
                made = await self.service.create_session(**who, session_id=step.session_id, state=step.state)
            except AlreadyExistsError:
                return "exists"
            self.copies[place] = made
            return show(made)
        if step.verb == "get":
            config = GetSessionConfig(num_recent_events=step.count or None, after_timestamp=step.at)
            return show(await self.service.get_session(**who, session_id=step.session_id, config=config))
        if step.verb == "delete":
            return await self.service.delete_session(**who, session_id=step.session_id)
        if step.verb == "again" and self.last is not None:
            event = self.last
        if step.verb == "twin" and self.last is not None:
            event.id = self.last.id
        return await self.append(place, event)

    async def append(self, place: tuple[str, ...], event: Event) -> Any:
        if place not in self.copies:
            return "no session"
        copy = self.copies[place]
        self.last = event = event.model_copy(deep=True)
        try:
            await self.service.append_event(copy, event)
        except SessionNotFoundError:
            return "not found"
        return show(copy), event

    async def look(self) -> Any:
        """All that is stored."""
        told: list[Any] = []
        for app in ("home", "work/1"):
            told.append([show(one) for one in (await self.service.list_sessions(app_name=app)).sessions])
            for user in ("ann", "bob/b"):
                mine = await self.service.list_sessions(app_name=app, user_id=user)
                told.append([one.id for one in mine.sessions])
                told.append(await self.service.get_user_state(app_name=app, user_id=user))
                for id in ("s", "t"):
                    told.append(
                        show(await self.service.get_session(app_name=app, user_id=user, session_id=id))
                    )
        return told


def show(session: Any) -> Any:
    if session is None:
        return None
    at = session.last_update_time if session.last_update_time >= 2e9 else "when it was made"
    return session.app_name, session.user_id, session.id, session.state, session.events, at


@settings(max_examples=40, deadline=None, derandomize=True)
@given(steps=st.lists(STEPS, min_size=5, max_size=25))
def test_sessions_do_what_adks_own_service_in_ram_does(steps: list[Step]) -> None:
    async def compare(memory: Memory) -> None:
        theirs, ours = Driver(InMemorySessionService()), Driver(EidetSessionService(memory))
        begin = Step("create", "home", "ann", "s", {"k": "first", "user:k": "first"}, 0, 0)
        for step in (begin, *steps):
            actions = EventActions(state_delta=dict(step.state))
            event = said("hello", timestamp=step.at, actions=actions, partial=step.verb == "partial" or None)
            expected = await theirs.take(step, event.model_copy(deep=True))
            assert await ours.take(step, event.model_copy(deep=True)) == expected
        assert await ours.look() == await theirs.look()

    with Memory() as memory:
        asyncio.run(compare(memory))


def test_a_cancelled_append_has_written_once_when_it_ends(reopen: Reopen) -> None:
    async def cancel(service: EidetSessionService) -> None:
        session = await service.create_session(**ANN, session_id="s")
        event = said("one", actions=EventActions(state_delta={"k": 1}))
        await cancel_at_once(service.append_event(session, event))
        for _ in range(2):
            stored = await read(service)
            assert (stored.events, stored.state) == ([event], {"k": 1})
            await service.append_event(session, event)
        assert (session.events, session.state) == ([event], {"k": 1})

    with reopen() as memory:
        asyncio.run(cancel(EidetSessionService(memory)))


def test_a_store_that_fails_keeps_no_half_of_a_turn() -> None:
    async def fail(sessions: EidetSessionService, memories: EidetMemoryService) -> None:
        session = await sessions.create_session(**ANN, session_id="s")
        event = said("one", actions=EventActions(state_delta={"k": 1, "user:k": 2, "app:k": 3, "temp:k": 4}))
        with out_of_reach(sessions.memory):
            with pytest.raises(Unavailable):
                await sessions.append_event(session, event)
            with pytest.raises(Unavailable):
                await sessions.create_session(**ANN, session_id="t")
            with pytest.raises(Unavailable):
                await memories.add_events_to_memory(**ANN, events=[event, said("two")])
        assert (session.events, session.state) == ([], {})
        assert [one.id for one in (await sessions.list_sessions(app_name="home")).sessions] == ["s"]
        await sessions.append_event(session, event)
        stored = await read(sessions)
        assert (stored.events, stored.state) == ([event], {"k": 1, "user:k": 2, "app:k": 3})
        assert session.state == {"k": 1, "user:k": 2, "app:k": 3, "temp:k": 4}
        assert sessions.memory.count(scope="adk/home/ann") == 0

    with Memory() as memory:
        asyncio.run(fail(EidetSessionService(memory), EidetMemoryService(memory)))


def test_processes_that_append_at_once_keep_each_others_events_and_state(tmp_path: Path) -> None:
    async def append(services: list[EidetSessionService]) -> Any:
        session = await services[0].create_session(**ANN, session_id="s")
        writes = []
        for number in range(20):
            event = said(str(number), actions=EventActions(state_delta={f"user:{number}": number}))
            writes.append(services[number % 2].append_event(session.model_copy(deep=True), event))
        await asyncio.gather(*writes)
        return await services[1].get_session(**ANN, session_id="s")

    with Memory(tmp_path / "memory.db") as one, Memory(tmp_path / "memory.db") as other:
        session = asyncio.run(append([EidetSessionService(one), EidetSessionService(other)]))
    assert sorted(int(event.content.parts[0].text) for event in session.events) == list(range(20))
    assert session.state == {f"user:{number}": number for number in range(20)}


def test_a_long_session_is_read_in_the_order_in_which_it_was_written() -> None:
    async def write(service: EidetSessionService) -> None:
        session = await service.create_session(**ANN, session_id="s")
        events = [said(f"line {number}", timestamp=2e9 - number) for number in range(50)]
        for event in events:
            await service.append_event(session, event)
        assert (await read(service)).events == events
        latest = GetSessionConfig(num_recent_events=3)
        assert (await read(service, latest)).events == events[-3:]
        nothing = GetSessionConfig(num_recent_events=0)
        assert (await read(service, nothing)).events == []

    with Memory() as memory:
        asyncio.run(write(EidetSessionService(memory)))
