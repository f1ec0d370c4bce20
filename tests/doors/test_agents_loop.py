"""The memories together, and an agent that works with them over the Messages API."""

from __future__ import annotations

import asyncio
import re
from asyncio import run
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tests.doors.messages_api import Asked, ScriptedClient, Stopped, text, tool_use

from eidet import Memory
from eidet.compat.agents import (
    AgentMemorySystem,
    AgentWithMemory,
    ConversationMemory,
    OutOfTurns,
    SemanticMemory,
    Tool,
    WorkingMemory,
    create_memory_aware_prompt,
)
from eidet.core.errors import BadInput, EidetError, Misconfigured, MissingExtra
from eidet.models.llm import BadAnswer, Declined

T = TypeVar("T")


async def always_alike(words: str) -> list[float]:
    return [1.0, 0.5]


@pytest.mark.point(137, 138)
def test_the_context_has_the_headings_of_the_document() -> None:
    system = AgentMemorySystem(semantic=SemanticMemory(always_alike))

    async def work() -> tuple[str, str, str]:
        before = await system.get_relevant_context("x")
        for i in range(5):
            await system.learn(f"fact {i}")
        known = await system.get_relevant_context("x", max_semantic_results=1)
        system.start_task("T")
        return before, known, await system.get_relevant_context("x")

    before, known, both = run(work())
    assert before == ""
    assert re.fullmatch(r"## Relevant Knowledge\n- fact \d", known)
    task = "## Current Task Context\nCurrent Task: T\nCurrent Goal: T\n\n## Relevant Knowledge\n- fact "
    assert both.startswith(task)
    assert both.count("\n- fact") == 3


@pytest.mark.point(137)
def test_without_arguments_the_parts_are_there_and_separate() -> None:
    first, second = AgentMemorySystem(), AgentMemorySystem()
    assert isinstance(first.working, WorkingMemory)
    assert isinstance(first.conversation, ConversationMemory)
    assert isinstance(first.semantic, SemanticMemory)
    first.start_task("mine")
    assert second.working.task == ""
    assert list(second.conversation.messages) == []
    with pytest.raises(BadInput, match="task"):
        first.start_task("  ")


@pytest.mark.point(139, 140, 141, 142)
def test_a_task_from_its_start_to_its_end(memory: Memory) -> None:
    system = AgentMemorySystem(memory=memory)

    async def work() -> None:
        await system.learn("Ann is allergic to nuts", importance=0.9, source="doctor")
        await system.learn("Ann is allergic to nuts", importance=0.9, source="doctor")
        system.start_task("bake a cake")
        system.record_step("look for a recipe", "search", "walnut cake")
        assert [(m.role, m.content) for m in system.conversation.messages] == [("user", "bake a cake")]
        assert (system.working.scratchpad, system.working.results) == (
            ["look for a recipe"],
            {"search": "walnut cake"},
        )
        await system.end_task(True, "a cake without nuts")

    run(work())
    assert system.working.task == ""
    learned = {item.content: item for item in system.semantic.memories.values()}
    assert learned.keys() == {
        "Ann is allergic to nuts",
        "Successfully completed: bake a cake. Outcome: a cake without nuts",
    }
    assert len(system.semantic.memories) == 2, "what is known word for word is not learned twice"
    assert learned["Ann is allergic to nuts"].metadata["source"] == "doctor"
    done = learned["Successfully completed: bake a cake. Outcome: a cake without nuts"]
    assert (done.importance, done.metadata["source"]) == (0.7, "conversation")


@pytest.mark.point(21, 142, 145)
def test_a_failed_task_is_an_experience_that_is_told_next_time(memory: Memory) -> None:
    system = AgentMemorySystem(memory=memory)

    async def work() -> tuple[int, str, str]:
        system.start_task("deploy the site")
        system.record_step("ship it", "upload", "timeout")
        await system.end_task(False, "the client was full")
        plain = await system.get_relevant_context("deploy the site again")
        told = await system.get_relevant_context("deploy the site again", max_episodes=2)
        return len(system.semantic.memories), plain, told

    facts, plain, told = run(work())
    assert facts == 0
    assert plain == ""
    assert told == "## What Failed Before\n- deploy the site: the client was full"
    [episode] = run(system.episodic.search("deploy"))
    assert (episode.success, episode.action) == (False, ["upload"])


@pytest.mark.point(144)
def test_a_memory_aware_prompt() -> None:
    system = AgentMemorySystem()
    assert create_memory_aware_prompt(system, "T") == "Current task: T"
    system.start_task("T")
    system.record_step("s", "look", "nothing")
    done = "Current task: T\n\nWhat you've already done:\n- look: nothing\n\nCurrent goal: T"
    assert create_memory_aware_prompt(system, "T") == done
    system.conversation.add_message("assistant", "I try")
    system.conversation.add_message("user", "T")
    told = "\n\nWhat was said before:\n- user: T\n- assistant: I try"
    assert create_memory_aware_prompt(system, "T") == done + told
    assert create_memory_aware_prompt(system, "T", include_history=False) == done


# The agent. The model of these tests knows nothing but the request it was sent.

PRICES = {"Lisbon": 120, "Oslo": 340}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def price(city: str) -> dict[str, int]:
    return {"eur": PRICES[city]}


async def slow_price(city: str) -> int:
    await asyncio.sleep(0)
    return PRICES[city]


PRICE = Tool(name="price", description="What a flight costs.", function=price, input_schema=SCHEMA)


def traveller(asked: Asked) -> Any:
    """Looks up the price of the city that the user likes, which it has to find in its prompt."""
    if asked.results:
        return "The flight costs " + " and ".join(result["content"] for result in asked.results)
    city = re.search(r"I like (\w+)", asked.prompt)
    if "How much" not in asked.last:
        return "Noted."
    if city is None:
        return "I do not know where to."
    return [text("Let me see."), tool_use("price", {"city": city[1]})]


def agent_at(client: ScriptedClient, *tools: Any, **how: Any) -> AgentWithMemory:
    return AgentWithMemory(list(tools), client=client, **how)


@pytest.mark.point(143)
def test_a_fact_of_one_run_is_used_in_the_next() -> None:
    client = ScriptedClient(traveller)
    agent = agent_at(client, PRICE)
    assert run(agent.run("I like Lisbon")) == "Noted."
    assert run(agent.run("How much is a flight there?")) == 'The flight costs {"eur":120}'
    fresh = agent_at(client, PRICE)
    assert run(fresh.run("How much is a flight there?")) == "I do not know where to."
    body = client.asked[0].body
    assert (body["model"], body["max_tokens"]) == ("claude-sonnet-4-20250514", 4096)
    assert body["tools"] == [PRICE.to_api_schema()]
    assert body["system"] == (
        "You are a helpful assistant with access to memory.\n\n"
        "## Current Task Context\nCurrent Task: I like Lisbon\nCurrent Goal: I like Lisbon\n\n"
        "Use the information above to help with the current task.\n"
    )


@pytest.mark.point(2, 143)
@pytest.mark.parametrize("session", ["monday", "tuesday"])
def test_a_fact_is_used_after_a_restart_in_any_session(tmp_path: Path, session: str) -> None:
    client = ScriptedClient(traveller)
    first = agent_at(client, PRICE, memory=tmp_path / "m.db", session_id="monday")
    run(first.run("I like Oslo, for flights and for fish"))
    first.close()
    again = agent_at(client, PRICE, memory=tmp_path / "m.db", session_id=session)
    assert run(again.run("How much is a flight that I like?")) == 'The flight costs {"eur":340}'
    again.close()
    if session == "tuesday":
        history = client.asked[1].messages
        assert "Oslo" not in str(history), "it comes from what was learned, not from the conversation"
        assert "Oslo" in client.asked[1].system


@pytest.mark.point(141, 143)
def test_steps_are_recorded_and_the_task_is_learned() -> None:
    seen: list[tuple[list[str], dict[str, Any]]] = []
    system = AgentMemorySystem()

    class Looking:
        def to_api_schema(self) -> dict[str, Any]:
            return {"name": "price", "description": "", "input_schema": SCHEMA}

        def run(self, city: str) -> int:
            return PRICES[city]

    def model(asked: Asked) -> Any:
        seen.append((list(system.working.scratchpad), dict(system.working.results)))
        return traveller(asked)

    client = ScriptedClient(model)
    agent = agent_at(client, Looking(), memory=system)
    run(agent.run("I like Oslo. How much is it?"))
    assert seen[1] == (["Let me see."], {'price({"city":"Oslo"})': "340"})
    assert [message.content for message in system.conversation.messages] == [
        "I like Oslo. How much is it?",
        "The flight costs 340",
    ]
    [fact] = system.semantic.memories.values()
    assert fact.content.endswith("Outcome: The flight costs 340")
    assert system.working.task == ""


class Called:
    def to_api_schema(self) -> dict[str, Any]:
        return {"name": "price", "description": "", "input_schema": SCHEMA}

    def __call__(self, city: str) -> Any:
        return slow_price(city)


@pytest.mark.point(143)
@pytest.mark.parametrize(
    "tool",
    [Tool(name="price", description="", function=slow_price), Called()],
    ids=["async function", "called, gives a coroutine"],
)
def test_tools_may_be_asynchronous(tool: Any) -> None:
    client = ScriptedClient(traveller)
    assert run(agent_at(client, tool).run("I like Oslo. How much?")) == "The flight costs 340"


@pytest.mark.point(143)
def test_every_call_of_a_turn_is_answered_and_errors_are_told_to_the_model() -> None:
    def model(asked: Asked) -> Any:
        if asked.results:
            return " | ".join(f"{r['content']} {r.get('is_error', False)}" for r in asked.results)
        return [
            tool_use("price", {"city": "Oslo"}, "t1"),
            tool_use("price", {"city": "Atlantis"}, "t2"),
            tool_use("price", {"town": "Oslo"}, "t3"),
            tool_use("fly", {}, "t4"),
        ]

    client = ScriptedClient(model)
    answer = run(agent_at(client, PRICE).run("go")).split(" | ")
    assert answer[0] == '{"eur":340} False'
    assert answer[1] == "KeyError: 'Atlantis' True"
    assert answer[2].startswith("TypeError: ")
    assert answer[3] == "there is no tool called 'fly' True"
    assert [result["tool_use_id"] for result in client.asked[1].results] == ["t1", "t2", "t3", "t4"]


@pytest.mark.point(143)
def test_a_model_that_never_ends_is_stopped() -> None:
    client = ScriptedClient([tool_use("price", {"city": "Oslo"})])
    agent = agent_at(client, PRICE, max_turns=3)
    with pytest.raises(OutOfTurns, match="3 turns"):
        run(agent.run("go round"))
    assert len(client.asked) == 3
    [episode] = run(agent.memory.episodic.search("go round"))
    assert episode.success is False
    assert "3 turns" in (episode.outcome or "")
    assert agent.memory.working.task == ""


@pytest.mark.point(143)
@pytest.mark.parametrize(
    ("stopped", "error", "words"),
    [
        (Stopped([tool_use("price", {})], "max_tokens"), BadAnswer, "raise max_tokens"),
        (Stopped("It goes ", "max_tokens"), BadAnswer, "raise max_tokens"),
        (Stopped("I would rather not", "refusal"), Declined, "rather not"),
        (Stopped("x", "model_context_window_exceeded"), BadAnswer, "longer"),
        (Stopped("x", "tool_use"), Misconfigured, "call but made none"),
    ],
)
def test_an_answer_that_is_none_is_an_error(stopped: Stopped, error: type[EidetError], words: str) -> None:
    client = ScriptedClient(lambda asked: stopped)
    agent = agent_at(client, PRICE)
    with pytest.raises(error, match=words):
        run(agent.run("go"))
    assert len(run(agent.memory.episodic.search("go", success=False))) == 1


def test_a_pause_is_gone_on_after_and_an_unknown_stop_is_an_end() -> None:
    def model(asked: Asked) -> Any:
        if asked.messages[-1]["role"] == "assistant":
            return Stopped("done", "some_new_reason")
        return Stopped("thinking", "pause_turn")

    client = ScriptedClient(model)
    assert run(agent_at(client).run("go")) == "done"


def test_what_the_client_raises_is_raised_and_kept_as_an_experience() -> None:
    agent = agent_at(ScriptedClient(ConnectionError("nobody answers")))
    with pytest.raises(ConnectionError):
        run(agent.run("go"))
    [episode] = run(agent.memory.episodic.search("go", success=False))
    assert "nobody answers" in (episode.outcome or "")


def test_without_a_client_it_needs_the_package_of_anthropic() -> None:
    with pytest.raises(Misconfigured, match="base_url needs a key of its own"):
        AgentWithMemory(base_url="http://127.0.0.1:9")
    if find_spec("anthropic") is None:
        with pytest.raises(MissingExtra, match=r"eidet\[anthropic\]"):
            AgentWithMemory()


@pytest.mark.parametrize("wrong", [{"tools": [5]}, {"tools": [PRICE, PRICE]}, {"max_turns": 0}])
def test_what_cannot_work_is_refused_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(EidetError):
        AgentWithMemory(**wrong, client=ScriptedClient("hi"))


def test_tasks_of_one_agent_do_not_mix() -> None:
    def model(asked: Asked) -> Any:
        task = re.search(r"Current Task: (\w+)", asked.system)
        if not asked.results:
            return [tool_use("price", {"city": "Oslo"})]
        return task[1] if task else "?"

    async def both(agent: AgentWithMemory) -> list[str]:
        return list(await asyncio.gather(agent.run("one"), agent.run("two"), agent.run("three")))

    client = ScriptedClient(model)
    agent = agent_at(client, PRICE)
    assert run(both(agent)) == ["one", "two", "three"]
    assert [m.content for m in agent.memory.conversation.messages] == [
        "one",
        "one",
        "two",
        "two",
        "three",
        "three",
    ]


def test_a_tool_that_runs_its_own_agent_is_told_that_it_cannot() -> None:
    agents: list[AgentWithMemory] = []

    async def again() -> str:
        return await agents[0].run("again")

    def model(asked: Asked) -> Any:
        return asked.results[0]["content"] if asked.results else [tool_use("again", {})]

    client = ScriptedClient(model)
    agents.append(agent_at(client, Tool(name="again", description="", function=again)))
    assert "cannot run its own agent" in run(asyncio.wait_for(agents[0].run("go"), 20))


def test_text_that_cannot_be_stored_does_not_end_a_task() -> None:
    def model(asked: Asked) -> Any:
        if asked.results:
            return "odd \ud800 answer"
        return [text("hm \udfff"), tool_use("odd", {"x": "\ud800"})]

    client = ScriptedClient(model)
    agent = agent_at(client, Tool(name="odd", description="", function=lambda x: x))
    assert run(agent.run("go")) == "odd ? answer"


def test_a_long_conversation_stays_within_its_limits_and_begins_with_the_user() -> None:
    client = ScriptedClient(lambda asked: f"{len(asked.messages)}")
    agent = agent_at(client)
    agent.memory.conversation.summarize_threshold = 12

    async def talk() -> None:
        agent.memory.conversation.add_message("system", "Be brief.")
        agent.memory.conversation.add_message("assistant", "What can I do?")
        for i in range(10):
            await agent.run(f"task {i}")

    run(talk())
    assert max(len(asked.messages) for asked in client.asked) <= 14
    assert "Be brief." in client.asked[0].system
    assert client.asked[-1].messages[0]["content"].startswith("[Context from earlier conversation]")
