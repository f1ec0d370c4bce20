"""Records as a Portable AI Memory 1.0 document, which `from_pam` reads back.

What the format has a field for stands there; the rest stands below `metadata.eidet`, as its rules allow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

from .. import __version__
from ..core.record import Kind, Record
from ..core.validate import dump_json
from .pam_digests import hash_content, hash_memories
from .table_files import row_of

SCHEMA: Final = "portable-ai-memory"
VERSION: Final = "1.0"
SPEC: Final = "https://portable-ai-memory.org/spec/v1.0"
PLATFORM: Final = "eidet"
SAID: Final = ("text", "occurred")  # fields that the document itself has


def make_document(records: Iterable[Record], owner: str, now: float) -> dict[str, Any]:
    """The document; ids that two scopes share are told apart by their scope."""
    contents = _Contents(now)
    for record in records:
        contents.add(record)
    return {
        "schema": SCHEMA,
        "schema_version": VERSION,
        "spec_uri": SPEC,
        "export_id": str(uuid4()),
        "exported_by": f"eidet/{_three_numbers(__version__)}",
        "export_date": _time(now),
        "owner": {"id": owner},
        "memories": contents.memories,
        "relations": list(contents.list_relations()),
        "conversations_index": list(contents.list_sessions()),
        "integrity": _sum_up(contents.memories),
        "export_type": "full",
    }


class _Contents:
    """The memories of a document, and what holds them together."""

    def __init__(self, now: float) -> None:
        self._now = now
        self.memories: list[dict[str, Any]] = []
        self._named: dict[tuple[str, str], str] = {}  # scope and id -> the id in the document
        self._taken: set[str] = set()
        self._derived: list[tuple[Record, str]] = []
        self._sessions: dict[str, list[tuple[float, str]]] = {}

    def add(self, record: Record) -> None:
        id = self._name(record)
        self._named[record.scope, record.id] = id
        self.memories.append(_make_memory(record, id, self._now))
        if record.session is not None:
            self._sessions.setdefault(record.session, []).append((record.occurred, id))
        if record.derived_from:
            self._derived.append((record, id))

    def list_relations(self) -> Iterator[dict[str, Any]]:
        """One for each record of this document that another one was made from."""
        for record, id in self._derived:
            for number, source in enumerate(dict.fromkeys(record.derived_from)):
                target = self._named.get((record.scope, source))
                if target is not None:
                    ends = {"from": id, "to": target, "type": "derived_from"}
                    yield {"id": f"{id} {number}", **ends, "created_at": _time(record.occurred)}

    def list_sessions(self) -> Iterator[dict[str, Any]]:
        for session, messages in self._sessions.items():
            times = [occurred for occurred, _ in messages]
            yield {
                "id": session,
                "platform": PLATFORM,
                "message_count": len(messages),
                "temporal": {"created_at": _time(min(times)), "updated_at": _time(max(times))},
                "tags": [],
                "derived_memories": [id for _, id in messages],
            }

    def _name(self, record: Record) -> str:
        id = record.id
        if id in self._taken:
            id = f"{record.scope}/{record.id}"
        while id in self._taken:
            id += "'"
        self._taken.add(id)
        return id


def _sum_up(memories: list[dict[str, Any]]) -> dict[str, Any]:
    checksum = hash_memories(memories)
    return {"canonicalization": "RFC8785", "checksum": checksum, "total_memories": len(memories)}


def _make_memory(record: Record, id: str, now: float) -> dict[str, Any]:
    row = row_of(record)
    content = row["text"] if row["text"].strip() else dump_json(row.get("data"))
    return {
        "id": id,
        **_type_of(record),
        "status": "active",
        "content": content,
        "content_hash": hash_content(content),
        "tags": [],
        "temporal": _temporal_of(row),
        "provenance": _provenance_of(record, now),
        "metadata": {"scope": record.scope, "eidet": _own_of(row, content)},
    }


def _own_of(row: dict[str, Any], content: str) -> str:
    """What the format has no field for.

    As JSON text: before the checksum, libraries drop what is null and write numbers their own way.
    """
    own: dict[str, Any] = {}
    for name, value in row.items():
        if name not in SAID or (name == "text" and value != content):
            own[name] = value
    return dump_json(own)


def _provenance_of(record: Record, now: float) -> dict[str, str]:
    provenance = {"platform": PLATFORM, "extracted_at": _time(now), "extraction_method": "api_export"}
    if record.session is not None:
        provenance["conversation_ref"] = record.session
    return provenance


def _temporal_of(row: dict[str, Any]) -> dict[str, str]:
    times = {"created_at": _time(row["occurred"])}
    if "expires" in row and row["expires"] >= row["occurred"]:
        times |= {"valid_from": times["created_at"], "valid_until": _time(row["expires"])}
    return times


def _type_of(record: Record) -> dict[str, str]:
    if record.kind is Kind.FACT:
        return {"type": "fact"}
    return {"type": "custom", "custom_type": str(record.kind)}


def _time(seconds: float) -> str:
    """As the format's own library writes times, so that both take the same digest."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _three_numbers(version: str) -> str:
    """A version as the format wants it: `0.1.0`, whatever follows."""
    found = re.match(r"\d+\.\d+\.\d+", version)
    if found is None:
        return "0.0.0"
    return found[0]
