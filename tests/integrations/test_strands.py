"""The memory store for Strands, judged by its MemoryManager and by real runs of an agent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.integrations.conftest import Reopen
from tests.integrations.needs import need
from tests.integrations.promises import cancel_at_once, out_of_reach

need("strands.memory", "strands")

from strands import Agent  # noqa: E402
from strands.memory import (  # noqa: E402
    AddMessagesContext,
    AggregateMemoryError,
    ExtractionResult,
    InvocationTrigger,
    MemoryManager,
    MemoryMessageFilter,
)
from strands.models import Model  # noqa: E402

from eidet import BadInput, Memory, Unavailable  # noqa: E402
from eidet.integrations.strands import EidetMemoryStore  # noqa: E402


class ScriptedModel(Model):  # type: ignore[misc]  # Any
    """Gives its replies in order, and keeps what it was asked. A dict is a call of a tool."""

    def __init__(self, *replies: str | dict[str, Any]) -> None:
        self.replies = list(replies)
        self.requests: list[str] = []

    def update_config(self, **_config: Any) -> None: ...

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *_args: Any, **_more: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *_args: Any, **_more: Any) -> AsyncIterator[Any]:
        self.requests.append(json.dumps(messages))
        reply = self.replies.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(reply, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": reply}}}
        else:
            called = {"toolUseId": "t1", "name": reply["name"]}
            yield {"contentBlockStart": {"start": {"toolUse": called}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(reply["input"])}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(reply, str) else "tool_use"}}


def agent_of(model: ScriptedModel, store: EidetMemoryStore, **options: Any) -> Agent:
    manager = MemoryManager(stores=[store], **options)
    return Agent(model=model, memory_manager=manager, callback_handler=None)


def said(role: str, text: str) -> Any:
    return {"role": role, "content": [{"text": text}]}


def test_a_fact_of_one_run_is_used_in_the_next_after_a_restart(reopen: Reopen) -> None:
    with reopen() as memory:
        agent_of(ScriptedModel("Noted."), EidetMemoryStore(memory, scope="ann"))("My gate code is 7731.")
        assert [record.text for record in memory.find(scope="ann", order="occurred")] == [
            "My gate code is 7731.",
            "Noted.",
        ]
    with reopen() as memory:
        model = ScriptedModel("It is 7731.")
        agent_of(model, EidetMemoryStore(memory, scope="ann"))("What is my gate code?")
        assert "My gate code is 7731." in model.requests[0]
        model = ScriptedModel("I don't know.")
        agent_of(model, EidetMemoryStore(memory, scope="bob"))("What is Ann's gate code?")
        assert "7731" not in model.requests[0]


def test_the_tools_of_the_manager_add_and_search(reopen: Reopen) -> None:
    add = {"name": "add_memory", "input": {"entries": ["Ann's gate code is 7731", "Ann likes tea"]}}
    search = {"name": "search_memory", "input": {"query": "gate code", "max_search_results": 1}}
    with reopen() as memory:
        store = EidetMemoryStore(memory, scope="ann", extraction=False)
        agent = agent_of(ScriptedModel(add, "Noted."), store, add_tool_config=True, injection=False)
        agent("Remember: gate 7731, tea.")
        assert memory.count(scope="ann") == 2
    with reopen() as memory:
        model = ScriptedModel(search, "It is 7731.")
        agent_of(model, EidetMemoryStore(memory, scope="ann"), injection=False)("What is my gate code?")
        assert "7731" not in model.requests[0]
        assert "Ann's gate code is 7731" in model.requests[1]
        assert "tea" not in model.requests[1]


def test_a_run_in_a_loop_of_the_caller_is_stored_when_it_ends() -> None:
    async def run(memory: Memory) -> None:
        agent = agent_of(ScriptedModel("Noted.", "Hello."), EidetMemoryStore(memory))
        async with agent:
            await agent.invoke_async("My gate code is 7731.")
            await agent.invoke_async("Hello.")

    with Memory() as memory:
        asyncio.run(run(memory))
        assert memory.count() == 4
        assert len({record.session for record in memory.find()}) == 1


def test_what_is_handed_in_again_is_stored_once(reopen: Reopen) -> None:
    async def write(store: EidetMemoryStore, memory: Memory) -> None:
        batch = [said("user", "ok"), said("assistant", "ok"), said("user", "ok")]
        await store.add_messages(batch[:2], AddMessagesContext(sequence_numbers=[0, 1]))
        for _ in range(3):
            await store.add_messages(batch, AddMessagesContext(sequence_numbers=[0, 1, 7]))
        assert memory.count() == 3
        await asyncio.gather(*(store.add("Ann likes tea", {"by": "ann"}) for _ in range(5)))
        assert memory.count(kinds="fact") == 1
        await store.initialize()  # another agent: its messages are others
        await store.add_messages(batch[:1], AddMessagesContext(sequence_numbers=[0]))
        assert memory.count(kinds="message") == 4
        await store.add_messages(batch[:1])
        await store.add_messages(batch[:1])
        assert memory.count(kinds="message") == 6

    with reopen() as memory:
        asyncio.run(write(EidetMemoryStore(memory), memory))


def test_a_store_that_fails_loses_and_doubles_nothing() -> None:
    with Memory() as memory:
        agent = agent_of(ScriptedModel("Noted.", "Hello."), EidetMemoryStore(memory))
        with out_of_reach(memory):
            agent("My gate code is 7731.")
            with pytest.raises(AggregateMemoryError):
                asyncio.run(agent.memory_manager.add("Ann likes tea"))
        assert memory.count() == 0
        agent("Hello.")
        told = [record.text for record in memory.find(order="occurred")]
        assert told == ["My gate code is 7731.", "Noted.", "Hello.", "Hello."]


def test_a_write_whose_outcome_was_not_heard_is_not_made_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    remember = Memory.remember

    def lose_answer(self: Memory, *given: Any, **named: Any) -> Any:
        remember(self, *given, **named)
        raise Unavailable("the answer was lost")

    with Memory() as memory:
        agent = agent_of(ScriptedModel("Noted.", "Hello."), EidetMemoryStore(memory))
        with monkeypatch.context() as broken:
            broken.setattr(Memory, "remember", lose_answer)
            agent("My gate code is 7731.")
        assert memory.count() == 2
        agent("Hello.")
        told = [record.text for record in memory.find(order="occurred")]
        assert told == ["My gate code is 7731.", "Noted.", "Hello.", "Hello."]


def test_a_cancelled_call_has_written_once_when_it_ends(reopen: Reopen) -> None:
    async def cancel(store: EidetMemoryStore) -> None:
        context = AddMessagesContext(sequence_numbers=[0])
        await cancel_at_once(store.add_messages([said("user", "one")], context))
        assert store.memory.count() == 1
        await store.add_messages([said("user", "one")], context)
        assert store.memory.count() == 1

    with reopen() as memory:
        asyncio.run(cancel(EidetMemoryStore(memory)))


def test_an_extractor_of_the_caller_makes_the_facts() -> None:
    class Extractor:
        async def extract(self, messages: Any, context: Any = None) -> list[ExtractionResult]:
            assert context is not None
            return [ExtractionResult(content="Ann keeps a cat", metadata={"turns": len(messages)})]

    with Memory() as memory:
        config: Any = {"trigger": InvocationTrigger(), "extractor": Extractor()}
        store = EidetMemoryStore(memory, extraction=config)
        agent_of(ScriptedModel("Nice."), store)("I keep a cat.")
        (record,) = memory.find()
        assert (record.text, record.kind, record.meta) == ("Ann keeps a cat", "fact", {"turns": 2})
        forgotten = memory.forget(record.id)
        assert forgotten == 1
        agent_of(ScriptedModel("Nice."), store)("I keep a cat.")  # no error: it stays away
        assert memory.count() == 0


def test_entries_tell_where_they_come_from() -> None:
    async def search(store: EidetMemoryStore, memory: Memory) -> None:
        await store.add("Ann likes tea", {"topic": "drinks"})
        memory.remember("Ann likes coffee", occurred="2026-01-02", who="bob", session="s")
        (tea,) = await store.search("tea", {"max_search_results": 1})
        assert (tea.content, tea.metadata["topic"]) == ("Ann likes tea", "drinks")
        assert 0 < tea.metadata["score"] <= 1
        (coffee, *_) = await store.search("coffee")
        assert coffee.metadata["occurred"].startswith("2026-01-02")
        assert (coffee.metadata["who"], coffee.metadata["session"]) == ("bob", "s")
        assert await store.search(" ") == []

    with Memory() as memory:
        asyncio.run(search(EidetMemoryStore(memory), memory))
        narrow = EidetMemoryStore(memory, where={"meta.topic": "drinks"})
        assert [entry.content for entry in asyncio.run(narrow.search("What does Ann like?"))] == [
            "Ann likes tea"
        ]


@pytest.mark.parametrize("this_session", [False, True])
def test_what_this_agent_said_is_left_out_unless_it_is_wanted(this_session: bool) -> None:
    with Memory() as memory:
        agent = agent_of(ScriptedModel("Noted."), EidetMemoryStore(memory, this_session=this_session))
        agent("My gate code is 7731.")
        found = asyncio.run(agent.memory_manager.search("gate code"))
        assert bool(found) is this_session
        other = MemoryManager(stores=[EidetMemoryStore(memory)])
        assert asyncio.run(other.search("gate code"))


def test_results_of_tools_are_stored_if_the_filter_lets_them_pass() -> None:
    look = {"name": "search_memory", "input": {"query": "gate"}}
    with Memory() as memory:
        memory.remember("The gate is green")
        config: Any = {"trigger": InvocationTrigger(), "filter": MemoryMessageFilter(exclude=[])}
        agent_of(ScriptedModel(look, "Green."), EidetMemoryStore(memory, extraction=config))("Which gate?")
        texts = [record.text for record in memory.find(kinds="message", order="occurred")]
        assert len(texts) == 3
        assert "The gate is green" in texts[1]


def test_a_store_that_only_reads_writes_nothing() -> None:
    with Memory() as memory:
        agent_of(ScriptedModel("Noted."), EidetMemoryStore(memory, writable=False))("My gate code is 7731.")
        assert memory.count() == 0
        with pytest.raises(BadInput):
            EidetMemoryStore(memory, scope="users/**")
