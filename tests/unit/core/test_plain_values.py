"""Records and hits as plain values, and how things introduce themselves in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eidet import Hits, Memory


@pytest.fixture
def memory() -> Memory:
    made = Memory(embedder="hashing:16", clock=lambda: 1_700_000_000.0)
    made.remember("Ann lives in Lisbon", meta={"a": [1]}, data={"city": "Lisbon"}, place=(38.7, -9.1))
    return made


def test_a_record_is_plain_values(memory: Memory) -> None:
    told = memory.find()[0].to_dict()
    assert told == json.loads(json.dumps(told)) | {"place": (38.7, -9.1), "derived_from": ()}
    assert (told["text"], told["kind"], told["meta"]) == ("Ann lives in Lisbon", "fact", {"a": [1]})
    assert told["created"] == told["occurred"] == "2023-11-14T22:13:20+00:00"
    assert (told["expires"], told["last_used"]) == (None, None)
    assert told.keys().isdisjoint({"vector", "terms", "original", "sealed"})


def test_the_vector_of_a_record_is_told_if_asked_for(memory: Memory) -> None:
    assert len(memory.find()[0].to_dict(vectors=True)["vector"]) == 16


def test_an_answer_is_plain_values(memory: Memory) -> None:
    told = memory.recall("Ann", explain=True).to_dict()
    assert json.loads(json.dumps(told))["hits"][0]["record"]["text"] == "Ann lives in Lisbon"
    assert told["hits"][0]["why"]
    assert told["trace"]["query"] == "Ann"
    assert "trace" not in memory.recall("Ann").to_dict()


def test_they_introduce_themselves_in_one_line(memory: Memory, tmp_path: Path) -> None:
    memory.remember("word " * 500)
    for shown in (repr(memory), repr(memory.recall("word")), repr(memory.recall("Ann"))):
        assert len(shown) < 120
        assert "\n" not in shown
    assert "Ann lives in Lisbon" in repr(memory.recall("Ann"))
    assert repr(Hits([])) == "Hits([])"
    with Memory(tmp_path / "m.db", embedder="hashing:16") as other:
        assert repr(other) == f"Memory({tmp_path / 'm.db'}, hashing:16)"
