"""The calls of plain agent memories (`AgentMemory()`), so that an agent can change over in one line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from ...core.draft import Message
from ...core.record import Kind, Record
from ...core.validate import Json, clean_text
from ...core.where import Where
from ...memory import Memory
from ...views import Working
from ...views.messages import put_away
from .stores import ALL, MemoryStore
from .working_store import WorkingStore, message_in

TOOLS: Final = "tool_calls"
TASK: Final = "task "  # begins the names under which tasks are kept beside the rest of the state
FINAL: Final = "final_answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One use of a tool."""

    tool_name: str
    parameters: Json = None
    result: Json = None
    success: bool = True
    timestamp: datetime | None = None


@dataclass(slots=True)
class Task:
    """What an agent was asked to do; `complete` is kept in the memory."""

    task_id: str
    description: str
    status: str = "in_progress"
    _state: Working | None = field(default=None, repr=False, compare=False)

    def complete(self, success: bool = True) -> None:
        self.status = "failed"
        if success:
            self.status = "completed"
        if self._state is not None:
            self._state.set(TASK + self.task_id, {"description": self.description, "status": self.status})


class OldCalls:
    """Messages, tool calls, tasks and state under the names that agents used before."""

    memory: Memory
    working: MemoryStore[str]
    scope: str
    session_id: str
    _agent: str | None
    _said: list[str]
    _state: Working

    @property
    def messages(self) -> list[Message]:
        """What the working memory holds, oldest first."""
        if isinstance(self.working, WorkingStore):
            return self.working.log.messages()
        lines = (self.working.get(key) for key in self._said)
        return [message_in(line) for line in lines if line is not None]

    @property
    def conversation_history(self) -> list[Message]:
        return self.messages

    def get_messages(self, limit: int | None = None) -> list[dict[str, str | None]]:
        """The newest `limit` messages as dicts of role and content, oldest first."""
        found = self.messages
        chosen = found if limit is None else found[max(len(found) - limit, 0) :]
        return [{"role": message.role, "content": message.content} for message in chosen]

    def add_tool_call(
        self, tool_name: str, parameters: Any = None, result: Any = None, success: bool = True
    ) -> ToolCall:
        """Keeps the use of a tool; what is not JSON in its result is kept as text."""
        call = {
            "tool_name": clean_text(tool_name, "tool_name"),
            "parameters": plain(parameters),
            "result": plain(result),
            "success": bool(success),
        }
        stored = self.memory.remember(
            f"{tool_name}({_brief(call['parameters'])}) -> {_brief(call['result'])}",
            kind=Kind.ACTION,
            data=call,
            source=TOOLS,
            scope=self.scope,
            session=self.session_id,
            agent=self._agent,
        )
        return _call_of(stored)

    @property
    def tool_call_history(self) -> list[ToolCall]:
        """The uses of tools in this session, oldest first."""
        found = self.memory.find(self._tools, scope=self.scope, order="created", limit=ALL)
        return [_call_of(record) for record in sorted(found, key=lambda record: (record.created, record.id))]

    @property
    def _tools(self) -> Where:
        return Where(kinds=(Kind.ACTION,), source=TOOLS, session=self.session_id)

    def create_task(self, task_id: str, description: str) -> Task:
        self._state.set(TASK + task_id, {"description": description, "status": "in_progress"})
        return Task(task_id, description, "in_progress", self._state)

    @property
    def tasks(self) -> dict[str, Task]:
        """Tasks by id, as they are now."""
        return {
            name.removeprefix(TASK): Task(name.removeprefix(TASK), **fields, _state=self._state)
            for name, fields in self._state.variables.items()
            if name.startswith(TASK)
        }

    def update_state(self, key: str, value: Any) -> None:
        self._state.set(key, plain(value))

    def get_state(self, key: str, default: Any = None) -> Any:
        return self._state.get(key, default)

    def get_final_answer(self) -> Any:
        """What was put into the state as `final_answer`."""
        return self.get_state(FINAL)

    def clear(self) -> None:
        """Empties the session: messages, tool calls and state. Experiences stay."""
        if isinstance(self.working, WorkingStore):
            self.working.log.clear()
        for key in self._said:
            self.working.forget(key)
        self._said.clear()
        put_away(self.memory, where=self._tools, scope=self.scope)
        self._state.clear()


def _call_of(record: Record) -> ToolCall:
    fields: Mapping[str, Any] = record.whole.data
    return ToolCall(**{name: fields[name] for name in ("tool_name", "parameters", "result", "success")},
                    timestamp=record.when)  # fmt: skip


def plain(value: Any) -> Json:
    """The value as JSON; what is none is told as text."""
    try:
        return json.loads(json.dumps(value, default=str))
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _brief(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 2000 else text[:2000] + "…"
