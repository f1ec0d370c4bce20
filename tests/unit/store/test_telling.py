"""What tells something is read without the rest: in bounded steps, without vectors, from SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from eidet import Memory
from eidet.store import Head, verbs
from eidet.store.abilities import ListsTelling
from eidet.store.sql import relational

EACH = 30
TELLING = [31, 62, 93]  # seqs


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with closing(Memory(tmp_path / "m.db", embedder="hashing:16")) as memory:
        for number in range(3):
            memory.remember([f"note {number} {n}" for n in range(EACH)])
            memory.remember(f"Ann{number} lives in Lisbon.")
        yield memory


def test_only_what_tells_something_is_read_and_no_vector(memory: Memory) -> None:
    store = memory.parts.store
    assert isinstance(store, ListsTelling)
    told = store.list_telling("default", store.head())
    assert told is not None
    assert [entry.seq for entry in told] == TELLING
    assert {entry.vector for entry in told} == {None}


@pytest.mark.parametrize("walked", [1, 7, 31, 1000])
def test_the_steps_of_the_walk_miss_nothing(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, walked: int
) -> None:
    monkeypatch.setattr(relational, "WALKED", walked)
    told = verbs.changes_telling(memory.parts.store, "default", 0, 2)
    assert [entry.seq for entry in told.entries] == TELLING
    assert told.head == memory.parts.store.head()


def test_a_database_that_is_behind_is_not_believed(memory: Memory) -> None:
    store = memory.parts.store
    assert isinstance(store, ListsTelling)
    ahead = Head(store.head().epoch, store.head().seq + 1)
    assert store.list_telling("default", ahead) is None


def test_a_sealed_store_does_not_let_the_one_inside_tell(tmp_path: Path) -> None:
    with closing(Memory(tmp_path / "s.db", key=bytes(32), embedder="hashing:16")) as memory:
        memory.remember("Ann lives in Lisbon.")
        assert not isinstance(memory.parts.store, ListsTelling)
        assert [fact.object for fact in memory.facts.about("Ann")] == ["Lisbon"]


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
