"""Letta: the memory blocks and messages of agent files (`.af`), of the present schema and the former one.

Prompts, tools and model settings make an agent, not a memory: the report counts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput
from .foreign_messages import ForeignMessage
from .foreign_values import plain_json, read_time, with_origin
from .json_source import find_source, open_text, read_document
from .source_items import Notes, ReadOptions, SourceItem, keep_present, make_labels

PARTS: Final = {
    "tools": "are code, not memories",
    "mcp_servers": "are settings of an agent",
    "sources": "are settings of an agent",
    "groups": "are settings of an agent",
    "tool_exec_environment_variables": "are settings of an agent",
    "tool_rules": "are settings of an agent",
    "tags": "are settings of an agent",
}
SETTINGS: Final = ("system", "llm_config", "embedding_config")
THOUGHTS: Final = ("reasoning", "redacted_reasoning", "omitted_reasoning")


def read_letta(source: str, options: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    path = find_source(source)
    with open_text(path) as file:
        found = read_document(file, str(path))
    if not isinstance(found, dict):
        raise BadInput(f"{path} is not an agent file of Letta: it is not a JSON object")
    if isinstance(found.get("agents"), list) and isinstance(found.get("blocks"), list):
        return _read_file(found, options, notes)
    if isinstance(found.get("core_memory"), list) and isinstance(found.get("messages"), list):
        return _read_former(found, options, notes)
    raise BadInput(
        f"{path} is not an agent file of Letta: it has neither agents and blocks nor a core memory"
    )


def _read_file(found: Mapping[str, Any], options: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    _note_parts(found, notes)
    owners = _list_owners(found["agents"])
    for number, block in enumerate(found["blocks"], 1):
        names = owners.get(str(block.get("id")), [])
        name = names[0] if len(names) == 1 else None  # a block that agents share belongs to none of them
        yield from _read_block(block, f"block {number:,}", name, notes)
    for document in found.get("files") or []:
        yield from _read_document_file(document, notes)
    for agent in found["agents"]:
        _note_agent(agent, notes)
        name = str(agent.get("name") or agent.get("id"))
        yield from _read_messages(agent.get("messages") or [], name, options, notes)


def _read_former(found: Mapping[str, Any], options: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    _note_parts(found, notes)
    _note_agent(found, notes)
    name = str(found.get("name") or "agent")
    for number, block in enumerate(found["core_memory"], 1):
        yield from _read_block(block, f"block {number:,}", name, notes)
    yield from _read_messages(found["messages"], name, options, notes)


def _list_owners(agents: list[Any]) -> dict[str, list[str]]:
    owners: dict[str, list[str]] = {}
    for agent in agents:
        for id in agent.get("block_ids") or []:
            owners.setdefault(str(id), []).append(str(agent.get("name") or agent.get("id")))
    return owners


def _read_block(
    block: Mapping[str, Any], where: str, agent: str | None, notes: Notes
) -> Iterator[SourceItem]:
    where = f"{where} ({block.get('label')})"
    text = block.get("value")
    if isinstance(text, str) and text.strip():
        yield SourceItem(
            where=where, labels=make_labels(agent=agent), draft=_draft_block(block, where, agent)
        )
    else:
        notes.skip(where, "has no text")


def _draft_block(block: Mapping[str, Any], where: str, agent: str | None) -> Draft:
    label = block.get("label")
    own = keep_present(label=label, description=block.get("description"), limit=block.get("limit"))
    if block.get("read_only"):
        own["read_only"] = True
    meta = plain_json(block.get("metadata") or block.get("metadata_") or {})
    return Draft(
        key=f"letta block {agent or block.get('id')} {label}",
        kind="fact",
        text=block["value"],
        agent=agent,
        source="letta",
        occurred=read_time(block.get("created_at"), f"{where}: created_at"),
        meta=with_origin(meta, "letta", own),
    )


def _read_document_file(document: Mapping[str, Any], notes: Notes) -> Iterator[SourceItem]:
    name, text = str(document.get("file_name") or document.get("id")), document.get("content")
    if not isinstance(text, str) or not text.strip():
        notes.skip(f"file {name}", "has no text in the agent file")
        return
    yield SourceItem(
        where=f"file {name}",
        draft=Draft(
            key=f"letta file {document.get('id')} {name}", kind="document", text=text, source=name[:1000]
        ),
    )


def _read_messages(
    messages: list[Any], agent: str, options: ReadOptions, notes: Notes
) -> Iterator[SourceItem]:
    for number, message in enumerate(messages, 1):
        where = f"message {number:,} of {agent}"
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise BadInput(f"{where} has no role")
        text = _read_text(message, notes)
        if message["role"] == "system" and not options.everything:
            notes.skip(where, "is a system prompt")
        elif not text and not message.get("tool_calls"):
            notes.skip(where, "has no text")
        else:
            yield _make_message(message, text, agent, where, number)


def _make_message(message: Mapping[str, Any], text: str, agent: str, where: str, number: int) -> SourceItem:
    return ForeignMessage(
        where=where,
        key=f"letta message {agent} {message.get('id') or number}",
        source="letta",
        role=str(message["role"]),
        name=message.get("name"),
        text=text,
        calls=message.get("tool_calls"),
        call_id=message.get("tool_call_id"),
        agent=agent,
        session=agent,
        occurred=read_time(message.get("created_at"), f"{where}: created_at"),
        origin=keep_present(model=message.get("model"), id=message.get("id")),
        labels=make_labels(agent=agent),
    ).make_item()


def _read_text(message: Mapping[str, Any], notes: Notes) -> str:
    """The texts of a message; the former schema says it in `text`."""
    content = message.get("content")
    if content is None:
        content = message.get("text")
    if isinstance(content, str):
        return content
    return "\n".join(_list_texts(content or [], notes))


def _list_texts(content: list[Any], notes: Notes) -> Iterator[str]:
    for part in content:
        kind = part.get("type")
        if isinstance(part.get("text"), str):
            yield part["text"]
        elif kind in THOUGHTS:
            notes.drop("reasoning", "is not said to anybody")
        else:
            notes.drop(f"content of type {kind}", "is not text")


def _note_parts(found: Mapping[str, Any], notes: Notes) -> None:
    for name, why in PARTS.items():
        part = found.get(name)
        if part:
            notes.drop(name, why, len(part))


def _note_agent(agent: Mapping[str, Any], notes: Notes) -> None:
    for name in SETTINGS:
        if agent.get(name):
            notes.drop(name, "is a setting of an agent")
