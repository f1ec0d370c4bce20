"""The memory store of Haystack, judged by its protocol and by real agents."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.conftest import Reopen
from tests.integrations.needs import need
from tests.integrations.promises import out_of_reach

need("haystack_experimental", "haystack")

from haystack import component  # noqa: E402
from haystack.components.agents import Agent  # noqa: E402
from haystack.dataclasses import ChatMessage  # noqa: E402
from haystack.utils import Secret  # noqa: E402
from haystack_experimental.memory_stores import MemoryStore  # noqa: E402

from eidet import Memory, Misconfigured, Unavailable  # noqa: E402
from eidet.integrations.haystack import (  # noqa: E402
    EidetChatMemoryStore,
    EidetRecallHook,
    EidetRememberHook,
)


def test_no_password_is_serialized(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="Secret"):
        EidetChatMemoryStore("postgresql://ann:pw@localhost/db").to_dict()
    with Memory() as memory, pytest.raises(Misconfigured, match="place"):
        EidetChatMemoryStore(memory).to_dict()
    monkeypatch.setenv("MEMORY_PLACE", str(tmp_path / "memory.db"))
    written = EidetChatMemoryStore(Secret.from_env_var("MEMORY_PLACE")).to_dict()
    assert str(tmp_path) not in str(written)
    store = EidetChatMemoryStore.from_dict(written)
    store.add_memories(messages=[ChatMessage.from_user("kept")])
    store.close()
    with Memory(tmp_path / "memory.db") as memory:
        assert memory.find(scope="haystack")[0].text == "kept"


def test_a_store_that_fails_writes_no_half_of_a_list() -> None:
    said = [ChatMessage.from_user("one"), ChatMessage.from_user("two")]
    with Memory() as memory:
        memories = EidetChatMemoryStore(memory)
        with out_of_reach(memory), pytest.raises(Unavailable):
            memories.add_memories(messages=said, user_id="ann")
        assert memory.count(scope="haystack/ann") == 0
        for _ in range(2):
            memories.add_memories(messages=said, user_id="ann")
        assert memory.count(scope="haystack/ann") == 2


def test_the_memory_store_takes_what_the_protocol_names() -> None:
    """The protocol is not checkable at run time: every method and parameter is looked for by name."""
    for name, method in inspect.getmembers(MemoryStore, inspect.isfunction):
        if not name.startswith("_"):
            ours = inspect.signature(getattr(EidetChatMemoryStore, name)).parameters
            for parameter in inspect.signature(method).parameters.values():
                if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
                    assert parameter.name in ours, (name, parameter.name)
                else:
                    assert any(one.kind is parameter.kind for one in ours.values()), name


def test_memories_are_searched_filtered_and_deleted(reopen: Reopen) -> None:
    with reopen() as memory:
        store = EidetChatMemoryStore(memory)
        food = ChatMessage.from_user("I am allergic to peanuts.", meta={"topic": "food"})
        seat = ChatMessage.from_user("I prefer aisle seats.", meta={"topic": "travel"})
        store.add_memories(messages=[food, seat], user_id="ann/1", run_id="r1")
        store.add_memories(messages=[food], user_id="bob")
    with reopen() as memory:
        store = EidetChatMemoryStore(memory)
        (best,) = store.search_memories(query="Which seat?", top_k=1, user_id="ann/1")
        assert (best.text, best.role.value) == ("I prefer aisle seats.", "system")
        assert best.meta["topic"] == "travel"
        about_food = {"field": "meta.topic", "operator": "==", "value": "food"}
        (only,) = store.search_memories(filters=about_food, user_id="ann/1")
        assert only.text == "I am allergic to peanuts."
        assert store.search_memories(query="seat", user_id="ann/1", run_id="r2") == []
        store.delete_memory(best.meta["memory_id"], user_id="bob")
        assert len(store.search_memories(user_id="ann/1")) == 2
        store.delete_memory(best.meta["memory_id"], user_id="ann/1")
        assert len(store.search_memories(user_id="ann/1")) == 1
        store.delete_all_memories(user_id="ann/1")
        assert store.search_memories(user_id="ann/1") == []
        assert len(store.search_memories(user_id="bob")) == 1


@component
class Scripted:
    """A chat generator that answers as told and keeps what it was asked."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[list[ChatMessage]] = []

    @component.output_types(replies=list[ChatMessage])  # type: ignore[untyped-decorator]
    def run(self, messages: list[ChatMessage], tools: Any = None) -> dict[str, list[ChatMessage]]:
        self.asked.append(list(messages))
        return {"replies": [ChatMessage.from_assistant(self.answers.pop(0))]}

    @component.output_types(replies=list[ChatMessage])  # type: ignore[untyped-decorator]
    async def run_async(self, messages: list[ChatMessage], tools: Any = None) -> dict[str, list[ChatMessage]]:
        return self.run(messages, tools)


def _agent(store: EidetChatMemoryStore, model: Scripted) -> Agent:
    return Agent(
        chat_generator=model,
        system_prompt="Be brief.",
        hooks={"before_run": [EidetRecallHook(store)], "after_run": [EidetRememberHook(store)]},
    )


def test_an_agent_uses_what_another_run_was_told_after_a_restart(reopen: Reopen) -> None:
    with reopen() as memory:
        agent = _agent(EidetChatMemoryStore(memory), Scripted("Noted."))
        told = [ChatMessage.from_user("My gate code is 7731.")]
        agent.run(messages=told, hook_context={"user_id": "ann", "run_id": "monday"})
    with reopen() as memory:
        model = Scripted("7731.", "I do not know.")
        agent = _agent(EidetChatMemoryStore(memory), model)
        question = [ChatMessage.from_user("What is my gate code?")]
        agent.run(messages=question, hook_context={"user_id": "ann", "run_id": "tuesday"})
        asyncio.run(agent.run_async(messages=question, hook_context={"user_id": "bob"}))
        anns, bobs = model.asked
        assert [message.role.value for message in anns] == ["system", "system", "user"]
        assert "7731" in str(anns[1].text)
        assert [message.role.value for message in bobs] == ["system", "user"]
        said = memory.find(scope="haystack/ann", order="occurred")
        assert [(record.who, record.text) for record in said] == [
            ("user", "My gate code is 7731."),
            ("assistant", "Noted."),
            ("user", "What is my gate code?"),
            ("assistant", "7731."),
        ]


def test_a_history_that_is_added_after_each_turn_is_stored_once() -> None:
    with Memory() as memory:
        store = EidetChatMemoryStore(memory)
        history = [
            ChatMessage.from_user("yes"),
            ChatMessage.from_assistant("Sure?"),
            ChatMessage.from_user("yes"),
        ]
        for end in (2, 3, 3):
            store.add_memories(messages=history[:end], user_id="ann", run_id="r")
        assert [record.text for record in memory.find(scope="haystack/ann", order="occurred")] == [
            "yes",
            "Sure?",
            "yes",
        ]


def test_an_agent_is_not_reminded_of_what_its_own_run_said() -> None:
    with Memory() as memory:
        model = Scripted("Noted.", "7731.", "7731.")
        agent = _agent(EidetChatMemoryStore(memory), model)
        monday, tuesday = ({"user_id": "ann", "run_id": day} for day in ("monday", "tuesday"))
        told = ChatMessage.from_user("My gate code is 7731.")
        asked = ChatMessage.from_user("What is my gate code?")
        agent.run(messages=[told], hook_context=monday)
        agent.run(messages=[told, ChatMessage.from_assistant("Noted."), asked], hook_context=monday)
        assert [message.role.value for message in model.asked[1]] == ["system", "user", "assistant", "user"]
        agent.run(messages=[asked], hook_context=tuesday)
        assert "7731" in str(model.asked[2][1].text)
        assert memory.count(scope="haystack/ann", session="monday") == 4
