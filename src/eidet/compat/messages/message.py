"""A message as agent frameworks write it, and its form in the memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

from ...core.draft import Message as CoreMessage
from ...core.errors import BadInput
from ...core.record import Record
from ...core.validate import Json, Moment, clean_json, clean_text, moment
from ...models.llm import Request, Turn
from ...text.tokens import TokenCounter
from ...views.messages import message_of, tokens_of

_ZONE = "utc_offset"  # in the data of a record whose message had a time zone; others come back in local time


@dataclass
class Message:
    """One turn. `timestamp` is local time unless it has a time zone, and comes back as given.

    `str(message)` is its content, so that an answer can be put into a sentence.
    """

    role: str
    content: str | None = None
    timestamp: datetime = field(default_factory=datetime.now)
    metadata: dict[str, Any] = field(default_factory=dict)
    tool_calls: list[Json] | None = None
    tool_call_id: str | None = None
    name: str | None = None
    record_id: str | None = field(default=None, init=False, repr=False, compare=False)  # set once it was read

    def __post_init__(self) -> None:
        if not clean_text(self.role, "the role of a message"):
            raise BadInput("a message needs a role: system, user, assistant or tool")
        if self.content is not None:
            clean_text(self.content, "the content of a message")
        self.timestamp = _time(self.timestamp)
        self.metadata = {} if self.metadata is None else self.metadata

    def __str__(self) -> str:
        return self.content or ""

    def as_chat(self) -> dict[str, Json]:
        """Returns the message for a chat API: role and content, and the fields of tools if set."""
        extra = {"tool_calls": self.tool_calls, "tool_call_id": self.tool_call_id, "name": self.name}
        return {"role": self.role, "content": self.content} | {k: v for k, v in extra.items() if v}

    def tokens(self, counter: TokenCounter) -> int:
        """Counts the tokens of the message in a prompt; at least 1."""
        return tokens_of(self, counter)


def message_from(given: object) -> Message:
    """Returns a Message as it is; converts one of the memory, a dict with a role, or a text of the user."""
    if isinstance(given, Message):
        return given
    if isinstance(given, str):
        return Message(role="user", content=given)
    if isinstance(given, CoreMessage):
        return _from_core(given)
    if isinstance(given, Mapping) and "role" in given and ("content" in given or given.get("tool_calls")):
        known = {name: given[name] for name in _FIELDS if given.get(name) is not None}
        return Message(**known)
    raise BadInput(
        f"a message must be a Message, a dict with role and content, or a text, not {type(given).__name__}"
    )


def _from_core(given: CoreMessage, when: datetime | None = None) -> Message:
    """Converts a message of the memory; `when` is its time in this door's form, if known already."""
    if when is None and given.timestamp is not None:
        when = _at(moment(given.timestamp, "timestamp"), None)
    return Message(
        role=given.role,
        content=given.content,
        timestamp=_time(None) if when is None else when,
        metadata=dict(given.metadata),
        tool_calls=list(given.tool_calls) or None,
        tool_call_id=given.tool_call_id,
        name=given.name,
    )


_FIELDS = ("role", "content", "timestamp", "metadata", "tool_calls", "tool_call_id", "name")


def message_as_json(message: Message) -> dict[str, Json]:
    """Returns the message as the memory takes it; raises for one that it would refuse, before any change."""
    if not isinstance(message, Message):
        raise BadInput(f"a memory store takes a Message, not {type(message).__name__}")
    fields = {name: getattr(message, name) for name in _FIELDS}
    fields |= {name: clean_json(fields[name], name) for name in ("metadata", "tool_calls")}
    offset = message.timestamp.utcoffset()
    return fields if offset is None else fields | {_ZONE: offset.total_seconds()}


def message_of_record(record: Record) -> Message:
    """Returns the message that a record was made from."""
    data = record.whole.data
    offset = data.get(_ZONE) if isinstance(data, Mapping) else None
    message = _from_core(message_of(record), _at(record.occurred, offset))
    message.record_id = record.id
    return message


def make_request(
    messages: Iterable[Message], *, system: str = "", prompt: str = "", **limits: Any
) -> Request:
    """Builds a request for a model from messages, which end in the `prompt`.

    Turns alternate from the user on; a last turn of the user joins the prompt. Messages of the system
    join its instructions, empty ones are left out.
    """
    orders, turns = [system], list[Turn]()
    for message in messages:
        role, text = message.role, message.content or ""
        side = "assistant" if role == "assistant" else "user"
        if role == "system":
            orders.append(text)
        elif text.strip() and turns and turns[-1].role == side:
            turns[-1] = Turn(side, f"{turns[-1].text}\n\n{text}")
        elif text.strip() and (turns or side == "user"):
            turns.append(Turn(side, text))
    asked = [prompt]
    if turns and turns[-1].role == "user":
        asked.insert(0, turns.pop().text)
    return Request(
        prompt="\n\n".join(filter(None, asked)),
        system="\n\n".join(filter(None, orders)),
        before=tuple(turns),
        **limits,
    )


def local_time(record: Record) -> datetime:
    """Returns when a record happened, in local time."""
    return _at(record.occurred, None)


def _time(value: Moment | None) -> datetime:
    if value is None:
        return datetime.now()  # noqa: DTZ005  local time, as the callers of this door write it
    if isinstance(value, datetime):
        moment(value, "timestamp")
        return value
    if isinstance(value, str):
        moment(value, "timestamp")
        return datetime.fromisoformat(value)
    return _at(moment(value, "timestamp"), None)


def _at(seconds: float, offset: object) -> datetime:
    zone = timezone(timedelta(seconds=offset)) if isinstance(offset, int | float) else None
    return datetime.fromtimestamp(seconds, zone)
