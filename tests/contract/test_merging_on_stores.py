"""Repetitions are merged the same way on every store, sealed or not, audited or not; events never are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from tests.making import NOW, Clock, make_store

from eidet import Memory

DAY = 86_400.0
STORES = ("ram", "sqlite", "postgres", "redis")


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW, tick=1.0)


@pytest.fixture(params=list(product(STORES, ("", "sealed "), ("unaudited", "audited"))), ids="-".join)
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    name, sealed, audited = request.param
    store = make_store(sealed + name, tmp_path, request)
    audit = tmp_path / "audit.jsonl" if audited == "audited" else None
    with Memory(store, embedder="hashing:64", clock=clock, audit=audit) as opened:
        yield opened


def test_events_with_the_same_words_stay_apart(memory: Memory) -> None:
    """At the write, in upkeep, and where repetitions are counted."""
    said = [
        *({"text": "Went to the climbing gym.", "occurred": NOW - days * DAY} for days in range(1, 13)),
        *({"text": "Went to the climbing gym.", "who": who} for who in ("Ann", "Bob")),
        *({"text": "Went to the climbing gym.", "session": session} for session in ("a", "b")),
        *({"text": f"My weight is {kilos} kg.", "occurred": NOW} for kilos in (80, 81, 82)),
    ]
    for one in said:
        memory.remember(**one)  # type: ignore[arg-type]
    before = memory.find(limit=100)
    assert len(before) == len(said)
    assert memory.upkeep.maintain().counts.get("merge", 0) == 0
    assert memory.find(limit=100) == before
    assert memory.admin.metrics()["eidet_memory_duplicate_ratio"] == 0.0
    last = max(record.occurred for record in memory.find(limit=100) if record.occurred < NOW)
    assert last == NOW - DAY


def test_repetitions_become_one_that_says_when_each_was_said(memory: Memory, clock: Clock) -> None:
    first = memory.remember("Ann lives in Lisbon.", source="mail")
    clock.days(1)
    memory.remember("Ann lives in Lisbon!", source="chat")
    assert memory.upkeep.maintain(only="merge").counts == {"merge": 1}
    clock.days(1)
    memory.remember("Ann  lives in Lisbon", source="call")
    assert memory.upkeep.maintain(only="merge").counts == {"merge": 1}
    assert memory.upkeep.maintain(only="merge").counts == {}
    [kept] = memory.find()
    assert kept.id == first.id
    assert [f"{time:%d}" for time in kept.times] == ["14", "15", "16"]
    [hit] = memory.recall("Where does Ann live?")
    assert hit.why().endswith("said 3 times: 14 November 2023, 15 November 2023, 16 November 2023")


def test_exact_copies_that_somebody_kept_are_still_counted(memory: Memory) -> None:
    memory.remember(["Ann lives in Lisbon."] * 3, keep_duplicates=True)
    assert memory.admin.metrics()["eidet_memory_duplicate_ratio"] == pytest.approx(2 / 3)


def test_what_holds_again_after_something_else_is_no_repetition(memory: Memory, clock: Clock) -> None:
    for place in ("Porto.", "Rome.", "Porto!", "Porto"):
        memory.remember(f"Ann lives in {place}")
        clock.days(1)
    assert memory.upkeep.maintain(only="merge").counts == {"merge": 1}
    assert [len(record.times) for record in memory.find(order="created")] == [1, 1, 2]
    assert [fact.object for fact in memory.facts.about("Ann")] == ["Porto"]
