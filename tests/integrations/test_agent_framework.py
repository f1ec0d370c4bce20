"""The providers of Microsoft Agent Framework, judged by real agents and by the framework's own history."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.integrations.conftest import Reopen
from tests.integrations.needs import need
from tests.integrations.promises import cancel_at_once, out_of_reach

need("agent_framework", "agent_framework")

from agent_framework import (  # noqa: E402
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    InMemoryHistoryProvider,
    Message,
    ResponseStream,
)

from eidet import BadInput, Memory, Unavailable  # noqa: E402
from eidet.integrations.agent_framework import EidetContextProvider, EidetHistoryProvider  # noqa: E402


class ScriptedClient(FunctionInvocationLayer, BaseChatClient):  # type: ignore[misc]  # Any
    """Gives its replies in order, and keeps what it was asked."""

    def __init__(self, *replies: Any) -> None:
        super().__init__()
        self.replies = list(replies)
        self.requests: list[list[Message]] = []

    def _inner_get_response(self, *, messages: Any, stream: bool, **_more: Any) -> Any:
        self.requests.append(list(messages))
        reply = self.replies.pop(0)
        if stream:
            return ResponseStream(self._stream(reply), finalizer=ChatResponse.from_updates)
        return self._answer(reply)

    async def _answer(self, reply: Any) -> ChatResponse:
        return ChatResponse(messages=[Message("assistant", [reply])])

    async def _stream(self, reply: Any) -> AsyncIterator[ChatResponseUpdate]:
        yield ChatResponseUpdate(role="assistant", contents=[Content.from_text(reply)])

    def saw(self, number: int) -> str:
        return "\n".join(message.text for message in self.requests[number])


def talk(client: ScriptedClient, text: str, providers: list[Any], session: str = "s", **state: Any) -> Any:
    """One turn of a new agent, as in a program that was started again."""
    agent = Agent(client=client, name="helper", context_providers=providers)
    held = AgentSession(session_id=session)
    held.state.update(state)
    return asyncio.run(agent.run(text, session=held))


def test_a_fact_of_one_session_is_used_in_another_after_a_restart(reopen: Reopen) -> None:
    with reopen() as memory:
        client = ScriptedClient("Noted.")
        talk(client, "My gate code is 7731.", [EidetContextProvider(memory, scope="users/ann")], "s1")
    with reopen() as memory:
        client = ScriptedClient("It is 7731.", "I don't know.")
        talk(client, "What is my gate code?", [EidetContextProvider(memory, scope="users/ann")], "s2")
        assert "My gate code is 7731." in client.saw(0)
        assert client.requests[0][0].additional_properties["_attribution"]["origin_session_ids"] == ["s1"]
        talk(client, "What is Ann's gate code?", [EidetContextProvider(memory, scope="users/bob")], "s2")
        assert "7731" not in client.saw(1)


def test_a_session_goes_on_after_a_restart(reopen: Reopen) -> None:
    with reopen() as memory:
        talk(ScriptedClient("Noted."), "My gate code is 7731.", [EidetHistoryProvider(memory, scope="ann")])
    with reopen() as memory:
        client = ScriptedClient("It is 7731.", "I don't know.")
        talk(client, "What is it?", [EidetHistoryProvider(memory, scope="ann")])
        roles = [(message.role, message.text) for message in client.requests[0]]
        assert roles == [("user", "My gate code is 7731."), ("assistant", "Noted."), ("user", "What is it?")]
        talk(client, "What is it?", [EidetHistoryProvider(memory, scope="bob")])
        assert len(client.requests[1]) == 1
        assert memory.recall("gate code", scope="ann")[0].text == "My gate code is 7731."


def test_one_agent_serves_many_users_by_their_sessions() -> None:
    def of(session: AgentSession) -> str:
        return f"users/{session.state['user']}"

    with Memory() as memory:
        providers: list[Any] = [
            EidetHistoryProvider(memory, scope=of),
            EidetContextProvider(memory, scope=of),
        ]
        client = ScriptedClient(*["Hello."] * 4)
        talk(client, "I keep a red parrot.", providers, "s", user="ann")
        talk(client, "I keep a blue parrot.", providers, "s", user="bob")
        assert "red" not in client.saw(1)
        talk(client, "Which parrot?", providers, "t", user="ann")
        assert "red" in client.saw(2)
        assert "blue" not in client.saw(2)
        assert sorted(memory.scopes()) == ["users/ann", "users/bob"]
        with pytest.raises(BadInput, match="function of the session"):
            asyncio.run(providers[0].get_messages("s"))


def test_a_turn_is_stored_once_where_both_providers_would() -> None:
    with Memory() as memory:
        both = [EidetHistoryProvider(memory), EidetContextProvider(memory)]
        client = ScriptedClient(*["Noted."] * 5)
        talk(client, "My gate code is 7731.", both, "s1")
        assert memory.count() == 2
        talk(client, "What is my gate code?", both, "s2")
        assert client.saw(1).count("7731") == 1
        talk(client, "What is my gate code?", both, "s1")
        assert client.saw(2).count("My gate code is 7731.") == 1  # by the history of the session
        apart = [EidetHistoryProvider(memory, scope="log"), EidetContextProvider(memory, scope="known")]
        talk(client, "My cat is called Tom.", apart, "s3")
        quiet = [
            EidetHistoryProvider(memory, scope="log"),
            EidetContextProvider(memory, scope="x", store=False),
        ]
        talk(client, "My dog is called Rex.", quiet, "s3")
        assert memory.scopes() == {"default": 6, "log": 4, "known": 2}


def test_calls_of_tools_are_kept_in_the_history_and_out_of_the_context() -> None:
    def open_gate(code: str) -> str:
        """Opens the gate."""
        return f"gate opened with {code}"

    call = Content.from_function_call(call_id="c1", name="open_gate", arguments={"code": "7731"})
    with Memory() as memory:
        history = EidetHistoryProvider(memory)
        client = ScriptedClient(call, "The gate is open.", "Hello.")
        agent = Agent(client=client, tools=[open_gate], context_providers=[history])
        asyncio.run(agent.run("Open the gate.", session=AgentSession(session_id="s1")))
        kept = asyncio.run(history.get_messages("s1"))
        assert [message.role for message in kept] == ["user", "assistant", "tool", "assistant"]
        assert kept[1].contents[0].to_dict() == call.to_dict()
        assert kept[2].contents[0].result == "gate opened with 7731"
        talk(client, "Who opened the gate?", [EidetContextProvider(memory)], "s2")
        assert "The gate is open." in client.saw(2)
        assert "7731" not in client.saw(2)
        short = EidetHistoryProvider(memory, limit=2)
        assert [message.text for message in asyncio.run(short.get_messages("s1"))] == ["The gate is open."]


def test_a_run_that_streams_is_remembered() -> None:
    async def stream(agent: Agent) -> None:
        async for _ in agent.run("My gate code is 7731.", session=AgentSession(session_id="s"), stream=True):
            pass

    with Memory() as memory:
        providers = [EidetContextProvider(memory)]
        asyncio.run(
            stream(Agent(client=ScriptedClient("Noted."), name="helper", context_providers=providers))
        )
        said = [(record.who, record.text) for record in memory.find(order="occurred")]
        assert said == [("user", "My gate code is 7731."), ("helper", "Noted.")]


def test_a_run_that_fails_is_not_remembered_and_the_next_one_is_once(reopen: Reopen) -> None:
    with reopen() as memory:
        both = [EidetHistoryProvider(memory, scope="log"), EidetContextProvider(memory, scope="known")]
        with pytest.raises(IndexError):
            talk(ScriptedClient(), "My gate code is 7731.", both)
        assert memory.scopes() == {}
        talk(ScriptedClient("Noted."), "My gate code is 7731.", both)
        assert memory.scopes() == {"known": 2, "log": 2}


def test_a_store_that_fails_keeps_no_half_of_a_turn() -> None:
    turn = [Message("user", ["one"]), Message("assistant", ["two"])]
    with Memory() as memory:
        both: list[Any] = [
            EidetHistoryProvider(memory, scope="log"),
            EidetContextProvider(memory, scope="known"),
        ]
        with out_of_reach(memory):
            with pytest.raises(Unavailable):
                talk(ScriptedClient("two"), "one", both)
            with pytest.raises(Unavailable):
                asyncio.run(both[0].save_messages("s", turn))
        assert memory.scopes() == {}
        asyncio.run(both[0].save_messages("s", turn))
        asyncio.run(both[0].save_messages("s", turn))  # by whoever did not hear that it worked
        assert [message.text for message in asyncio.run(both[0].get_messages("s"))] == ["one", "two"]


def test_a_cancelled_call_has_written_once_when_it_ends(reopen: Reopen) -> None:
    async def cancel(history: EidetHistoryProvider) -> None:
        await cancel_at_once(history.save_messages(None, [Message("user", ["one"])]))
        assert [message.text for message in await history.get_messages(None)] == ["one"]

    with reopen() as memory:
        asyncio.run(cancel(EidetHistoryProvider(memory)))


def test_the_context_keeps_to_its_budget_and_its_filter() -> None:
    with Memory() as memory:
        for number in range(30):
            memory.remember(f"Ann's plant number {number} is a fern", meta={"room": number % 2})
        client = ScriptedClient("Many.", "Few.", "Hello.")
        talk(client, "Which plants has Ann?", [EidetContextProvider(memory, budget=100, store=False)])
        assert 1 < client.saw(0).count("fern") < 15
        one = EidetContextProvider(memory, where={"meta.room": 1}, store=False, prompt="Known:")
        talk(client, "Which plants has Ann?", [one])
        assert client.saw(1).startswith("Known:\n")
        assert "number 3 " in client.saw(1)
        assert "number 4 " not in client.saw(1)
        talk(client, "", [one])
        assert client.saw(2) == ""


MESSAGES = st.builds(
    lambda role, text, name: Message(role, [text], message_id=name),
    st.sampled_from(["user", "assistant", "tool"]),
    st.sampled_from(["yes", "no", "ü\x00"]),
    st.sampled_from([None, None, None, "m1", "m2"]),
)
BATCHES = st.lists(st.lists(MESSAGES, min_size=1, max_size=4), min_size=1, max_size=5)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(batches=BATCHES, replays=st.lists(st.integers(-3, 3), min_size=5, max_size=5))
def test_a_history_holds_what_the_frameworks_own_history_holds(
    batches: list[list[Message]], replays: list[int]
) -> None:
    async def compare(memory: Memory) -> None:
        theirs, ours = InMemoryHistoryProvider(), EidetHistoryProvider(memory)
        state: dict[str, Any] = {}
        for batch, replay in zip(batches, replays, strict=False):
            before = await theirs.get_messages("s", state=state)
            sent = [*before[-replay:], *batch] if replay > 0 else batch
            if replay == -3:
                sent = [*before, *batch]  # callers may hand in the whole conversation
            await theirs.save_messages("s", sent, state=state)
            await ours.save_messages("s", sent, state={})
            expected = [message.to_dict() for message in await theirs.get_messages("s", state=state)]
            assert [message.to_dict() for message in await ours.get_messages("s")] == expected

    with Memory() as memory:
        asyncio.run(compare(memory))
