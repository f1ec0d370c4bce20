"""A small agent whose memory fills itself, and an app in which agents call each other by name."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from ...core.errors import BadInput, EidetError, Misconfigured, NotFound
from ...models.llm import LLM, Answer, Request, Turn, llm_of
from .base import BaseMemoryStore, await_if_needed
from .limits import InMemoryMemoryStore
from .message import Message, message_from
from .summary import NeedsContext
from .wrappers import Around


class LLMAgent:
    """Asks a model with its system prompt and what its memory holds, and remembers both sides.

    `llm` is an LLM of `eidet.models.llm`, a name such as "openai:gpt-…", an object with
    `chat_completion(messages)`, or a function or coroutine function: of the messages as dicts, or of
    one prompt if its parameter is called so. Agents with the same store share their memory.
    """

    def __init__(
        self,
        name: str,
        llm: object,
        memory_store: BaseMemoryStore | None = None,
        system_prompt: str | None = None,
        *,
        max_context_tokens: int = 4000,
    ) -> None:
        self.name = name
        self.llm: LLM | object = llm_of(llm) if isinstance(llm, str) else llm
        self.memory_store: InMemoryMemoryStore | BaseMemoryStore = (
            InMemoryMemoryStore() if memory_store is None else memory_store
        )
        self.system_prompt = system_prompt
        self.max_context_tokens = max_context_tokens

    async def run(self, input_message: str | Message) -> Message:
        """The answer. What was asked stays in the memory also when the model fails."""
        await self.memory_store.add_message(message_from(input_message))
        window = await self.memory_store.get_context_window(max_tokens=self.max_context_tokens)
        prompt = [Message(role="system", content=self.system_prompt)] if self.system_prompt else []
        answer = await _ask_llm(self.llm, [*prompt, *window])
        await self.memory_store.add_message(answer)
        return answer


class RunContext:
    """Agents by name. Entering it lets stores that need an agent (`SummaryMemory`) call one."""

    def __init__(self, agents: Mapping[str, LLMAgent]) -> None:
        self._agents = agents

    async def call_agent(self, agent_name: str, input_message: str | Message) -> Message:
        if agent_name not in self._agents:
            known = ", ".join(sorted(self._agents)) or "none yet"
            raise NotFound(f"there is no agent named {agent_name!r}; there are {known}")
        return await self._agents[agent_name].run(input_message)


class App:
    """Where agents are registered: `async with app.run_context() as rt: await rt.call_agent(…)`."""

    def __init__(self, *agents: LLMAgent) -> None:
        self._agents: dict[str, LLMAgent] = {}
        for agent in agents:
            self.register_agent(agent)

    def register_agent(self, agent: LLMAgent) -> LLMAgent:
        if self._agents.setdefault(agent.name, agent) is not agent:
            raise BadInput(f"an agent named {agent.name!r} already exists")
        return agent

    @asynccontextmanager
    async def run_context(self) -> AsyncIterator[RunContext]:
        context = RunContext(self._agents)
        for agent in self._agents.values():
            _give_context(agent.memory_store, context)
        yield context


def _give_context(store: object, context: RunContext) -> None:
    """To a store that calls agents by name, whatever wrappers are around it."""
    while isinstance(store, Around):
        store = store.store
    if isinstance(store, NeedsContext):
        store.context = context


async def _ask_llm(llm: Any, messages: Sequence[Message]) -> Message:
    if callable(getattr(llm, "ask", None)):
        return _answer(await asyncio.to_thread(llm.ask, _request(messages)))
    if callable(getattr(llm, "chat_completion", None)):
        return _answer(await await_if_needed(llm.chat_completion(list(messages))))
    if callable(llm):
        return _answer(await _call_function(llm, messages))
    raise Misconfigured(
        f"a {type(llm).__name__} is not an llm: pass a name such as 'openai:gpt-…', an LLM of "
        "eidet.models.llm, an object with chat_completion, or a function that takes the messages"
    )


async def _call_function(function: Callable[[Any], Any], messages: Sequence[Message]) -> Any:
    """A coroutine function runs in the caller's loop; a plain one in a thread, as it may wait."""
    argument = _argument(function, messages)
    called = getattr(type(function), "__call__", None)  # noqa: B004 - the method, not whether there is one
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called):
        return await function(argument)
    return await await_if_needed(await asyncio.to_thread(function, argument))


def _argument(function: Callable[[Any], Any], messages: Sequence[Message]) -> Any:
    first = next(iter(inspect.signature(function).parameters.values()), None)
    if first is None:
        raise Misconfigured("the llm function takes no argument; it has to take the messages")
    if first.name in ("prompt", "text") or first.annotation in (str, "str"):
        return "\n\n".join(f"{message.role}: {message.content or ''}" for message in messages)
    return [message.as_chat() for message in messages]


def _request(messages: Sequence[Message]) -> Request:
    system = "\n\n".join(m.content or "" for m in messages if m.role == "system")
    turns = [Turn(_side(m), m.content or "") for m in messages if m.role != "system" and m.content]
    while turns and turns[0].role != "user":  # models want the user to begin
        del turns[0]
    if not turns:
        raise BadInput("there is nothing to ask: every message is empty")
    return Request(prompt=turns[-1].text, system=system, before=tuple(turns[:-1]), purpose="agent")


def _side(message: Message) -> str:
    return "assistant" if message.role == "assistant" else "user"


def _answer(given: Any) -> Message:
    if isinstance(given, Answer):
        given = given.text
    if isinstance(given, str):
        return Message(role="assistant", content=given)
    try:
        return message_from(given)
    except EidetError as bad:
        raise Misconfigured(f"the llm returned a {type(given).__name__}: {bad}") from bad
