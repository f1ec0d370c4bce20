"""JSON lines end with a line feed alone: what else Unicode calls the end of a line is part of a text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from eidet import Memory
from eidet.eval.cases import Question
from eidet.eval.lines import save_question
from eidet.exchange import export_memories, import_memories

SEPARATORS = {"next line": "\x85", "line": "\u2028", "paragraph": "\u2029"}


def _texts(memory: Memory) -> list[str]:
    return [record.text for record in memory.find()]


def _export_and_import(format: str) -> Callable[[str, Path], list[str]]:
    def move(text: str, file: Path) -> list[str]:
        with Memory(embedder="hashing:16") as memory, Memory(embedder="hashing:16") as there:
            memory.remember(text)
            assert export_memories(memory, format, file).count == 1
            import_memories(there, format, file)
            return _texts(there)

    return move


def _mcp(text: str, file: Path) -> list[str]:
    with Memory(embedder="hashing:16") as memory, Memory(embedder="hashing:16") as there:
        memory.facts.add("Ann", "observation", text)
        written = export_memories(memory, "mcp", file).count
        assert written == len(file.read_text(encoding="utf-8").split("\n"))
        import_memories(there, "mcp", file)
        facts = there.facts.about("Ann")
        return [fact.object for fact in facts if fact.relation == "observation"]


def _export_and_load(text: str, file: Path) -> list[str]:
    with Memory(embedder="hashing:16") as memory, Memory(embedder="hashing:16") as there:
        memory.remember(text)
        memory.export(file)
        there.load(file)
        return _texts(there)


def _evaluation_set(text: str, file: Path) -> list[str]:
    with Memory(embedder="hashing:16") as memory:
        record = memory.remember(text)
    for question in ("what?", "which?"):
        save_question(file, "default", [record], Question(id=question, text=question, gold=(record.id,)))
    worlds = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
    return [record["text"] for world in worlds for record in world["records"]]


READERS: dict[str, Callable[[str, Path], list[str]]] = {
    "import mcp": _mcp,
    "import jsonl": _export_and_import("jsonl"),
    "load": _export_and_load,
    "evaluation set": _evaluation_set,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("separator", SEPARATORS)
def test_a_text_is_not_cut_in_two(tmp_path: Path, reader: str, separator: str) -> None:
    text = f"one{SEPARATORS[separator]}two"
    assert READERS[reader](text, tmp_path / "lines.jsonl") == [text]
