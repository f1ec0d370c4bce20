"""An agent that remembers: a loop of the Messages API with tools, and memory around it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ...core.errors import EidetError, Misconfigured, MissingExtra, Refused
from ...core.validate import dump_json
from ...models.llm import BadAnswer, Declined
from ..messages.base import FairLock, await_if_needed
from ..messages.message import Message, make_request
from ..opening import Place, check_whole
from .conversation_memory import MODEL
from .system import AgentMemorySystem

_ANY_OBJECT: Mapping[str, Any] = {"type": "object"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function, sync or async, that a model may call with the arguments of `input_schema`."""

    name: str
    description: str
    function: Callable[..., Any]
    input_schema: Mapping[str, Any] = field(default_factory=lambda: dict(_ANY_OBJECT))

    def to_api_schema(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": dict(self.input_schema),
        }

    def execute(self, **arguments: Any) -> Any:
        return self.function(**arguments)


def _tools_by_name(tools: Sequence[Any]) -> dict[str, Any]:
    """Returns tools by name; raises if one is not a tool, or two have the same name."""
    named: dict[str, Any] = {}
    for tool in tools:
        schema = getattr(tool, "to_api_schema", None)
        if not callable(schema) or _call_of(tool) is None:
            raise Misconfigured(
                f"a {type(tool).__name__} is not a tool: it needs to_api_schema() and "
                "one of execute, run or __call__; "
                "Tool(name=…, description=…, function=…) wraps a function"
            )
        name = schema().get("name")
        if name in named:
            raise Misconfigured(f"two tools are named {name!r}")
        named[name] = tool
    return named


async def _result_of(tool: Any, name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
    """Runs a tool. Returns its result or error as text for the model, and whether it failed."""
    function = None if tool is None else _call_of(tool)
    if function is None:
        return f"there is no tool called {name!r}", True
    try:
        if inspect.iscoroutinefunction(function):
            answer = await function(**arguments)
        else:
            answer = await await_if_needed(await asyncio.to_thread(lambda: function(**arguments)))
        return _make_storable(_as_text(answer)), False
    except Exception as error:  # noqa: BLE001  whatever a tool raises
        return _make_storable(f"{type(error).__name__}: {error}"), True


def _call_of(tool: Any) -> Callable[..., Any] | None:
    for name in ("execute", "run"):
        if callable(found := getattr(tool, name, None)):
            return found  # type: ignore[no-any-return]
    return tool if callable(tool) else None


def _make_storable(text: str) -> str:
    """Replaces characters that UTF-8 cannot encode, so that they do not make a task fail."""
    return text.encode(errors="replace").decode()


def _as_text(answer: Any) -> str:
    """Returns texts as they are, other values as JSON, or else as Python shows them."""
    if isinstance(answer, str):
        return answer
    if answer is None:
        return "done"
    try:
        return dump_json(answer)
    except (TypeError, ValueError):
        return str(answer)


SYSTEM: Final = """You are a helpful assistant with access to memory.

{context}

Use the information above to help with the current task.
"""
_FAILURES: Final = 2  # past failures given to the model with a task


class OutOfTurns(EidetError):
    """The model still called tools when its turns were used up."""

    def __init__(self, turns: int) -> None:
        super().__init__(
            f"there is no answer after {turns} turns: the model still calls tools; raise max_turns, or "
            "give it a smaller task"
        )
        self.turns = turns


class AgentWithMemory:
    """An agent that works on tasks with a model and tools, and remembers from task to task.

    A tool has `to_api_schema()`, and has `execute` or `run` or is callable, sync or async (see `Tool`).
    `memory` is an AgentMemorySystem, or the place for one: a Memory, a path, a URL, or None for RAM.
    `client` has `messages.create(…)`, sync or async, as Anthropic's own does; by default the `anthropic`
    package makes it, with `api_key` and `base_url`, or ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL.
    """

    def __init__(
        self,
        tools: Sequence[Any] = (),
        model: str = MODEL,
        *,
        memory: AgentMemorySystem | Place = None,
        scope: str = "default",
        session_id: str | None = None,
        client: Any = None,
        api_key: str | None = None,
        base_url: str | None = None,
        max_turns: int = 20,
        max_tokens: int = 4096,
    ) -> None:
        check_whole(max_turns, "max_turns", least=1)
        self.tools: list[Any] = list(tools)
        _tools_by_name(self.tools)
        self.client: Any = client or _open_client(api_key, base_url)
        self.model = model
        self.max_turns = max_turns
        self.max_tokens = max_tokens
        self._owned = not isinstance(memory, AgentMemorySystem)
        if not isinstance(memory, AgentMemorySystem):
            place = "ram://" if memory is None else memory
            memory = AgentMemorySystem(memory=place, scope=scope, session_id=session_id)
        self.memory: AgentMemorySystem = memory
        self._turns = FairLock()

    async def run(self, task: str) -> str:
        """Returns the answer to a task. An agent works on its tasks one after the other.

        A task that fails is stored as an experience, and its error is raised.
        """
        async with self._turns as within_itself:
            if within_itself:
                raise Refused("a tool cannot run its own agent: it is still working on the task")
            await asyncio.to_thread(self.memory.start_task, task)
            try:
                answer = await self._work_on(task)
            except (Exception, asyncio.CancelledError) as error:
                await self.memory.end_task(False, _make_storable(f"{type(error).__name__}: {error}"))
                raise
            await asyncio.to_thread(self._add_answer, answer)
            await self.memory.end_task(True, answer)
            return answer

    def close(self) -> None:
        """Closes the memory if this agent opened it."""
        if self._owned:
            self.memory.close()

    def _add_answer(self, answer: str) -> None:
        if answer:
            self.memory.conversation.add_message("assistant", answer)

    async def _work_on(self, task: str) -> str:
        context = await self.memory.get_relevant_context(task, max_episodes=_FAILURES)
        system, messages = _prompt(context, await asyncio.to_thread(self._history))
        tools = _tools_by_name(self.tools)
        for _ in range(self.max_turns):
            response = await self._ask_model(system, messages)
            text = _text(response)
            match _stop(response):
                case "tool_use":
                    messages += [_answer_as_message(response), await self._tools_used(tools, response, text)]
                case "pause_turn":
                    messages.append(_answer_as_message(response))
                case _:
                    return text
        raise OutOfTurns(self.max_turns)

    def _history(self) -> list[dict[str, Any]]:
        return self.memory.conversation.get_messages_for_llm()

    async def _ask_model(self, system: str, messages: Sequence[Mapping[str, Any]]) -> Any:
        body = {"model": self.model, "max_tokens": self.max_tokens, "system": system, "messages": messages}
        if self.tools:
            body["tools"] = [tool.to_api_schema() for tool in self.tools]
        return await await_if_needed(await asyncio.to_thread(lambda: self.client.messages.create(**body)))

    async def _tools_used(self, tools: Mapping[str, Any], response: Any, thought: str) -> dict[str, Any]:
        """Runs the tools that were called, records each step, and returns the message with the results."""
        results = []
        for call in (block for block in response.content if block.type == "tool_use"):
            text, failed = await _result_of(tools.get(call.name), call.name, call.input)
            action = _make_storable(f"{call.name}({_as_text(dict(call.input))})")
            thought = thought or f"I use {call.name}."
            await asyncio.to_thread(self.memory.record_step, thought, action, text)
            result = {"type": "tool_result", "tool_use_id": call.id, "content": text}
            results.append(result | ({"is_error": True} if failed else {}))
        return {"role": "user", "content": results}


def _prompt(context: str, history: Sequence[Mapping[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """Returns the system prompt, and the conversation as the API takes it."""
    messages = [Message(role=message["role"], content=message["content"]) for message in history]
    asked = make_request(messages, purpose="agent")
    known = "\n\n".join(filter(None, (asked.system, context)))
    return SYSTEM.format(context=known), asked.messages("")


def _text(response: Any) -> str:
    return _make_storable("".join(block.text for block in response.content if block.type == "text"))


def _stop(response: Any) -> str:
    """Returns why the model stopped; raises if it cannot continue."""
    stop, calls = response.stop_reason, any(block.type == "tool_use" for block in response.content)
    if stop == "refusal":
        raise Declined(f"the model would not answer: {_text(response) or 'it gave no reason'}")
    if stop == "max_tokens":
        raise BadAnswer("the answer was cut off: raise max_tokens", cause="truncated")
    if stop == "model_context_window_exceeded":
        raise BadAnswer("the conversation is longer than the model can read", cause="truncated")
    if stop == "tool_use" and not calls:
        raise Misconfigured("the model stopped for a tool call but made none; does the server speak the API?")
    return stop or "end_turn"


def _answer_as_message(response: Any) -> dict[str, Any]:
    """Returns the model's blocks to send back, without empty texts, which the API does not accept."""
    blocks = [block.model_dump() for block in response.content]
    return {
        "role": "assistant",
        "content": [b for b in blocks if b.get("type") != "text" or str(b.get("text", "")).strip()],
    }


def _open_client(api_key: str | None = None, base_url: str | None = None) -> Any:
    """Opens Anthropic's own client. Without arguments it finds its key and address in the environment.

    A key of the environment is sent only to the address of the environment; a `base_url` needs its own key.
    """
    if base_url is not None and not api_key:
        raise Misconfigured("base_url needs a key of its own: pass api_key=… with it")
    try:
        import anthropic
    except ImportError as error:
        raise MissingExtra("an agent without a client of its own", extra="anthropic") from error
    return anthropic.Anthropic(api_key=api_key, base_url=base_url)
