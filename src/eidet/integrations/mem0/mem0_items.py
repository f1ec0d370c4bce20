"""Messages as drafts, and records and their history in the shapes that mem0 gives them."""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Final

from ...core.draft import Draft, Message
from ...core.errors import BadInput
from ...core.hit import Hit
from ...core.record import Record
from ...write.shape import drafts_of
from ..extras import list_texts
from .entities import NAMES, Entities, Home
from .mem0_filters import write_time

LOG: Final = logging.getLogger("eidet.mem0")
_IDENTITY: Final = frozenset((*NAMES, "actor_id"))  # never set by metadata, as in mem0
_PROMOTED: Final = ("actor_id", "role", "attributed_to", "expiration_date", "categories")
_OURS: Final = frozenset((*_IDENTITY, *_PROMOTED, "updated_at"))


@dataclass(frozen=True, slots=True)
class Said:
    """One message that can be remembered."""

    role: str
    content: str
    name: str | None = None


def parse_messages(messages: object) -> list[Said]:
    """Parses messages as mem0 takes them, without those of the system and those without text."""
    if isinstance(messages, str):
        messages = {"role": "user", "content": messages}
    if isinstance(messages, Mapping):
        messages = [messages]
    if not isinstance(messages, list):
        raise BadInput("messages must be str, dict, or list[dict]")
    return [turn for turn in map(_parse_message, messages) if turn is not None]


def _parse_message(message: object) -> Said | None:
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        LOG.warning("Skipping invalid message format: %s", type(message).__name__)
        return None
    content, name = " ".join(list_texts(message.get("content"))), message.get("name")
    if message["role"] == "system" or not content.strip():
        return None
    return Said(message["role"], content, name if isinstance(name, str) and name else None)


def parse_expiration(value: object) -> str | None:
    """A date as YYYY-MM-DD; None stays None."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if not isinstance(value, str):
        raise BadInput("expiration_date must be a date string in YYYY-MM-DD format.")
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        raise BadInput("expiration_date must be a valid date in YYYY-MM-DD format.") from None


def clean_metadata(metadata: object, what: str) -> dict[str, Any]:
    """Drops identity fields: metadata cannot give a memory to another user, agent, app or run."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise BadInput(f"metadata must be a dict, not {type(metadata).__name__}")
    for key in _IDENTITY & metadata.keys():
        LOG.warning("%s: ignoring metadata[%r]: identity fields cannot be set through metadata", what, key)
    return {key: value for key, value in metadata.items() if key not in _IDENTITY}


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """The fields that all memories of one `add` share."""

    entities: Entities
    metadata: Mapping[str, Any]
    expiration_date: str | None = None
    now: float = 0.0

    def draft_message(self, turn: Said, occurred: float) -> Draft:
        """A message as it was said."""
        message = Message(role=turn.role, content=turn.content, name=turn.name)
        (draft,), _ = drafts_of(message, {})
        actor = {} if turn.name is None else {"actor_id": turn.name}
        return self._fill(draft, occurred, {"role": turn.role, **actor})

    def draft_fact(self, text: str, occurred: float, **more: str) -> Draft:
        """A fact that was extracted from messages."""
        return self._fill(Draft(text=text, kind="fact"), occurred, more)

    def _fill(self, draft: Draft, occurred: float, more: Mapping[str, str]) -> Draft:
        updated = write_time(max(self.now, occurred))
        meta = {**self.metadata, **more, **dict(self.entities.items()), "updated_at": updated}
        if self.expiration_date is not None:
            meta["expiration_date"] = self.expiration_date
        return replace(
            draft,
            id=str(uuid.uuid4()),
            agent=self.entities.agent_id,
            session=self.entities.run_id,
            occurred=occurred,
            meta=meta,
        )


def tell_memory(record: Record, home: Home) -> dict[str, Any]:
    """A memory as mem0 tells it."""
    text, meta = record.whole.text, record.meta
    made = write_time(record.occurred)
    return {
        "id": record.id,
        "memory": text,
        "hash": hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
        "metadata": {key: value for key, value in meta.items() if key not in _OURS} or None,
        "created_at": made,
        "updated_at": meta.get("updated_at", made),
        **dict(Entities.of(record, home).items()),
        **{key: meta[key] for key in _PROMOTED if key in meta},
    }


def tell_hit(hit: Hit, home: Home, *, explain: bool = False) -> dict[str, Any]:
    """A memory that a search found, with its score."""
    item = tell_memory(hit.record, home) | {"score": hit.score}
    if explain:
        signals = {signal.name: signal.value for signal in hit.signals}
        item["score_details"] = {"final_score": hit.score, "why": hit.why(), **signals}
    return item
