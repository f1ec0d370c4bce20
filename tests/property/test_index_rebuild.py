"""However a scope came to be what it is, its index answers as one that was built from the store at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.candidates import column
from tests.making import examples
from tests.wordbook import Wordbook

from eidet.core.record import Kind, Record
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.index import Candidates, Hints, Probe
from eidet.index.embedded import EmbeddedIndex, cache, postings, shard
from eidet.index.embedded.lexicon import Lexicon
from eidet.index.embedded.shard import Shard
from eidet.index.embedded.vectors import VectorPlanes
from eidet.store import Changes, Derived, Store, verbs
from eidet.store.ram import RamStore
from eidet.text import analyzer_of, pack, term_id
from eidet.text.analysis import decode_analysis, pack_analysis

NOW = 1_700_000_000.0
WIDTH = 8
WORDS = ("cat", "dog", "bird", "the", "sea")
COLUMNS = ("seq", "dense", "words", "importance", "occurred", "turn", "kind", "flags", "length", "days")
often = settings(derandomize=True, deadline=None, max_examples=examples(150))

ids = st.sampled_from([f"id{n}" for n in range(12)])
words = st.lists(st.sampled_from(WORDS), max_size=6)
vectors = st.lists(st.integers(-3, 3).map(float), min_size=WIDTH, max_size=WIDTH)


@pytest.fixture(autouse=True, scope="module")
def _small_thresholds() -> Iterator[None]:
    """Merges, compactions and pages at a size at which examples reach them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "TAIL_ROWS", 3)
        patch.setattr(shard, "DEAD_ROWS", 2)
        patch.setattr(cache, "BATCH", 4)
        yield


def made(
    id: str,
    units: Sequence[Sequence[str]],
    vectors: Sequence[list[float]] | None = None,
    expires: float | None = None,
    **fields: Any,
) -> Record:
    """A record in units of words, with as many vectors or, now and then, more or fewer."""
    flags, days = fields.pop("flags", 0), fields.pop("days", ())
    said = {"created": NOW, "occurred": NOW, "kind": Kind.EPISODE, **fields}
    return Record(
        id=id,
        scope="a",
        text=f"{units} {vectors} {' '.join(WORDS)}",
        expires=expires,
        vector=None if vectors is None else np.array(vectors, np.float32).tobytes(),
        terms=pack_analysis([pack(list(words)) for words in units], flags, days),
        **said,
    )


labels = st.none() | st.sampled_from(("ann", "bob", "s-1"))
records = st.builds(
    made,
    ids,
    st.lists(words, min_size=1, max_size=4),
    st.none() | st.lists(vectors, min_size=1, max_size=4),
    st.none() | st.sampled_from([NOW - 1, NOW + 1]),
    who=labels,
    session=labels,
    occurred=st.sampled_from([NOW + n for n in range(5)]),
    place=st.none() | st.sampled_from([(0.0, 0.0), (3.0, 4.0, 5.0)]),
    flags=st.integers(0, 15),
    days=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=2),
)
steps = st.one_of(
    st.tuples(st.just("put"), st.lists(records, min_size=1, max_size=8)),
    st.tuples(st.just("drop"), st.lists(ids, max_size=5)),
    st.tuples(st.just("ask"), st.none()),
    st.tuples(st.just("search"), st.none()),
    st.tuples(st.just("compact"), st.none()),
    st.tuples(st.just("rewrite"), words),
)


def probe_for(
    said: list[str], vector: list[float] | None, who: str | None, named: list[str], depth: int
) -> Probe:
    spelt = tuple(dict.fromkeys(said))
    return Probe(
        scope=Scope("a"),
        now=NOW,
        where=None if who is None else Where(who=who),
        vector=None if vector is None else np.array(vector, np.float32),
        terms=tuple(term_id(word) for word in spelt),
        depth=depth,
        hints=Hints(
            spelt=spelt,
            names=(tuple(term_id(word) for word in named),),
            sessions=("1",),
        ),
    )


probes = st.builds(
    probe_for,
    words,
    st.none() | vectors,
    st.none() | st.sampled_from(("ann", "bob")),
    st.lists(st.sampled_from(WORDS), max_size=2),
    st.just(100),
)
EVERYTHING = probe_for(["cat", "sea"], [1.0] * WIDTH, None, ["dog"], 100)


def happen(store: Store, index: EmbeddedIndex, what: str, with_: Any) -> None:
    match what:
        case "put":
            verbs.put(store, with_, now=NOW)
        case "drop":
            verbs.delete_where(store, Where(ids=tuple(with_)), now=NOW)
        case "ask":
            index.check("a")
        case "search":
            index.search(EVERYTHING)
        case "compact":
            if index.cache.peek("a") is not None:
                held(index).compact()
        case "rewrite":
            found = store.find(Where())[:2]
            verbs.replace_derived(
                store, [Derived(record.seq, record.vector, pack_analysis([pack(with_)])) for record in found]
            )


def held(index: EmbeddedIndex) -> Shard[VectorPlanes]:
    shard = index.cache.peek("a")
    assert shard is not None
    return shard


def following(store: Store) -> EmbeddedIndex:
    english = analyzer_of("en")
    return EmbeddedIndex(store, WIDTH, lexicon=Lexicon(Wordbook(), english), analyzer=english)


def assert_same(one: Candidates, other: Candidates) -> None:
    for name in COLUMNS:
        assert column(one, name).tobytes() == column(other, name).tobytes(), name
    for optional in ("aligned", "inside"):
        mine, theirs = column(one, optional), column(other, optional)
        assert (mine is None) == (theirs is None)
        assert mine is None or np.array_equal(mine, theirs, equal_nan=True), optional
    assert [mask.tolist() for mask in one.traits.mentions] == [
        mask.tolist() for mask in other.traits.mentions
    ]
    assert speakers(one) == speakers(other)
    assert alike(one.traits.session) == alike(other.traits.session)
    assert set(one.traits.voices) - {""} == set(other.traits.voices) - {""}
    assert (one.searched, one.kept, one.rarity) == (other.searched, other.kept, other.rarity)


def speakers(found: Candidates) -> list[str | None]:
    return [found.traits.voices[code] if code >= 0 else None for code in found.traits.who.tolist()]


def alike(codes: Any) -> list[int]:
    """Codes by their first appearance: which number a label has is no matter."""
    numbers: dict[int, int] = {-1: -1}
    return [numbers.setdefault(code, len(numbers)) for code in codes.tolist()]


@often
@given(
    st.lists(steps, max_size=15),
    st.lists(probes, min_size=1, max_size=4),
    st.sampled_from((0, 4096)),
    st.booleans(),
)
def test_an_index_that_followed_answers_as_one_that_was_rebuilt(
    history: list[tuple[str, Any]], asked: list[Probe], whole: int, watched: bool
) -> None:
    store = RamStore()
    index = following(store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shard, "WHOLE", whole)
        for what, with_ in history:
            happen(store, index, what, with_)
            if watched:  # so that all that is made for searching is there to be brought up to date
                index.search(EVERYTHING)
        assert index.check("a") == []
        for probe in asked:
            followed = index.search(probe)
            assert_same(followed, following(store).search(probe))
            assert followed.searched == held(index).records == verbs.count(store, Where())
            assert followed.seq.tolist() == sorted(set(followed.seq.tolist()))


@often
@given(st.lists(steps, max_size=12), probes, st.integers(1, 5))
def test_few_candidates_have_the_best_scores_of_each_arm(
    history: list[tuple[str, Any]], probe: Probe, depth: int
) -> None:
    store = RamStore()
    index = EmbeddedIndex(store, WIDTH)
    for what, with_ in history:
        happen(store, index, what, with_)
    every = index.search(replace(probe, vector=None))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shard, "WHOLE", 0)
        few = index.search(replace(probe, vector=None, depth=depth))
    by_seq = dict(zip(every.seq.tolist(), every.words.tolist(), strict=True))
    held_words = sorted((score for score in by_seq.values() if score > 0), reverse=True)
    if max(map(len, (decode_analysis(r.terms).units for r in store.find(Where()))), default=0) <= 1:
        assert sorted(few.words.tolist(), reverse=True)[: len(held_words[:depth])] == held_words[:depth]
    assert few.words.max(initial=0) == every.words.max(initial=0)
    assert all(by_seq[seq] >= score for seq, score in zip(few.seq.tolist(), few.words.tolist(), strict=True))
    told = {seq: at for at, seq in enumerate(every.seq.tolist())}
    rows = [told[seq] for seq in few.seq.tolist()]
    for name in ("turn", "flags", "length", "kind", "who", "session", "occurred"):
        assert column(few, name).tolist() == column(every, name)[rows].tolist(), name
    assert few.traits.mentions[0].tolist() == every.traits.mentions[0][rows].tolist()


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
        verbs.put(store, [made("last", [["sea"]])], now=NOW)  # its seq can be witnessed
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
    return EmbeddedIndex(store, WIDTH, folder=Path(folder), sidecar_from=1)


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
    verbs.put(store, [made(f"{n}", [["cat"]]) for n in range(10)], now=NOW)
    assert index.check("a") == []
    held(index).columns.alive[:5] = False
    held(index).columns.live -= 5
    assert index.check("a") == ["scope a: the index misses 5 records; run `eidet rebuild`"]
    assert index.rebuild("a") == 10
    assert index.check("a") == []


def test_records_that_an_index_never_saw_may_be_gone_without_harm() -> None:
    one = Shard("a", VectorPlanes(WIDTH))
    store = RamStore()
    stored = verbs.put(store, [made(f"{n}", [["cat"]]) for n in range(3)], now=NOW)
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
            verbs.replace_derived(
                self,
                [Derived(record.seq, None, pack_analysis([pack(["dog"])])) for record in self.find(Where())],
            )
        return told


def test_pages_of_two_epochs_are_never_mixed() -> None:
    store = Restless()
    verbs.put(store, [made(f"{n}", [["cat"]]) for n in range(10)], now=NOW)
    found = EmbeddedIndex(store, WIDTH).search(Probe(scope=Scope("a"), now=NOW, terms=(term_id("dog"),)))
    assert len(found) == np.count_nonzero(found.words) == 10
