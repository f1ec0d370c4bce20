"""The values of this door: memory types, entries and messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Final

from ...core.draft import Message as CoreMessage
from ...core.errors import BadInput
from ...core.hit import Hit
from ...core.record import Record
from ...models.embed.quantise import first_rows
from ...trust.privacy.quarantine import trust_in

UNKNOWN: Final = "unknown"


class MemoryTypes:
    """Which memory is meant."""

    SHORT_TERM = "short_term"  # recent conversation history
    WORKING = "working"  # current task and context
    LONG_TERM = "long_term"  # persistent knowledge
    EPISODIC = "episodic"  # past conversation summaries


TYPES: Final = (
    MemoryTypes.SHORT_TERM,
    MemoryTypes.WORKING,
    MemoryTypes.LONG_TERM,
    MemoryTypes.EPISODIC,
)


@dataclass
class MemoryEntry:
    """One memory. The timestamp is aware (UTC); `score` says how well it answered, where it was asked for."""

    content: str
    embedding: list[float] = field(repr=False)
    metadata: dict[str, Any]
    timestamp: datetime
    source: str  # conversation_id, document_id, etc.
    importance_score: float
    memory_type: str = ""
    id: str = ""
    score: float | None = None
    trust: str = "user"  # how far it is trusted: see `eidet.core.record.Trust`


@dataclass
class Message:
    """One turn of a conversation."""

    role: str
    content: str | None
    metadata: dict[str, Any] = field(default_factory=dict)
    timestamp: datetime | None = None


def check_type(memory_type: str) -> str:
    if memory_type not in TYPES:
        raise BadInput(f"unknown memory type {memory_type!r}; there are {', '.join(TYPES)}")
    return memory_type


def entry_of(record: Record, memory_type: str, width: int, score: float | None = None) -> MemoryEntry:
    """A record as this door tells it: as it was given, whatever its tier shows of it."""
    whole = record.whole
    [vector] = first_rows([record.vector], [record.level], width)
    return MemoryEntry(
        content=whole.text,
        embedding=[float(number) for number in vector],
        metadata=dict(whole.meta),
        timestamp=whole.when,
        source=whole.source or UNKNOWN,
        importance_score=whole.importance,
        memory_type=memory_type,
        id=whole.id,
        score=score,
        trust=trust_in(record),
    )


def entry_found(hit: Hit, memory_type: str, width: int) -> MemoryEntry:
    return entry_of(hit.record, memory_type, width, hit.score)


def core_message(message: Any, source: str) -> CoreMessage:
    """A message of this door, of the core, or a dict, with where it was said."""
    parts = _parts(message)
    role, content = parts.get("role"), parts.get("content")
    silent = content is None and ("content" in parts or bool(parts.get("tool_calls")))
    if not isinstance(role, str) or not (isinstance(content, str) or silent):
        raise BadInput(
            "a message needs a role and a content (a text, or None where nothing was said); "
            f"this is a {type(message).__name__}"
        )
    return CoreMessage(
        role=role,
        content=content,
        timestamp=parts.get("timestamp"),
        metadata={**(parts.get("metadata") or {}), "role": role, "source": source},
        tool_calls=parts.get("tool_calls") or (),
        tool_call_id=parts.get("tool_call_id"),
        name=parts.get("name"),
    )


def _parts(message: Any) -> Mapping[str, Any]:
    if isinstance(message, str):
        return {"role": "user", "content": message}
    if isinstance(message, Mapping):
        return message
    return {name: getattr(message, name, None) for name in _MESSAGE}


_MESSAGE: Final = tuple(part.name for part in fields(CoreMessage))
