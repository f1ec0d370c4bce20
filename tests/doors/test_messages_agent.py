"""Agents whose memory fills itself."""

from __future__ import annotations

import re
from asyncio import run
from pathlib import Path
from typing import Any

import pytest
from tests.servers.scripted import Handler
from tests.unit.models.llm.server import running, says

from eidet.compat.messages import (
    App,
    Around,
    FileMemoryStore,
    InMemoryMemoryStore,
    LLMAgent,
    Message,
    SummaryMemory,
)
from eidet.core.errors import BadInput, EidetError, Misconfigured, NotFound, Unavailable
from eidet.models.llm import Answer, Request, llm_of

Chat = list[dict[str, Any]]


def answer_from(prompt: str) -> str:
    """A model that knows nothing but its prompt."""
    told = re.findall(r"[Mm]y name is (\w+)", prompt)
    if "What's my name" in prompt:
        return f"Your name is {told[-1]}." if told else "I do not know your name."
    return "Nice to meet you."


async def over_messages(messages: Chat) -> str:
    return answer_from("\n".join(str(message["content"]) for message in messages))


class Port:
    name = "scripted"

    def ask(self, request: Request) -> Answer:
        said = [turn.text for turn in request.turns]
        return Answer(text=answer_from("\n".join([request.system, *said])))


class Wrapper:
    async def chat_completion(self, messages: list[Message]) -> Message:
        return Message(role="assistant", content=answer_from("\n".join(map(str, messages))))


def over_prompt(prompt: str) -> str:
    return answer_from(prompt)


@pytest.mark.point(82, 87)
@pytest.mark.parametrize("llm", [over_messages, Port(), Wrapper(), over_prompt])
def test_an_agent_remembers_what_it_was_told(llm: object) -> None:
    agent = LLMAgent(
        name="ConversationBot",
        llm=llm,
        memory_store=InMemoryMemoryStore(max_messages=50),
        system_prompt="You are a helpful assistant.",
    )
    app = App(agent)

    async def talk() -> tuple[Message, Message]:
        async with app.run_context() as rt:
            first = await rt.call_agent("ConversationBot", "My name is Alice")
            return first, await rt.call_agent("ConversationBot", "What's my name?")

    first, second = run(talk())
    assert (first.role, str(second)) == ("assistant", "Your name is Alice.")
    history = run(agent.memory_store.get_history())
    assert [message.role for message in history] == ["user", "assistant"] * 2
    assert "helpful" not in str(history), "the system prompt is not a memory"


@pytest.mark.point(82)
def test_an_agent_without_that_memory_does_not_know() -> None:
    assert str(run(LLMAgent("Bot", over_messages).run("What's my name?"))) == "I do not know your name."


@pytest.mark.point(88)
def test_agents_share_a_store() -> None:
    shared = InMemoryMemoryStore(max_messages=200)
    analyst = LLMAgent(name="Analyst", llm=over_messages, memory_store=shared)
    writer = LLMAgent(name="Writer", llm=over_messages, memory_store=shared)

    async def talk() -> Message:
        await analyst.run("My name is Bo")
        return await writer.run("What's my name?")

    assert str(run(talk())) == "Your name is Bo."


@pytest.mark.point(2, 82, 87)
def test_an_agent_over_http_remembers_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def one(task: str) -> str:
        async with FileMemoryStore(tmp_path / "m.db") as store:
            agent = LLMAgent("Bot", "openai:test", store, system_prompt="Be kind.")
            return str(await agent.run(task))

    def model(handler: Handler, body: Any) -> None:
        says(answer_from("\n".join(turn["content"] for turn in body["messages"])))(handler, body)

    with running() as server:
        server.answer = model
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        run(one("My name is Carla"))
        assert run(one("What's my name?")) == "Your name is Carla."
        assert server.asked[-1]["messages"][0] == {"role": "system", "content": "Be kind."}


def test_the_user_begins_what_a_model_is_sent() -> None:
    store = InMemoryMemoryStore(max_messages=2)
    asked: list[Request] = []

    def model(request: Request) -> str:
        asked.append(request)
        return "yes"

    async def talk(agent: LLMAgent) -> None:
        await agent.run("one")
        await agent.run("two")

    run(talk(LLMAgent("Bot", llm_of(model), store)))
    assert [turn.text for turn in asked[-1].turns] == ["two"]


@pytest.mark.point(92)
def test_a_summary_is_written_by_the_agent_that_is_named() -> None:
    asked: list[str] = []

    async def summarize(messages: Chat) -> str:
        asked.append(messages[-1]["content"])
        return "they greeted each other"

    store = SummaryMemory("Summarizer", threshold=12)
    app = App(LLMAgent("Bot", over_messages, store), LLMAgent("Summarizer", summarize))

    async def talk() -> None:
        async with app.run_context() as rt:
            for _ in range(6):
                await rt.call_agent("Bot", "Hello")

    alone = SummaryMemory("Summarizer", threshold=12)
    for _ in range(11):
        run(alone.add_message(Message(role="user", content="x")))
    with pytest.raises(Misconfigured, match="run_context"):
        run(alone.add_message(Message(role="user", content="one too many")))
    assert alone.current_count == 11, "what cannot be summed up is not added either"
    run(talk())
    assert asked[0].startswith("Summarize this conversation:\nuser: Hello\nassistant: Nice")
    assert str(store.summaries[0]) == "Previous conversation summary: they greeted each other"


def test_a_context_reaches_a_store_through_its_wrappers() -> None:
    inside = SummaryMemory("Summarizer", threshold=12)
    store = Around(Around(inside))
    app = App(LLMAgent("Bot", over_messages, store), LLMAgent("Summarizer", over_messages))

    async def talk() -> None:
        async with app.run_context() as rt:
            for _ in range(6):
                await rt.call_agent("Bot", "Hello")

    run(talk())
    assert len(inside.summaries) == 1


def test_a_failed_model_leaves_what_was_asked() -> None:
    def fails(messages: Chat) -> str:
        raise OSError("no network")

    agent = LLMAgent("Bot", fails)
    with pytest.raises(Unavailable, match="no network"):
        run(agent.run("Hello"))
    assert [str(message) for message in run(agent.memory_store.get_history())] == ["Hello"]


def test_what_cannot_be_asked_is_told() -> None:
    with pytest.raises(Misconfigured, match="is no LLM"):
        LLMAgent("Bot", object())
    with pytest.raises(Misconfigured, match="takes no argument"):
        LLMAgent("Bot", lambda: "x")
    with pytest.raises(Misconfigured, match="gave a int"):
        run(LLMAgent("Bot", lambda messages: 5).run("x"))
    with pytest.raises(BadInput, match="already"):
        App(LLMAgent("Bot", over_messages), LLMAgent("Bot", over_messages))
    with pytest.raises(EidetError):
        LLMAgent("Bot", "nosuch:model")

    async def call() -> None:
        async with App().run_context() as rt:
            await rt.call_agent("Nobody", "x")

    with pytest.raises(NotFound, match="Nobody"):
        run(call())
