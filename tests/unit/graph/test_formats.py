"""Facts in and out: the file of the MCP reference server, networkx."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.making import Clock, texts

from eidet import Memory
from eidet.core.errors import BadInput
from eidet.exchange import import_memories

# Written by @modelcontextprotocol/server-memory 2026.8.31, asked by its own client.
MADE_BY_THE_SERVER = Path(__file__).parent / "files" / "mcp_memory.jsonl"


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(embedder="hashing", clock=Clock(1_730_000_000.0)) as opened:
        yield opened


def rows(text: str) -> list[object]:
    """The lines of a file, in one order, with relations written as ours are."""
    found = []
    for line in text.splitlines():
        row = json.loads(line)
        if row["type"] == "relation":
            row["relationType"] = row["relationType"].replace(" ", "_")
        else:
            row["observations"].sort()
        found.append(row)
    return sorted(found, key=json.dumps)


def test_a_file_of_the_reference_server_comes_in_and_goes_out_again(memory: Memory) -> None:
    assert import_memories(memory, "mcp", MADE_BY_THE_SERVER).created == 13
    assert rows(memory.facts.export()) == rows(MADE_BY_THE_SERVER.read_text(encoding="utf-8"))
    assert texts(memory.facts.match(subject="?x", relation="lives_in", object="Porto")[0].facts) == [
        "Ann Lee lives in Porto"
    ]
    (porto,) = memory.facts.entities("Porto")
    assert porto.kind == "place"


def test_a_damaged_file_leaves_nothing_behind(memory: Memory, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text(MADE_BY_THE_SERVER.read_text(encoding="utf-8") + '\n{"type":"relation","from":"x"}')
    with pytest.raises(BadInput, match="line 9"):
        import_memories(memory, "mcp", bad)
    assert memory.count() == 0


def tell(memory: Memory) -> None:
    memory.facts.add("Ann", "lives_in", "Lisbon", since="2024-01-10")
    memory.facts.add("Ann", "lives_in", 'Porto <"&|>', since="2024-06-03")
    memory.facts.add("Ann", "age", 34)


def test_networkx_has_entities_and_facts(memory: Memory) -> None:
    pytest.importorskip("networkx", reason="needs networkx: pip install networkx")
    tell(memory)
    graph = memory.facts.networkx(ever=True)
    assert graph.number_of_nodes() == 4
    assert sorted(data["relation"] for _, _, data in graph.edges(data=True)) == [
        "age",
        "lives_in",
        "lives_in",
    ]
