"""Readers of Letta's agent files, and of the memory file of MCP's reference server."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..core.draft import Draft
from ..core.errors import BadInput
from ..graph.graph_formats import make_drafts, parse_mcp_lines
from .source_files import find_source, parse_document, read_text
from .source_items import (
    Dropped,
    ImportOptions,
    Items,
    LeftOut,
    SourceItem,
    has_text,
    keep_present,
    make_labels,
    make_message,
    parse_time,
    plain_json,
    with_origin,
)


def read_letta(source: str, _: ImportOptions) -> Items:
    """Reads the memory blocks and messages of an agent file (`.af`)."""
    path = find_source(source)
    found = parse_document(read_text(path), str(path))
    if not isinstance(found, dict) or not all(isinstance(found.get(n), list) for n in ("agents", "blocks")):
        raise BadInput(f"{path} is not an agent file of Letta: it has no agents and blocks")
    yield Dropped("agent", "its prompt, tools, files and settings are no memories", len(found["agents"]))
    owners = defaultdict(list)
    for agent in found["agents"]:
        for id in agent.get("block_ids") or []:
            owners[id].append(_name_agent(agent))
    for number, block in enumerate(found["blocks"], 1):
        names = owners[block.get("id")]
        owner = names[0] if len(names) == 1 else None  # a block that several agents share has no owner
        yield _parse_block(block, f"block {number:,} ({block.get('label')})", owner)
    for agent in found["agents"]:
        for number, message in enumerate(agent.get("messages") or [], 1):
            yield _parse_message(message, number, _name_agent(agent))


def _name_agent(agent: Mapping[str, Any]) -> str:
    return str(agent.get("name") or agent.get("id"))


def _parse_block(block: Mapping[str, Any], where: str, agent: str | None) -> SourceItem | LeftOut:
    if not has_text(block.get("value")):
        return LeftOut(where, "has no text")
    own = {name: block.get(name) for name in ("label", "description", "limit", "read_only")}
    draft = Draft(
        key=f"letta block {agent or block.get('id')} {block.get('label')}",
        kind="fact",
        text=block["value"],
        agent=agent,
        source="letta",
        occurred=parse_time(block.get("created_at"), f"{where}: created_at"),
        meta=with_origin(plain_json(block.get("metadata") or {}), "letta", keep_present(**own)),
    )
    return SourceItem(where=where, labels=make_labels(agent=agent), draft=draft)


def _parse_message(message: Any, number: int, agent: str) -> SourceItem | LeftOut:
    where = f"message {number:,} of {agent}"
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise BadInput(f"{where} has no role")
    content = message.get("content")
    parts = [{"text": content}] if isinstance(content, str) else content or []
    text = "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    if message["role"] == "system":
        return LeftOut(where, "is a system prompt")
    if not text and not message.get("tool_calls"):
        return LeftOut(where, "has no text")
    return make_message(
        where,
        f"letta message {agent} {message.get('id') or number}",
        text,
        role=message["role"],
        name=message.get("name"),
        calls=message.get("tool_calls"),
        call_id=message.get("tool_call_id"),
        agent=agent,
        session=agent,
        occurred=parse_time(message.get("created_at"), f"{where}: created_at"),
        source="letta",
        origin=keep_present(model=message.get("model"), id=message.get("id")),
        labels=make_labels(agent=agent),
    )


def read_mcp(source: str, _: ImportOptions) -> Items:
    """Reads the graph of the MCP reference server, JSON lines: its facts become facts of Eidet."""
    facts = list(dict.fromkeys(parse_mcp_lines(read_text(find_source(source)))))
    for fact, draft in zip(facts, make_drafts(facts), strict=True):
        where = f"{fact.subject} {fact.relation} {fact.object}"
        yield SourceItem(where=where, draft=replace(draft, source="mcp"))
