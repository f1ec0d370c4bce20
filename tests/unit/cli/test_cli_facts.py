from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.cli.shell import Shell

MCP_FILE = Path(__file__).parents[1] / "graph" / "files" / "mcp_memory.jsonl"


@pytest.fixture
def filled(eidet: Shell) -> Shell:
    eidet("remember", "Ann lives in Lisbon.", "--id", "a", "--occurred", "2024-01-10")
    eidet("remember", "Ann moved to Porto.", "--id", "b", "--occurred", "2024-06-03")
    return eidet


def test_about_tells_what_holds_now_and_what_held_then(filled: Shell) -> None:
    assert "Ann lives in Porto" in filled("facts", "about", "Ann").out
    (then,) = filled("facts", "about", "Ann", "--as-of", "2024-03-01", "--json").lines
    assert (then["text"], then["superseded_by"]) == ("Ann lives in Lisbon", "b#0")


def test_the_timeline_has_both(filled: Shell) -> None:
    out = filled("facts", "timeline", "Ann").out
    for part in ("2024-01-10", "2024-06-03", "Ann lives in Lisbon", "Ann lives in Porto", "a#0"):
        assert part in out


def test_match_binds_variables(filled: Shell) -> None:
    (found,) = filled("facts", "match", "?who", "lives_in", "Porto", "--json").lines
    assert found["bindings"] == {"?who": "Ann"}
    assert "Ann" in filled("facts", "match", "?who", "lives_in", "_").out
    assert filled("facts", "match", "?who", "lives_in").code == 2


def test_why_entities_contradictions_and_export(filled: Shell) -> None:
    assert "Ann moved to Porto" in filled("facts", "why", "b#0").out
    assert "person" in filled("facts", "entities").out
    assert filled("facts", "contradictions", "--json").out == ""
    assert filled("facts", "export", "--format", "mermaid").out.startswith("graph LR")
    assert filled("facts", "why", "nothing").code == 3


def test_contradictions_name_who_said_what(eidet: Shell) -> None:
    for who, year in (("Ann", 1990), ("Bob", 1991)):
        eidet("remember", f"Cleo was born in {year}.", "--who", who, "--occurred", "2026-05-01")
    out = eidet("facts", "contradictions", COLUMNS="120").out
    assert "Ann, 2026-05-01" in out
    assert "Bob, 2026-05-01" in out
    (found,) = eidet("facts", "contradictions", "--json").lines
    assert [[one["who"] for one in side] for side in found["quotations"]] == [["Ann"], ["Bob"]]


def test_a_file_of_the_reference_server_is_loaded(eidet: Shell) -> None:
    assert eidet("facts", "load", str(MCP_FILE), "--json").json == {"facts": 13}
    exported = eidet("facts", "export", "-f", "mcp").out
    assert {json.loads(line)["type"] for line in exported.splitlines()} == {"entity", "relation"}


def test_ids_of_facts_are_whole_in_a_narrow_terminal(eidet: Shell) -> None:
    eidet("remember", "Ann works at Siemens Energy in Berlin.", "--occurred", "2024-01-01")
    (fact,) = eidet("facts", "timeline", "Ann", "--json").lines
    assert fact["id"] in eidet("facts", "timeline", "Ann", COLUMNS="80").out
    assert "facts entities" in eidet("facts", "about", "Zoe").err
