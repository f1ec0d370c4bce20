"""Portable AI Memory 1.0: a memory store, a conversation, or a folder or zip archive of both."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput
from .foreign_messages import ForeignMessage
from .foreign_values import plain_json, read_time, with_origin
from .json_source import find_source, open_members, read_document
from .pam_digests import hash_content
from .source_items import Notes, ReadOptions, SourceItem, identify, keep_present, make_labels
from .to_pam import SCHEMA

CONVERSATION: Final = "portable-ai-memory-conversation"
EMBEDDINGS: Final = "portable-ai-memory-embeddings"
GONE: Final = frozenset(("superseded", "retracted"))
KEPT: Final = ("type", "custom_type", "status", "summary", "tags", "confidence", "access")
NEEDED: Final = ("id", "type", "content", "temporal", "provenance")

Relations = Mapping[str, list[dict[str, Any]]]


def read_pam(source: str, options: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    with open_members(find_source(source)) as members:
        names = members.list_names() if members.is_single else members.find("*.json")
        known, owner = 0, None
        for name in sorted(names, key=_by_depth):
            with members.open(name) as file:
                found = read_document(file, name)
            if isinstance(found, dict) and str(found.get("schema")).startswith(SCHEMA):
                known += 1
                owner = (found.get("owner") or {}).get("id", owner)
                yield from _read_document(found, name, owner, options, notes)
        if not known:
            raise BadInput(
                f'{source} holds no document of Portable AI Memory: none has the "schema" {SCHEMA}'
            )


def _by_depth(name: str) -> tuple[int, str]:
    """The store, which names the owner, comes before the conversations in their folder."""
    return name.count("/"), name


def _read_document(
    found: Mapping[str, Any], name: str, owner: str | None, options: ReadOptions, notes: Notes
) -> Iterator[SourceItem]:
    version = str(found.get("schema_version"))
    if not version.startswith("1."):
        raise BadInput(f"{name} has version {version} of Portable AI Memory; this version reads 1.x")
    if found["schema"] == CONVERSATION:
        return _read_conversation(found, name, owner, notes)
    if found["schema"] == EMBEDDINGS:
        notes.drop("embeddings", "Eidet embeds the text itself")
        return iter(())
    return _read_store(found, name, options, notes)


def _read_store(
    found: Mapping[str, Any], name: str, options: ReadOptions, notes: Notes
) -> Iterator[SourceItem]:
    memories, owner = found.get("memories"), found.get("owner")
    if not isinstance(memories, list) or not isinstance(owner, dict):
        raise BadInput(f"{name} is not a memory store: it needs an owner and memories")
    _check_total(found, memories, name)
    relations = _sort_relations(found.get("relations") or [])
    for number, memory in enumerate(memories, 1):
        where = f"{name}, memory {number:,}"
        if not isinstance(memory, dict) or any(memory.get(field) in (None, "") for field in NEEDED):
            raise BadInput(f"{where} is not a memory: it needs {', '.join(NEEDED)}")
        if hash_content(str(memory["content"])) != memory.get("content_hash"):
            notes.drop("content_hash", "does not fit the content: somebody changed it")
        if memory.get("status") in GONE and not options.everything:
            notes.skip(where, f"is {memory['status']}")
            continue
        yield _make_item(memory, relations.get(str(memory["id"]), []), str(owner.get("id")), where, notes)


def _check_total(found: Mapping[str, Any], memories: list[Any], name: str) -> None:
    total = (found.get("integrity") or {}).get("total_memories")
    if total is not None and total != len(memories):
        raise BadInput(
            f"{name} was cut off or changed: it should hold {total} memories, it holds {len(memories)}"
        )


def _sort_relations(relations: list[Any]) -> Relations:
    by_memory: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for relation in relations:
        kept = keep_present(type=relation.get("type"), to=relation.get("to"))
        by_memory[str(relation.get("from"))].append(kept)
    return by_memory


def _make_item(
    memory: Mapping[str, Any], relations: list[dict[str, Any]], owner: str, where: str, notes: Notes
) -> SourceItem:
    metadata = memory.get("metadata") or {}
    if memory.get("embedding_ref") is not None:
        notes.drop("embedding_ref", "Eidet embeds the text itself")
    occurred = read_time(memory["temporal"].get("created_at"), f"{where}: created_at")
    own = _read_own(metadata.get("eidet"))
    if own is not None:
        return _restore_item(own, str(memory["content"]), occurred, where)
    return SourceItem(
        where=where,
        labels=make_labels(user=owner),
        draft=_make_draft(memory, relations, metadata, occurred),
    )


def _read_own(text: Any) -> dict[str, Any] | None:
    """What an export of Eidet says beside the fields of the format; None if it is of somebody else."""
    if not isinstance(text, str):
        return None
    try:
        own = json.loads(text)
    except ValueError:
        return None
    if isinstance(own, dict) and isinstance(own.get("id"), str) and isinstance(own.get("scope"), str):
        return own
    return None


def _restore_item(own: dict[str, Any], content: str, occurred: float | None, where: str) -> SourceItem:
    scope = own.pop("scope")
    labels = {"scope": scope, "user": scope}
    try:
        draft = Draft(**{"text": content, "occurred": occurred} | own)
    except TypeError:
        raise BadInput(f"{where}: metadata.eidet names a field that no memory has") from None
    return SourceItem(where=where, labels=labels, draft=draft)


def _make_draft(
    memory: Mapping[str, Any],
    relations: list[dict[str, Any]],
    metadata: Mapping[str, Any],
    occurred: float | None,
) -> Draft:
    provenance = memory["provenance"]
    derived: list[str] = []
    others: list[dict[str, Any]] = []
    for relation in relations:
        if relation.get("type") == "derived_from":
            derived.append(str(relation.get("to")))
        else:
            others.append(relation)
    return Draft(
        **identify(str(memory["id"]), "pam"),
        kind="fact",
        text=str(memory["content"]),
        occurred=occurred,
        session=provenance.get("conversation_ref"),
        source=str(provenance.get("platform")),
        derived_from=derived,
        meta=with_origin(plain_json(metadata), "pam", _list_origin(memory, others)),
    )


def _list_origin(memory: Mapping[str, Any], relations: list[dict[str, Any]]) -> dict[str, Any]:
    """What else the document says of a memory, without what goes without saying."""
    own: dict[str, Any] = {}
    for name in KEPT:
        value = memory.get(name)
        if value not in (None, [], {}) and (name, value) not in (("type", "fact"), ("status", "active")):
            own[name] = value
    temporal = {name: value for name, value in memory["temporal"].items() if name != "created_at"}
    parts = {"provenance": memory["provenance"], "temporal": temporal}
    for name, part in parts.items():
        present = keep_present(**part)
        if present:
            own[name] = present
    if relations:
        own["relations"] = relations
    return own


def _read_conversation(
    found: Mapping[str, Any], name: str, owner: str | None, notes: Notes
) -> Iterator[SourceItem]:
    for number, message in enumerate(found.get("messages") or [], 1):
        where = f"{name}, message {number:,}"
        text = (message.get("content") or {}).get("text")
        for attachment in message.get("attachments") or []:
            notes.drop("attachment", f"files stay where they are ({attachment.get('type')})")
        if isinstance(text, str) and text.strip():
            yield _make_message(found, message, text, owner, where)
        else:
            notes.skip(where, "has no text")


def _make_message(
    found: Mapping[str, Any], message: Mapping[str, Any], text: str, owner: str | None, where: str
) -> SourceItem:
    session = str(found.get("id") or where)
    own = keep_present(message=message.get("id"), title=found.get("title"), model=message.get("model"))
    return ForeignMessage(
        where=where,
        key=f"pam {session} {message.get('id') or where}",
        source=str((found.get("provider") or {}).get("name") or "pam"),
        role=str(message.get("role") or "user"),
        text=text,
        session=session,
        occurred=read_time(message.get("created_at"), f"{where}: created_at"),
        origin=own,
        labels=make_labels(session=session, user=owner),
    ).make_item()
