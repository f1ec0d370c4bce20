"""Tools of an agent: what they look like, and how they are called."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import Misconfigured
from ...core.validate import dump_json
from ..messages.async_tools import await_if_needed

ANY_OBJECT: Mapping[str, Any] = {"type": "object"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function, sync or async, that a model may call with the arguments of `input_schema`."""

    name: str
    description: str
    function: Callable[..., Any]
    input_schema: Mapping[str, Any] = field(default_factory=lambda: dict(ANY_OBJECT))

    def to_api_schema(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": dict(self.input_schema),
        }

    def execute(self, **arguments: Any) -> Any:
        return self.function(**arguments)


def tools_by_name(tools: Sequence[Any]) -> dict[str, Any]:
    """Tools by their names, or a clear error where one is none."""
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


async def result_of(tool: Any, name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
    """What a tool answered as text, and whether it failed: the model is told of errors, and may go on."""
    function = None if tool is None else _call_of(tool)
    if function is None:
        return f"there is no tool called {name!r}", True
    try:
        if inspect.iscoroutinefunction(function):
            answer = await function(**arguments)
        else:
            answer = await await_if_needed(await asyncio.to_thread(lambda: function(**arguments)))
        return make_storable(as_text(answer)), False
    except Exception as error:  # noqa: BLE001  whatever a tool raises
        return make_storable(f"{type(error).__name__}: {error}"), True


def _call_of(tool: Any) -> Callable[..., Any] | None:
    for name in ("execute", "run"):
        if callable(found := getattr(tool, name, None)):
            return found  # type: ignore[no-any-return]
    return tool if callable(tool) else None


def make_storable(text: str) -> str:
    """The text, with what UTF-8 cannot carry replaced: a tool or a model should not end a task by that."""
    return text.encode(errors="replace").decode()


def as_text(answer: Any) -> str:
    """Texts as they are, other things as JSON, or else as Python shows them."""
    if isinstance(answer, str):
        return answer
    if answer is None:
        return "done"
    try:
        return dump_json(answer)
    except (TypeError, ValueError):
        return str(answer)
