"""What tells something is read without the rest: in bounded steps, without vectors, from SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from eidet import Memory
from eidet.store.sql import relational

EACH = 30


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with closing(Memory(tmp_path / "m.db", embedder="hashing:16")) as memory:
        for number in range(3):
            memory.remember([f"note {number} {n}" for n in range(EACH)])
            memory.remember(f"Ann{number} lives in Lisbon.")
        yield memory


def test_a_new_process_has_the_facts_and_reads_on(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relational, "WALKED", 7)
    with closing(Memory(tmp_path / "m.db", embedder="hashing:16")) as other:
        assert [fact.object for fact in other.facts.about("Ann1")] == ["Lisbon"]
        memory.remember("Ann1 moved to Porto.")
        (two,) = memory.recall("Ann2", limit=1)
        memory.forget(two.id)
        assert [fact.object for fact in other.facts.about("Ann1")] == ["Porto"]
        assert other.facts.about("Ann2") == []
