"""MCP: the memory file of the reference server, a graph as JSON lines. Its facts become facts of Eidet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ..core.draft import Draft
from ..graph.mcp_memory import draft_of, read_mcp_lines
from .source_files import find_source, open_text
from .source_items import Notes, ReadOptions, SourceItem

FIELDS: Final = {
    "entity": frozenset(("type", "name", "entityType", "observations")),
    "relation": frozenset(("type", "from", "to", "relationType")),
}


def read_mcp(source: str, _: ReadOptions, notes: Notes) -> Iterator[SourceItem]:
    path = find_source(source)
    with open_text(path) as file:
        text = file.read()
    rows = read_mcp_lines(text)
    _note_fields(text, notes)
    seen: set[str] = set()
    for row in rows:
        key = f"mcp {json.dumps([row.subject, row.relation, row.object], ensure_ascii=False)}"
        where = f"{row.subject} {row.relation} {row.object}"
        if key in seen:
            notes.skip(where, "is said twice")
            continue
        seen.add(key)
        yield SourceItem(where=where, draft=_with_key(draft_of(row), key))


def _with_key(draft: Draft, key: str) -> Draft:
    return replace(draft, key=key, source="mcp")


def _note_fields(text: str, notes: Notes) -> None:
    for line in text.split("\n"):
        if line.strip():
            row = json.loads(line)
            for name in sorted(row.keys() - FIELDS[row["type"]]):
                notes.drop(f"{name} of an {row['type']}", "is not known of an MCP memory")
