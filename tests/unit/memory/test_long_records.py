"""A text of thousands of words is one memory: found by any part of it, and one record to every verb."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.making import PLACES, place_of

from eidet import Draft, Memory, Settings
from eidet.core.record import Record
from eidet.text import term_id
from eidet.text.analysis import decode_analysis, terms_in
from eidet.text.sentences import units_of

NOW = 1_700_000_000.0
WIDTH = 64
FILLER = "The committee met again and spoke about budgets, chairs and other matters of the house. "
NEEDLE = "Ann keeps her violin under the stairs in Lisbon. "
LONG = FILLER * 100 + NEEDLE + FILLER * 100  # some 3,000 words


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return place_of(request, tmp_path)


@pytest.fixture
def memory(place: Path | None) -> Iterator[Memory]:
    with Memory(place, embedder=f"hashing:{WIDTH}", clock=lambda: NOW) as opened:
        yield opened


def rows(memory: Memory, scope: str = "default") -> Any:
    """The shard of a scope after it has caught up."""
    index: Any = memory.parts.index
    assert index.check(scope) == []
    return index.cache.peek(scope)


def units(record: Record) -> int:
    return len(decode_analysis(record.terms).units)


def others(memory: Memory) -> None:
    memory.remember([f"note {n} about budgets and chairs" for n in range(20)])
    memory.remember("Bob keeps his cello in Porto")


def test_one_sentence_in_the_middle_is_found_and_is_one_hit(memory: Memory) -> None:
    others(memory)
    record = memory.remember(LONG, kind="document")
    assert units(record) == len(units_of(LONG)) > 30
    assert len(record.vector or b"") == 4 * WIDTH * units(record)
    hits = memory.recall("where is the violin of Ann?", limit=22, explain=True)
    assert hits[0].id == record.id
    assert len({hit.id for hit in hits}) == len(hits)
    assert "violin" in hits[0].matched
    assert hits[0].score > 0.2
    assert hits.trace is not None
    assert hits.trace.searched == 22
    assert [hit.id for hit in memory.recall("violin", recipe="exact")] == [record.id]


def test_every_verb_takes_it_for_one_record(memory: Memory, tmp_path: Path) -> None:
    others(memory)
    record = memory.remember(LONG, kind="document", session="s", who="Ann")
    assert memory.get(record.id) == record
    assert memory.count() == len(memory.find(limit=100)) == 22
    assert [one.id for one in memory.find(session="s")] == [record.id]
    assert memory.admin.rebuild() == 22
    assert memory.admin.check() == []
    assert memory.recall("violin")[0].id == record.id
    assert memory.export(tmp_path / "all.jsonl") == 22
    with Memory(embedder=f"hashing:{WIDTH}", clock=lambda: NOW) as other:
        assert other.load(tmp_path / "all.jsonl") == 22
        assert other.recall("violin")[0].id == record.id
        loaded = other.get(record.id)
        assert loaded is not None
        assert (loaded.text, loaded.vector, loaded.terms) == (record.text, record.vector, record.terms)
    with Memory(embedder="hashing:32", language="de", clock=lambda: NOW) as other:
        assert other.load(tmp_path / "all.jsonl") == 22
        assert other.recall("violin")[0].id == record.id
    assert memory.forget(record.id) == 1
    assert memory.recall("violin", recipe="exact") == memory.recall("nonsense", recipe="exact")
    shard = rows(memory)
    assert (shard.records, int(shard.columns.alive.sum())) == (21, 21)


def test_a_revision_makes_it_longer_shorter_or_leaves_its_text_alone(memory: Memory) -> None:
    record = memory.remember("short and sweet")
    longer = memory.revise(record.id, text=LONG)
    assert units(longer) > 30
    assert memory.recall("violin", recipe="exact")[0].id == record.id
    said = memory.revise(record.id, who="Zoe", importance=0.9)
    assert (said.vector, units(said)) == (longer.vector, units(longer))
    assert term_id("zoe") in terms_in(said.terms) - terms_in(longer.terms)
    assert memory.recall("Zoe violin", limit=5)[0].record.who == "Zoe"
    assert len(memory.recall("violin")) == 1
    shorter = memory.revise(record.id, text="sweet again")
    assert units(shorter) == 1
    assert len(memory.recall("violin", recipe="exact")) == 0
    assert (rows(memory).records, rows(memory).live) == (1, 1)


def test_the_days_a_text_speaks_of_are_those_of_when_it_was_said(memory: Memory) -> None:
    record = memory.remember(FILLER * 60 + "We met yesterday.", occurred="2023-05-08T12:00:00Z")
    assert decode_analysis(record.terms).days == ()  # what a text is shows early
    short = memory.remember("We met yesterday.", occurred="2023-05-08T12:00:00Z")
    moved = memory.revise(short.id, occurred="2023-06-08T12:00:00Z")
    [(first, _)], [(then, _)] = decode_analysis(short.terms).days, decode_analysis(moved.terms).days
    assert then - first == 31


def test_a_change_of_embedder_makes_vectors_of_all_its_units(memory: Memory) -> None:
    others(memory)
    record = memory.remember(LONG)
    assert memory.admin.reembed("hashing:32") == 22
    again = memory.get(record.id)
    assert again is not None
    assert len(again.vector or b"") == 4 * 32 * units(record)
    hits = memory.recall("Ann keeps her violin under the stairs in Lisbon", limit=1)
    assert hits[0].id == record.id
    [dense] = [signal for signal in hits[0].signals if signal.name == "dense"]
    assert dense.value > 0.3
    assert memory.admin.check() == []


def test_another_language_analyses_it_anew(memory: Memory) -> None:
    record = memory.remember(FILLER * 60 + "Die Häuser der Städte sind alt. " + FILLER * 60)
    assert memory.admin.rebuild(language="de") == 1
    again = memory.get(record.id)
    assert again is not None
    assert units(again) == units(record)
    assert memory.recall("Haus", recipe="exact")[0].id == record.id


# Vectors of the caller's own.


def axis(*which: int) -> list[list[float]]:
    return [[1.0 if at == one else 0.0 for at in range(WIDTH)] for one in which]


@pytest.mark.parametrize("form", [list, np.array, lambda rows: np.array(rows, np.float32).tobytes()])
def test_several_vectors_of_ones_own_make_one_record(memory: Memory, form: Any) -> None:
    one = memory.remember("a picture", vector=form(axis(0, 1, 2)))
    memory.remember("another picture", vector=axis(5)[0])
    assert units(one) == 3
    for at in (0, 1, 2):
        hits = memory.recall(vector=axis(at)[0], recipe="documents")
        assert hits[0].id == one.id
        assert [hit.id for hit in hits].count(one.id) == 1
    assert memory.recall("picture", recipe="exact", limit=9)[0].matched == ("picture",)
    assert memory.count() == 2


def test_a_long_text_with_one_vector_of_its_own(memory: Memory) -> None:
    record = memory.remember(LONG, vector=axis(3)[0])
    assert units(record) == 1
    assert memory.recall("violin", recipe="exact")[0].id == record.id
    assert memory.recall(vector=axis(3)[0])[0].id == record.id


@pytest.mark.parametrize(("text", "vectors"), [("a picture", (0, 1, 2)), (LONG, (3,)), (LONG, (3, 4))])
def test_a_change_of_embedder_finds_what_had_vectors_of_its_own(
    memory: Memory, text: str, vectors: Sequence[int]
) -> None:
    record = memory.remember(text, vector=axis(*vectors))
    memory.remember("something else altogether")
    memory.admin.reembed("hashing:32")
    hits = memory.recall(text[:60] if text != LONG else NEEDLE, limit=1)
    assert hits[0].id == record.id
    [dense] = [signal for signal in hits[0].signals if signal.name == "dense"]
    assert dense.value > 0.3
    assert memory.admin.check() == []
    assert memory.admin.rebuild() == 2


def test_own_vectors_can_be_revised(memory: Memory) -> None:
    record = memory.remember(LONG)
    again = memory.revise(record.id, vector=axis(7, 8))
    assert units(again) == 2
    assert memory.recall(vector=axis(8)[0])[0].id == record.id
    assert memory.recall("violin", recipe="exact")[0].id == record.id


def test_many_of_a_list_each_have_their_own_units(memory: Memory) -> None:
    stored = memory.remember([LONG, "short", Draft(text="own", vector=axis(1, 2)), FILLER * 12 + NEEDLE])
    assert [units(one) for one in stored] == [len(units_of(LONG)), 1, 2, len(units_of(FILLER * 12 + NEEDLE))]
    assert rows(memory).records == 4
    assert memory.recall("short", recipe="exact")[0].id == stored[1].id


def test_a_cache_file_holds_long_records(tmp_path: Path) -> None:
    settings = Settings(sidecar_from=1)
    for _ in range(2):
        with Memory(tmp_path / "m.db", embedder="hashing:64", settings=settings, clock=lambda: NOW) as memory:
            if not memory.count():
                memory.remember([LONG, "short"])
            assert [hit.text for hit in memory.recall("violin", recipe="exact")] == [LONG]
            assert rows(memory).records == 2
    assert list((tmp_path / "m.db-index").glob("*.eix"))
