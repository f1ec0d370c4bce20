"""The graph takes from the index what that read of the store, and keeps nothing that was forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.contract.test_facts_on_stores import check_same

from eidet import Memory, Settings
from eidet.core.scope import Scope
from eidet.graph import shared_pages
from eidet.store import Changes, Head
from eidet.store.passthrough import PassthroughStore
from eidet.store.ram import RamStore

MANY = 5_200  # more than one page


class CountingStore(PassthroughStore):
    """Counts how often it was asked what changed."""

    def __init__(self) -> None:
        super().__init__(RamStore())
        self.asked = 0

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        self.asked += 1
        return super().changes(scope, since, limit)


@pytest.fixture
def store() -> CountingStore:
    return CountingStore()


@pytest.fixture
def memory(store: CountingStore) -> Iterator[Memory]:
    with closing(Memory(store, embedder="hashing:16")) as memory:
        yield memory


def test_index_and_graph_read_a_store_once(store: CountingStore, memory: Memory) -> None:
    memory.remember("Ann lives in Lisbon.")
    memory.recall("where does Ann live?")
    assert store.asked == 1
    memory.remember("Ann moved to Porto.")
    memory.recall("where does Ann live?")
    assert store.asked == 2
    assert [fact.object for fact in memory.facts.about("Ann")] == ["Porto"]
    check_same(memory)


def test_several_pages_are_one_graph(store: CountingStore, memory: Memory) -> None:
    memory.remember([f"note {number}" for number in range(MANY)])
    memory.remember("Ann lives in Lisbon.")
    memory.recall("where does Ann live?")
    read = store.asked
    assert [fact.object for fact in memory.facts.about("Ann")] == ["Lisbon"]
    assert store.asked == read
    check_same(memory)


def test_what_is_forgotten_is_kept_in_no_page(store: CountingStore, memory: Memory) -> None:
    kept = memory.remember("Ann lives in Lisbon.")
    memory.parts.index.voices(Scope("default"))  # the index has read it, the graph has not
    memory.forget(kept.id)
    assert memory.parts.graphs.pages.take("default", Head(0, 0)) is None
    assert memory.facts.about("Ann") == []


def test_without_facts_no_pages_are_kept() -> None:
    with closing(Memory(embedder="hashing:16", settings=Settings(facts=False))) as memory:
        memory.remember("Ann lives in Lisbon.")
        memory.recall("Ann")
        assert memory.parts.graphs.pages.take("default", Head(0, 0)) is None


def test_pages_of_many_scopes_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_pages, "MOST", 10)
    with closing(Memory(embedder="hashing:16")) as memory:
        for number in range(20):
            memory.remember("Ann lives in Lisbon.", scope=f"user {number}")
            memory.parts.index.voices(Scope(f"user {number}"))  # the index has read it, the graph has not
        pages = memory.parts.graphs.pages
        kept = [number for number in range(20) if pages.take(f"user {number}", Head(0, 0)) is not None]
        assert kept == [15, 16, 17, 18, 19]
        for number in range(20):
            assert len(memory.facts.about("Ann", scope=f"user {number}")) == 1
