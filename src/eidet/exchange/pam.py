"""Portable AI Memory 1.0, in and out: a memory store, a conversation, or a folder or zip archive of both.

What the format has a field for stands there; the rest stands below `metadata.eidet`, as its rules allow.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final
from uuid import uuid4

from .. import __version__
from ..core.draft import Draft
from ..core.errors import BadInput
from ..core.record import Kind, Record
from ..core.validate import dump_json
from .source_files import open_members
from .source_items import (
    Notes,
    ReadOptions,
    SourceItem,
    has_text,
    identify,
    keep_present,
    make_labels,
    make_message,
    parse_own,
    parse_time,
    plain_json,
    with_origin,
)
from .table_files import row_of

_SCHEMA: Final = "portable-ai-memory"
_SPEC: Final = "https://portable-ai-memory.org/spec/v1.0"
_GONE: Final = frozenset(("superseded", "retracted"))
_KEPT: Final = ("type", "custom_type", "status", "summary", "tags", "confidence", "access")
_NEEDED: Final = ("id", "type", "content", "temporal", "provenance")
_GOES_WITHOUT_SAYING: Final = (("type", "fact"), ("status", "active"))


def read_pam(source: str, options: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    with open_members(source) as members:
        names = members.list_names() if members.is_single else members.find("*.json")
        known, owner = False, None
        # The store, which names the owner, comes before the conversations in their folder.
        for name in sorted(names, key=lambda name: (name.count("/"), name)):
            found = members.load(name)
            if isinstance(found, dict) and str(found.get("schema")).startswith(_SCHEMA):
                known = True
                owner = (found.get("owner") or {}).get("id", owner)
                yield from _parse_document(found, name, owner, options, notes)
        if not known:
            raise BadInput(
                f'{source} holds no document of Portable AI Memory: none has the "schema" {_SCHEMA}'
            )


def _parse_document(
    found: Mapping[str, Any], name: str, owner: str | None, options: ReadOptions, notes: Notes
) -> Iterator[SourceItem]:
    version = str(found.get("schema_version"))
    if not version.startswith("1."):
        raise BadInput(f"{name} has version {version} of Portable AI Memory; this version reads 1.x")
    if found["schema"] == f"{_SCHEMA}-conversation":
        yield from _parse_conversation(found, name, owner, notes)
    elif found["schema"] == f"{_SCHEMA}-embeddings":
        notes.drop_vector("embeddings")
    else:
        yield from _parse_store(found, name, options, notes)


def _parse_store(
    found: Mapping[str, Any], name: str, options: ReadOptions, notes: Notes
) -> Iterator[SourceItem]:
    memories, owner = found.get("memories"), found.get("owner")
    if not isinstance(memories, list) or not isinstance(owner, dict):
        raise BadInput(f"{name} is not a memory store: it needs an owner and memories")
    total = (found.get("integrity") or {}).get("total_memories")
    if total not in (None, len(memories)):
        raise BadInput(
            f"{name} was cut off or changed: it should hold {total} memories, it holds {len(memories)}"
        )
    relations: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for relation in found.get("relations") or []:
        kept = keep_present(type=relation.get("type"), to=relation.get("to"))
        relations[str(relation.get("from"))].append(kept)
    for number, memory in enumerate(memories, 1):
        where = f"{name}, memory {number:,}"
        if not isinstance(memory, dict) or any(memory.get(field) in (None, "") for field in _NEEDED):
            raise BadInput(f"{where} is not a memory: it needs {', '.join(_NEEDED)}")
        if _hash_content(str(memory["content"])) != memory.get("content_hash"):
            notes.drop("content_hash", "does not fit the content: somebody changed it")
        if memory.get("status") in _GONE and not options.everything:
            notes.skip(where, f"is {memory['status']}")
            continue
        if memory.get("embedding_ref") is not None:
            notes.drop_vector("embedding_ref")
        yield _make_item(memory, relations[str(memory["id"])], str(owner.get("id")), where)


def _make_item(
    memory: Mapping[str, Any], relations: list[dict[str, Any]], owner: str, where: str
) -> SourceItem:
    metadata, provenance = memory.get("metadata") or {}, memory["provenance"]
    occurred = parse_time(memory["temporal"].get("created_at"), f"{where}: created_at")
    if (own := parse_own(metadata.get("eidet"))) is not None:
        return _restore_item(own, str(memory["content"]), occurred, where)
    others = [relation for relation in relations if relation.get("type") != "derived_from"]
    draft = Draft(
        **identify(str(memory["id"]), "pam"),
        kind="fact",
        text=str(memory["content"]),
        occurred=occurred,
        session=provenance.get("conversation_ref"),
        source=str(provenance.get("platform")),
        derived_from=[str(relation.get("to")) for relation in relations if relation not in others],
        meta=with_origin(plain_json(metadata), "pam", _list_origin(memory, others)),
    )
    return SourceItem(where=where, labels=make_labels(user=owner), draft=draft)


def _restore_item(own: dict[str, Any], content: str, occurred: float | None, where: str) -> SourceItem:
    scope = own.pop("scope")
    try:
        draft = Draft(**{"text": content, "occurred": occurred} | own)
    except TypeError:
        raise BadInput(f"{where}: metadata.eidet names a field that no memory has") from None
    return SourceItem(where=where, labels={"scope": scope, "user": scope}, draft=draft)


def _list_origin(memory: Mapping[str, Any], relations: list[dict[str, Any]]) -> dict[str, Any]:
    """The other fields of a memory, without defaults."""
    temporal = {name: value for name, value in memory["temporal"].items() if name != "created_at"}
    said = {
        **{name: memory.get(name) for name in _KEPT},
        "provenance": keep_present(**memory["provenance"]),
        "temporal": keep_present(**temporal),
        "relations": relations,
    }
    return {
        name: value
        for name, value in said.items()
        if value not in (None, [], {}) and (name, value) not in _GOES_WITHOUT_SAYING
    }


def _parse_conversation(
    found: Mapping[str, Any], name: str, owner: str | None, notes: Notes
) -> Iterator[SourceItem]:
    for number, message in enumerate(found.get("messages") or [], 1):
        where = f"{name}, message {number:,}"
        text = (message.get("content") or {}).get("text")
        for attachment in message.get("attachments") or []:
            notes.drop("attachment", f"files stay where they are ({attachment.get('type')})")
        if not has_text(text):
            notes.skip(where, "has no text")
            continue
        session, id = str(found.get("id") or where), message.get("id")
        yield make_message(
            where,
            f"pam {session} {id or where}",
            text,
            role=str(message.get("role") or "user"),
            session=session,
            occurred=parse_time(message.get("created_at"), f"{where}: created_at"),
            source=str((found.get("provider") or {}).get("name") or "pam"),
            origin=keep_present(message=id, title=found.get("title"), model=message.get("model")),
            labels=make_labels(session=session, user=owner),
        )


def make_document(records: Iterable[Record], owner: str, now: float) -> dict[str, Any]:
    """Records as a document; ids that two scopes share are told apart by their scope."""
    listed = list(records)
    names = _name_records(listed)
    memories = [_make_memory(record, id, now) for record, id in zip(listed, names.values(), strict=True)]
    # Before the checksum, the format asks for the JSON of RFC 8785. Sorted JSON is that as long as no number
    # is in it and names are ASCII, which `_make_memory` sees to.
    ordered = sorted(memories, key=lambda memory: str(memory["id"]))
    version = re.match(r"\d+\.\d+\.\d+", __version__)
    return {
        "schema": _SCHEMA,
        "schema_version": "1.0",
        "spec_uri": _SPEC,
        "export_id": str(uuid4()),
        "exported_by": f"eidet/{version[0] if version else '0.0.0'}",
        "export_date": _time(now),
        "owner": {"id": owner},
        "memories": memories,
        "relations": list(_list_relations(listed, names)),
        "conversations_index": list(_list_sessions(listed, names)),
        "integrity": {
            "canonicalization": "RFC8785",
            "checksum": _digest(dump_json(ordered, sort_keys=True)),
            "total_memories": len(memories),
        },
        "export_type": "full",
    }


def _name_records(records: Iterable[Record]) -> dict[tuple[str, str], str]:
    """The id of each record in the document, by its scope and id."""
    names: dict[tuple[str, str], str] = {}
    taken: set[str] = set()
    for record in records:
        id = f"{record.scope}/{record.id}" if record.id in taken else record.id
        while id in taken:
            id += "'"
        taken.add(id)
        names[record.scope, record.id] = id
    return names


def _list_relations(records: list[Record], names: Mapping[tuple[str, str], str]) -> Iterator[dict[str, Any]]:
    """Lists a relation for each source of a record that is in this document."""
    for record in records:
        id = names[record.scope, record.id]
        for number, source in enumerate(dict.fromkeys(record.derived_from)):
            if (target := names.get((record.scope, source))) is not None:
                ends = {"from": id, "to": target, "type": "derived_from"}
                yield {"id": f"{id} {number}", **ends, "created_at": _time(record.occurred)}


def _list_sessions(records: list[Record], names: Mapping[tuple[str, str], str]) -> Iterator[dict[str, Any]]:
    sessions: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record.session is not None:
            sessions[record.session].append(record)
    for session, messages in sessions.items():
        times = [record.occurred for record in messages]
        yield {
            "id": session,
            "platform": "eidet",
            "message_count": len(messages),
            "temporal": {"created_at": _time(min(times)), "updated_at": _time(max(times))},
            "tags": [],
            "derived_memories": [names[record.scope, record.id] for record in messages],
        }


def _make_memory(record: Record, id: str, now: float) -> dict[str, Any]:
    row = row_of(record)
    content = row["text"] if row["text"].strip() else dump_json(row.get("data"))
    # What the format has no field for, as JSON text: before the checksum, libraries drop what is null and
    # write numbers their own way.
    own = {name: row[name] for name in row if name not in ("text", "occurred")}
    if row["text"] != content:
        own["text"] = row["text"]
    is_fact = record.kind is Kind.FACT
    return {
        "id": id,
        **({"type": "fact"} if is_fact else {"type": "custom", "custom_type": str(record.kind)}),
        "status": "active",
        "content": content,
        "content_hash": _hash_content(content),
        "tags": [],
        "temporal": _temporal_of(row),
        "provenance": {
            "platform": "eidet",
            "extracted_at": _time(now),
            "extraction_method": "api_export",
            **keep_present(conversation_ref=record.session),
        },
        "metadata": {"scope": record.scope, "eidet": dump_json(own)},
    }


def _temporal_of(row: dict[str, Any]) -> dict[str, str]:
    times = {"created_at": _time(row["occurred"])}
    if "expires" in row and row["expires"] >= row["occurred"]:
        times |= {"valid_from": times["created_at"], "valid_until": _time(row["expires"])}
    return times


def _time(seconds: float) -> str:
    """Formats a time as the format's own library does, so that both compute the same digest."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _hash_content(content: str) -> str:
    """The digest by which the format finds the same text: without case and extra space."""
    folded = unicodedata.normalize("NFC", content.strip().lower())
    return _digest(re.sub(r"\s+", " ", folded))


def _digest(text: str) -> str:
    return f"sha256:{sha256(text.encode()).hexdigest()}"
