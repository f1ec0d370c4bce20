"""Working memory: the messages of one session as texts `role: content` by key, and the methods of plain
agent memories (`AgentMemory()`), so that an agent can switch over in one line."""

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
from ...views import Conversation, Working, message_of
from ...views.messages import put_away
from ..opening import next_number
from .stores import InMemoryStore


class WorkingStore(InMemoryStore):
    """A session of a memory as a store. Summarised messages leave the store, not the memory.

    Every other view of the session also sees the messages that are added here.
    """

    def __init__(
        self, memory: Memory, session: str | None = None, *, scope: str = "default", agent: str | None = None
    ) -> None:
        super().__init__(memory=memory, scope=scope, name="working", kind="message", agent=agent)
        self.log: Conversation = Conversation(memory, session, scope=scope, agent=agent)

    def say(self, role: str, content: str) -> str:
        """Adds a message at the end and returns its key."""
        while True:
            number = next_number(self.memory, f"messages in {self.scope} of {self.log.session}")
            key = f"msg_{number}"
            if self.record(key) is None:
                break
        self.log.add({"role": role, "content": clean_text(content, "content"), "key": key}, id=key)
        return key

    def recent(self, count: int) -> list[str]:
        return [self.show(record) for record in self.log.records(count)] if count > 0 else []

    def add(self, key: str, value: str, meta: Mapping[str, Any] | None = None) -> None:
        """Stores any text under a key, shown as given."""
        self._key(key)
        old, text = self.record(key), clean_text(value, "a value")
        if old is None:
            message = {"role": "system", "content": text, "plain": True, "key": key}
            message |= {"metadata": dict(meta or {})}
            self.log.add(message, id=key)
            return
        data = {**(old.data or {}), "plain": True}
        self.memory.revise(old.id, scope=self.scope, text=text, data=data, meta=dict(meta or old.meta))

    def record(self, key: str) -> Record | None:
        self._key(key)
        return self.log.get(key)

    def records(self) -> list[Record]:
        return self.log.records()

    def key(self, record: Record) -> str:
        """Returns the key of a message; for one that was not added here, the id of its record."""
        name = record.data.get("key") if isinstance(record.data, dict) else None
        return name if isinstance(name, str) else record.id

    def show(self, record: Record) -> str:
        plain = isinstance(record.data, dict) and record.data.get("plain")
        return record.whole.text if plain else _line_of(message_of(record))

    @property
    def _where(self) -> Where:
        return Where(kinds=(self.kind,), session=self.log.session)

    def __len__(self) -> int:
        return len(self.log)


def _line_of(message: Message) -> str:
    return f"{message.role}: {message.content or ''}"


TOOLS: Final = "tool_calls"
_TASK: Final = "task "  # prefix of the names of tasks in the state
_FINAL: Final = "final_answer"


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
    """A task of an agent; `complete` stores its outcome."""

    task_id: str
    description: str
    status: str = "in_progress"
    _state: Working | None = field(default=None, repr=False, compare=False)

    def complete(self, success: bool = True) -> None:
        self.status = "completed" if success else "failed"
        if self._state is not None:
            self._state.set(_TASK + self.task_id, {"description": self.description, "status": self.status})


class OldCalls:
    """Messages, tool calls, tasks and state under the names of plain agent memories."""

    memory: Memory
    working: WorkingStore
    scope: str
    session_id: str
    _agent: str | None
    _state: Working

    @property
    def messages(self) -> list[Message]:
        """The messages of the working memory, oldest first."""
        return self.working.log.messages()

    @property
    def conversation_history(self) -> list[Message]:
        return self.messages

    def get_messages(self, limit: int | None = None) -> list[dict[str, str | None]]:
        """Returns the newest `limit` messages as dicts of role and content, oldest first."""
        found = self.messages
        chosen = found if limit is None else found[max(len(found) - limit, 0) :]
        return [{"role": message.role, "content": message.content} for message in chosen]

    def add_tool_call(
        self, tool_name: str, parameters: Any = None, result: Any = None, success: bool = True
    ) -> ToolCall:
        """Stores a tool call; parts of it that are not JSON become text."""
        call = {
            "tool_name": clean_text(tool_name, "tool_name"),
            "parameters": _plain(parameters),
            "result": _plain(result),
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
        """The tool calls of this session, oldest first."""
        found = self.memory.find(self._tools, scope=self.scope, order="created", limit=None)
        return [_call_of(record) for record in sorted(found, key=lambda record: (record.created, record.id))]

    @property
    def _tools(self) -> Where:
        return Where(kinds=(Kind.ACTION,), source=TOOLS, session=self.session_id)

    def create_task(self, task_id: str, description: str) -> Task:
        self._state.set(_TASK + task_id, {"description": description, "status": "in_progress"})
        return Task(task_id, description, "in_progress", self._state)

    @property
    def tasks(self) -> dict[str, Task]:
        """Tasks by id, as they are now."""
        return {
            name.removeprefix(_TASK): Task(name.removeprefix(_TASK), **fields, _state=self._state)
            for name, fields in self._state.variables.items()
            if name.startswith(_TASK)
        }

    def update_state(self, key: str, value: Any) -> None:
        self._state.set(key, _plain(value))

    def get_state(self, key: str, default: Any = None) -> Any:
        return self._state.get(key, default)

    def get_final_answer(self) -> Any:
        """Returns the value of `final_answer` in the state, or None."""
        return self.get_state(_FINAL)

    def clear(self) -> None:
        """Empties the session: messages, tool calls and state. Experiences stay."""
        self.working.log.clear()
        put_away(self.memory, where=self._tools, scope=self.scope)
        self._state.clear()


def _call_of(record: Record) -> ToolCall:
    fields: Mapping[str, Any] = record.whole.data
    return ToolCall(**{name: fields[name] for name in ("tool_name", "parameters", "result", "success")},
                    timestamp=record.when)  # fmt: skip


def _plain(value: Any) -> Json:
    """Converts a value to JSON; parts that are not JSON become text."""
    try:
        return json.loads(json.dumps(value, default=str))
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _brief(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 2000 else text[:2000] + "…"
