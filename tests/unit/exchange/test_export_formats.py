"""Exports in formats of others: what is in them, what is left out, and who may write them."""

from __future__ import annotations

import json
import stat
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.unit.exchange.sources import list_records, open_memory

from eidet import BadInput, Memory, Refused, Unavailable
from eidet.exchange import WRITERS, export_memories, import_memories

FORMATS = ["jsonl", "mcp", "markdown", "okf"]
ONE_SCOPE = ("mcp", "markdown")


@pytest.fixture
def memory() -> Any:
    with open_memory() as opened:
        opened.remember("Ann lives in Lisbon", id="a", meta={"n": 1}, importance=0.9, session="s")
        opened.remember("Bob drinks tea", id="b", scope="club", pinned=True, derived_from=["a"])
        yield opened


def read(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_plain(path: Path) -> str:
    """The text of a file, or of all files in a zip."""
    if not zipfile.is_zipfile(path):
        return path.read_text(encoding="utf-8")
    with zipfile.ZipFile(path) as archive:
        return "".join(archive.read(name).decode() for name in archive.namelist())


def test_a_json_line_says_what_a_caller_could(memory: Memory, tmp_path: Path) -> None:
    done = export_memories(memory, "jsonl", tmp_path / "out")
    assert (done.count, done.left_out) == (2, {})
    first, second = read(tmp_path / "out")
    assert (first["id"], first["scope"], first["text"]) == ("a", "default", "Ann lives in Lisbon")
    assert (first["meta"], first["importance"], first["session"]) == ({"n": 1}, 0.9, "s")
    assert second["pinned"] is True
    assert second["eidet"]["version"] == 1


def test_one_scope_or_several_leave(memory: Memory, tmp_path: Path) -> None:
    memory.remember("Cleo swims", scope="club/water")
    for scope, count in ((None, 3), ("club", 1), ("club/**", 2), ("nowhere", 0)):
        assert export_memories(memory, "jsonl", tmp_path / "out", scope=scope).count == count


@pytest.mark.parametrize("format", ["jsonl", "markdown", "okf"])
def test_what_is_in_quarantine_stays(memory: Memory, tmp_path: Path, format: str) -> None:
    memory.trust.quarantine("a")
    done = export_memories(memory, format, tmp_path / "out", scope="default")
    assert (done.count, done.left_out) == (0, {"in quarantine": 1})


@pytest.mark.parametrize("format", ["jsonl", "markdown", "okf"])
def test_a_lowered_record_leaves_whole(memory: Memory, tmp_path: Path, format: str) -> None:
    text = ("Ann lives in Lisbon. " * 200).strip()
    memory.remember(text, id="long", tier="long")
    memory.upkeep.maintain()
    export_memories(memory, format, tmp_path / "out", scope="default")
    with open_memory() as other:
        import_memories(other, format, tmp_path / "out")
        assert ("default", text) in list_records(other)


@pytest.mark.parametrize("format", FORMATS)
def test_a_sealed_memory_leaves_only_plainly_asked_for(format: str, tmp_path: Path) -> None:
    key = bytes(range(32)).hex()
    with Memory(tmp_path / "m.db", embedder="hashing:16", key=key) as sealed:
        sealed.remember("Ann lives in Lisbon")
        with pytest.raises(Refused, match="is sealed"):
            export_memories(sealed, format, tmp_path / "out")
        assert not (tmp_path / "out").exists()
        export_memories(sealed, format, tmp_path / "out", plain=True)
        assert "Lisbon" in read_plain(tmp_path / "out")


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_is_for_its_owner_only_and_whole_or_not_there(
    memory: Memory, format: str, tmp_path: Path
) -> None:
    scope = "default" if format in ONE_SCOPE else None
    export_memories(memory, format, tmp_path / "out", scope=scope)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o600
    with pytest.raises(Unavailable, match="could not be written"):
        export_memories(memory, format, tmp_path / "nowhere" / "out", scope=scope)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("format", FORMATS)
def test_an_export_is_audited(format: str, tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="hashing:16", audit=tmp_path / "audit") as memory:
        memory.remember("Ann lives in Lisbon")
        export_memories(memory, format, tmp_path / "out")
    assert str(tmp_path / "out") in (tmp_path / "audit").read_text()


def test_an_mcp_file_is_of_one_scope(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="one graph: name a scope of these 2"):
        export_memories(memory, "mcp", tmp_path / "out")
    done = export_memories(memory, "mcp", tmp_path / "out", scope="default")
    rows = read(tmp_path / "out")
    assert done.count == len(rows)
    assert {"type": "relation", "from": "Ann", "to": "Lisbon", "relationType": "lives_in"} in rows
    with open_memory() as other:
        import_memories(other, "mcp", tmp_path / "out")
        assert "Lisbon" in {fact.object for fact in other.facts.about("Ann")}


def test_a_format_must_be_known(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="exported as jsonl, mcp, markdown, okf or skill"):
        export_memories(memory, "telepathy", tmp_path / "out")
    assert set(WRITERS) == {*FORMATS}
    assert list(tmp_path.iterdir()) == []
