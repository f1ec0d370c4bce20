"""What the memory knew at an earlier time equals a memory that was never told what came later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import Clock

from eidet import Memory, Record

START = 1_750_000_000.0
TEXTS = (
    "Ann lives in Lisbon.",
    "Ann moved to Porto.",
    "The bakery in Porto opens at seven.",
    "Leo plays the cello in Lisbon.",
    "The gate code is 7731.",
)
QUESTIONS = ("Where does Ann live?", "What opens at seven?", "Who plays the cello?", "gate code")

Step = tuple[str, int, int]  # what is done, to which record, with which text


@pytest.fixture(params=["ram", "file"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    place = None if request.param == "ram" else tmp_path / "past.db"
    with Memory(place, clock=Clock(START)) as memory:
        yield memory


def do(memory: Memory, clock: Clock, steps: Sequence[Step]) -> None:
    """One step a minute; a record that is not there yet is told instead of changed."""
    for what, which, text in steps:
        clock.now += 60
        there = memory.get(f"r{which}")
        if what == "revise" and there is not None:
            memory.revise(f"r{which}", text=TEXTS[text])
        elif there is None:
            memory.remember(TEXTS[text], id=f"r{which}", keep_duplicates=True)


def answers(memory: Memory, known_at: float | None, now: float) -> list[list[tuple[str, str, int, float]]]:
    told = []
    for question in QUESTIONS:
        hits = memory.recall(question, known_at=known_at, now=now)
        told.append([(hit.id, hit.text, hit.record.version, round(hit.score, 5)) for hit in hits])
    return told


def shown(records: Sequence[Record]) -> list[tuple[str, str, int]]:
    return [(record.id, record.text, record.version) for record in records]


steps = st.lists(
    st.tuples(st.sampled_from(["tell", "revise"]), st.integers(0, 3), st.integers(0, len(TEXTS) - 1)),
    min_size=1,
    max_size=8,
)


@settings(max_examples=15, deadline=None)
@given(steps, st.integers(0, 8))
def test_what_was_known_equals_a_replay_up_to_then(steps: list[Step], until: int) -> None:
    whole, part = Clock(START), Clock(START)
    at = START + 60 * until + 1
    with Memory(clock=whole) as now, Memory(clock=part) as then:
        do(now, whole, steps)
        do(then, part, steps[:until])
        assert answers(now, at, at) == answers(then, None, at)
        assert shown(now.find(known_at=at, order="created")) == shown(then.find(order="created"))


def test_a_version_of_before_is_found_by_its_own_words(memory: Memory) -> None:
    clock = memory.parts.clock
    assert isinstance(clock, Clock)
    told = memory.remember("Ann lives in Lisbon.", meta={"seen": True})
    before = clock.now
    clock.now += 3600
    memory.revise(told.id, text="Ann lives in Porto.", importance=0.9, meta={})
    (hit,) = memory.recall("Lisbon", known_at=before)
    assert (hit.text, hit.record.version, hit.record.meta) == ("Ann lives in Lisbon.", 1, {"seen": True})
    assert memory.recall("Where does Ann live?")[0].text == "Ann lives in Porto."
    assert "Lisbon" in memory.context("Where does Ann live?", known_at=before).text


def test_what_was_forgotten_since_is_not_known_any_more(memory: Memory) -> None:
    clock = memory.parts.clock
    assert isinstance(clock, Clock)
    told = memory.remember("The gate code is 7731.")
    kept = memory.remember("The gate is green.")
    before = clock.now
    clock.now += 60
    assert len(memory.find(known_at=before)) == 2
    memory.forget(told.id)
    assert [record.id for record in memory.find(known_at=before)] == [kept.id]
    assert all("7731" not in hit.text for hit in memory.recall("gate code 7731", known_at=before))


def test_asking_about_the_past_counts_no_use(memory: Memory) -> None:
    clock = memory.parts.clock
    assert isinstance(clock, Clock)
    told = memory.remember("Leo plays the cello.")
    clock.now += 60
    memory.recall("Who plays the cello?", known_at=clock.now)
    memory.parts.flush()
    there = memory.get(told.id)
    assert there is not None
    assert there.uses == 0
