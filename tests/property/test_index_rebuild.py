"""However a scope came to be what it is, its index answers as one that was built from the store at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eidet.index import Found, Probe, embedded, postings, shard
from eidet.index.embedded import EmbeddedIndex, EmbeddedSettings
from eidet.index.shard import Shard
from eidet.model import Kind, Record, Scope
from eidet.store import Changes, Derived, Store
from eidet.store.ram import RamStore
from eidet.text import pack, term_id
from eidet.where import Where

NOW = 1_700_000_000.0
WIDTH = 8
WORDS = ("cat", "dog", "bird", "the", "sea")
often = settings(derandomize=True, deadline=None, max_examples=150)

ids = st.sampled_from([f"id{n}" for n in range(12)])
words = st.lists(st.sampled_from(WORDS), max_size=6)
vectors = st.none() | st.lists(st.integers(-3, 3).map(float), min_size=WIDTH, max_size=WIDTH)


@pytest.fixture(autouse=True, scope="module")
def _small_thresholds() -> Iterator[None]:
    """Merges, compactions and pages at a size at which examples reach them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "TAIL_ROWS", 3)
        patch.setattr(shard, "DEAD_ROWS", 2)
        patch.setattr(embedded, "BATCH", 4)
        yield


def made(id: str, said: Sequence[str], vector: list[float] | None, expires: float | None) -> Record:
    return Record(
        id=id,
        scope="a",
        text=f"{said} {vector}",
        kind=Kind.EPISODE,
        created=NOW,
        occurred=NOW,
        expires=expires,
        who=said[0] if said else None,
        vector=None if vector is None else np.array(vector, np.float32).tobytes(),
        terms=pack(list(said)),
    )


records = st.builds(made, ids, words, vectors, st.none() | st.sampled_from([NOW - 1, NOW + 1]))
steps = st.one_of(
    st.tuples(st.just("put"), st.lists(records, min_size=1, max_size=8)),
    st.tuples(st.just("drop"), st.lists(ids, max_size=5)),
    st.tuples(st.just("ask"), st.none()),
    st.tuples(st.just("compact"), st.none()),
    st.tuples(st.just("rewrite"), words),
)
probes = st.builds(
    lambda said, vector, who, depth: Probe(
        scope=Scope("a"),
        now=NOW,
        where=None if who is None else Where(who=who),
        vector=None if vector is None else np.array(vector, np.float32),
        terms=tuple(term_id(word) for word in dict.fromkeys(said)),
        depth=depth,
    ),
    words,
    vectors,
    st.none() | st.sampled_from(WORDS),
    st.just(100),
)


def happen(store: Store, index: EmbeddedIndex, what: str, with_: Any) -> None:
    match what:
        case "put":
            store.put(with_, now=NOW)
        case "drop":
            store.drop(Where(ids=tuple(with_)), now=NOW)
        case "ask":
            index.check("a")
        case "compact":
            held(index).compact()
        case "rewrite":
            found = store.find(Where())[:2]
            store.rewrite([Derived(record.seq, record.vector, pack(with_)) for record in found])


def held(index: EmbeddedIndex) -> Shard:
    return index._slot("a").shard


def assert_same(one: Found, other: Found) -> None:
    for name in ("seq", "dense", "words", "importance", "occurred"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    assert (one.spans, one.searched, one.kept) == (other.spans, other.searched, other.kept)


@often
@given(st.lists(steps, max_size=15), st.lists(probes, min_size=1, max_size=4))
def test_an_index_that_followed_answers_as_one_that_was_rebuilt(
    history: list[tuple[str, Any]], asked: list[Probe]
) -> None:
    store = RamStore()
    index = EmbeddedIndex(store, WIDTH)
    for what, with_ in history:
        happen(store, index, what, with_)
    assert index.check("a") == []
    for probe in asked:
        followed = index.search(probe)
        assert_same(followed, EmbeddedIndex(store, WIDTH).search(probe))
        assert followed.searched == held(index).live == store.count(Where())


@often
@given(st.lists(steps, max_size=12), probes, st.integers(1, 5))
def test_few_candidates_have_the_best_scores_of_each_arm(
    history: list[tuple[str, Any]], probe: Probe, depth: int
) -> None:
    store = RamStore()
    index = EmbeddedIndex(store, WIDTH)
    for what, with_ in history:
        happen(store, index, what, with_)
    few = index.search(Probe(scope=probe.scope, now=NOW, terms=probe.terms, where=probe.where, depth=depth))
    every = index.search(Probe(scope=probe.scope, now=NOW, terms=probe.terms, where=probe.where))
    best = np.sort(every.words[every.words > 0])[::-1][:depth]
    assert np.array_equal(np.sort(few.words)[::-1][: len(best)], best)
    assert few.spans == every.spans


@often
@given(st.lists(steps, min_size=1, max_size=12), st.lists(steps, max_size=5), probes)
def test_a_cache_file_is_read_back_as_it_was_saved(
    before: list[tuple[str, Any]], after: list[tuple[str, Any]], probe: Probe
) -> None:
    with TemporaryDirectory() as folder:
        store = Watched()
        index = cached(store, folder)
        for what, with_ in before:
            happen(store, index, what, with_)
        store.put([made("last", ["sea"], None, None)], now=NOW)  # its seq can be witnessed
        answer = index.search(probe)
        index.close()
        store.asked.clear()
        again = cached(store, folder)
        assert_same(again.search(probe), answer)
        assert 0 not in store.asked
        for what, with_ in after:
            happen(store, again, what, with_)
        assert_same(again.search(probe), EmbeddedIndex(store, WIDTH).search(probe))


def cached(store: Store, folder: str) -> EmbeddedIndex:
    return EmbeddedIndex(store, WIDTH, folder=Path(folder), settings=EmbeddedSettings(sidecar_from=1))


class Watched(RamStore):
    """Notes from where on it is asked for changes."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        self.asked.append(since)
        return super().changes(scope, since, limit)


def test_a_rebuild_does_not_trust_what_is_in_memory_or_in_the_cache_file(tmp_path: Path) -> None:
    store = RamStore()
    index = cached(store, str(tmp_path))
    store.put([made(f"{n}", ["cat"], None, None) for n in range(10)], now=NOW)
    assert index.check("a") == []
    held(index).alive[:5] = False
    held(index).live -= 5
    assert index.check("a") == ["scope a: the index misses 5 records; run `eidet rebuild`"]
    assert index.rebuild("a") == 10
    assert index.check("a") == []


def test_records_that_an_index_never_saw_may_be_gone_without_harm() -> None:
    one = Shard("a", WIDTH)
    store = RamStore()
    stored = store.put([made(f"{n}", ["cat"], None, None) for n in range(3)], now=NOW)
    told = store.changes("a", 0, 10)
    one.apply(told._replace(entries=told.entries[1:]))
    one.apply(Changes(told.head, [], [record.seq for record in stored[:2]]))
    assert (one.live, one.total) == (1, 1.0)


class Restless(RamStore):
    """Rewrites what it holds after it told of a first page."""

    pages = 0

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        told = super().changes(scope, since, limit)
        self.pages += 1
        if self.pages == 1:
            self.rewrite([Derived(record.seq, None, pack(["dog"])) for record in self.find(Where())])
        return told


def test_pages_of_two_epochs_are_never_mixed() -> None:
    store = Restless()
    store.put([made(f"{n}", ["cat"], None, None) for n in range(10)], now=NOW)
    found = EmbeddedIndex(store, WIDTH).search(Probe(scope=Scope("a"), now=NOW, terms=(term_id("dog"),)))
    assert len(found) == np.count_nonzero(found.words) == 10
