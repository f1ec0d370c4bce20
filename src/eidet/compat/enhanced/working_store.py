"""Working memory: the messages of one session as texts `role: content` by key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.draft import Message
from ...core.record import Record, kind_of
from ...core.validate import clean_text
from ...core.where import Where
from ...memory import Memory
from ...views import Conversation, message_of
from ..opening import next_number
from .stores import InMemoryStore


class WorkingStore(InMemoryStore):
    """A session of a memory as a store. What was summed up is no longer in it, but in the memory.

    Messages added here are messages for every other view of the session, too.
    """

    def __init__(
        self, memory: Memory, session: str | None = None, *, scope: str = "default", agent: str | None = None
    ) -> None:
        self._take(memory)
        self._set_options(scope=scope, name="working", kind="message", agent=agent)
        self.log: Conversation = Conversation(memory, session, scope=scope, agent=agent)

    def say(self, role: str, content: str) -> str:
        """Adds a message at the end; its key."""
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
        """Any text under a key of yours, shown as it is given."""
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
        """The key it was added with; messages that came by another way go by their record's id."""
        name = record.data.get("key") if isinstance(record.data, dict) else None
        return name if isinstance(name, str) else record.id

    def show(self, record: Record) -> str:
        plain = isinstance(record.data, dict) and record.data.get("plain")
        return record.whole.text if plain else line_of(message_of(record))

    @property
    def _where(self) -> Where:
        return Where(kinds=(kind_of("message"),), session=self.log.session)

    def __len__(self) -> int:
        return len(self.log)


def line_of(message: Message) -> str:
    return f"{message.role}: {message.content or ''}"


def message_in(line: str) -> Message:
    """Parses what `line_of` wrote; a line without a role is the system's."""
    role, colon, content = line.partition(": ")
    return Message(role=role, content=content) if colon else Message(role="system", content=line)
