"""The index reads along while much is written; whether it does changes no answer."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.timing import until

from eidet import Memory
from eidet.index.embedded import EmbeddedIndex
from eidet.parts import MANY


def follows() -> bool:
    return any(thread.name == "eidet-follower" for thread in threading.enumerate())


def read_rows(memory: Memory, scope: str) -> int:
    index = memory.parts.open_index
    assert isinstance(index, EmbeddedIndex)
    shard = index.cache.peek(scope)
    return 0 if shard is None else shard.count


def texts(count: int) -> list[str]:
    return [f"Friend {number} lives in house {number}" for number in range(count)]


@pytest.mark.parametrize("place", ["ram", "file"])
def test_what_is_written_in_bulk_is_read_before_anybody_asks(place: str, tmp_path: Path) -> None:
    with Memory(None if place == "ram" else tmp_path / "bulk.db", embedder="hashing:32") as memory:
        memory.remember(texts(MANY), scope="ann")
        until(lambda: read_rows(memory, "ann") == MANY)
        until(lambda: not follows())
        memory.remember("One more lives in a boat", scope="ann")
        assert memory.recall("who lives in a boat?", scope="ann")[0].text == "One more lives in a boat"
        assert memory.parts.index.check("ann") == []


def test_answers_are_the_same_as_without(tmp_path: Path) -> None:
    with Memory(tmp_path / "bulk.db", embedder="hashing:32", clock=lambda: 5.0) as memory:
        for start in range(0, 4 * MANY, MANY):
            memory.remember(texts(4 * MANY)[start : start + MANY])
        along = [(hit.text, hit.score) for hit in memory.recall("who lives in house 77?")]
    with Memory(tmp_path / "bulk.db", embedder="hashing:32", clock=lambda: 5.0) as memory:
        assert [(hit.text, hit.score) for hit in memory.recall("who lives in house 77?")] == along


def test_closing_ends_the_thread(tmp_path: Path) -> None:
    with Memory(tmp_path / "bulk.db", embedder="hashing:32") as memory:
        memory.remember(texts(2 * MANY))
    assert not follows()
