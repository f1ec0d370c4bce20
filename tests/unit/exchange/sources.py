"""One source of each format, made by the programs themselves where they can be installed.

`tests/fixtures/foreign/make_*.py` made mem0, langgraph, chroma and letta. The exports of ChatGPT and
Claude are written by hand after what their users publish of the formats; in
`tests/integrations/test_exchange.py` another reader of these formats judges them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tests.reference import ROOT

from eidet import Memory
from eidet.core.record import Record
from eidet.models.embed.hashing import Hashing

FOREIGN: Final = ROOT / "tests" / "fixtures" / "foreign"
COLUMNS: Final = {"text": "note", "occurred": "when", "who": "person", "importance": "stars"}

# format, source, options, how many memories it holds
SOURCES: Final[dict[str, tuple[str, Path, dict[str, Any], int]]] = {
    "mem0 in Qdrant": ("mem0", FOREIGN / "mem0" / "qdrant", {}, 6),
    "mem0 get_all": ("mem0", FOREIGN / "mem0" / "get_all.json", {}, 6),
    "langgraph": ("langgraph", FOREIGN / "langgraph" / "store.sqlite", {}, 4),
    "chroma": ("chroma", FOREIGN / "chroma", {}, 2),
    "letta": ("letta", FOREIGN / "letta" / "agent.af", {}, 6),
    "chatgpt": ("chatgpt", FOREIGN / "chatgpt", {}, 5),
    "claude": ("claude", FOREIGN / "claude", {}, 4),
    "mcp": ("mcp", FOREIGN / "mcp" / "graph.jsonl", {}, 5),
    "markdown": ("markdown", FOREIGN / "markdown", {}, 8),
    "okf": ("okf", FOREIGN / "okf", {}, 2),
    "jsonl": ("jsonl", FOREIGN / "tables" / "notes.jsonl", {}, 6),
    "csv": ("csv", FOREIGN / "tables" / "notes.csv", {"columns": COLUMNS, "delimiter": ":"}, 2),
}


def open_memory(place: str | Path | None = None) -> Memory:
    return Memory(place, embedder=Hashing(16))


def list_records(memory: Memory) -> dict[tuple[str, str], Record]:
    """All records by scope and text."""
    return {
        (scope, record.text): record
        for scope in memory.scopes()
        for record in memory.find(scope=scope, limit=1000)
    }
