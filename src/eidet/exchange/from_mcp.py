"""MCP: the memory file of the reference server, a graph as JSON lines. Its facts become facts of Eidet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ..graph.mcp_memory import make_drafts, parse_mcp_lines
from .source_files import find_source, open_text
from .source_items import Notes, ReadOptions, SourceItem

FIELDS: Final = {
    "entity": frozenset(("type", "name", "entityType", "observations")),
    "relation": frozenset(("type", "from", "to", "relationType")),
}


def read_mcp(source: str, _: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    with open_text(find_source(source)) as file:
        text = file.read()
    facts = parse_mcp_lines(text)
    _note_fields(text, notes)
    seen: set[str] = set()
    for fact, draft in zip(facts, make_drafts(facts), strict=True):
        where = f"{fact.subject} {fact.relation} {fact.object}"
        if fact.key in seen:
            notes.skip(where, "is said twice")
            continue
        seen.add(fact.key)
        yield SourceItem(where=where, draft=replace(draft, source="mcp"))


def _note_fields(text: str, notes: Notes) -> None:
    for row in map(json.loads, filter(str.strip, text.split("\n"))):
        for name in sorted(row.keys() - FIELDS[row["type"]]):
            notes.drop(f"{name} of an {row['type']}", "is not known of an MCP memory")
