"""What a person would call the right answer comes first: codes, days, changes, no echo of the question."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from eidet import Memory

NOW = datetime(2026, 6, 18, 12, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory() as memory:
        yield memory


def first(memory: Memory, query: str) -> str:
    return memory.recall(query, now=NOW)[0].text


def test_the_order_that_is_named_stands_before_all_others(memory: Memory) -> None:
    cities = ("Oslo", "Bergen", "Turku", "Lund")
    orders = [f"Order {48200 + n}: laptop shipped to {cities[n % 4]} on Monday" for n in range(120)]
    memory.remember(orders)
    for n in range(0, 120, 7):
        assert first(memory, f"has the laptop of order {48200 + n} been shipped to Oslo?") == orders[n]


def test_words_with_digits_are_not_nearly_the_same(memory: Memory) -> None:
    notes = [f"note ref{n} about the common kitchen table" for n in range(200)]
    memory.remember(notes)
    for n in range(0, 200, 17):
        assert first(memory, f"the kitchen table common ref{n}") == notes[n]


def test_the_day_that_is_named_decides(memory: Memory) -> None:
    things = ("a kettle", "two lamps", "a rug", "some paint", "a ladder", "a drill", "three chairs")
    for ago, thing in enumerate(things):
        memory.remember(f"Bought {thing} in town", occurred=NOW - timedelta(days=ago))
    assert "two lamps" in first(memory, "what did I buy yesterday?")
    assert "a ladder" in first(memory, "what did I buy on 14 June?")
    assert "a drill" in first(memory, "what was bought on 2026-06-13?")


def test_the_last_and_the_first_are_told_apart(memory: Memory) -> None:
    for month, piece in ((2, "scales"), (3, "a waltz"), (4, "a tango")):
        memory.remember(f"Piano lesson: {piece}.", occurred=datetime(2026, month, 3, tzinfo=UTC))
    assert "tango" in first(memory, "what did I do in my last piano lesson?")
    assert "scales" in first(memory, "what was my first piano lesson about?")


@pytest.mark.parametrize("nonsense", ["xyzzy", "?", "?!…", "asdf qwer"])
def test_nonsense_has_no_answer(memory: Memory, nonsense: str) -> None:
    memory.remember([f"Ann bought {n} tulips for the garden" for n in range(30)])
    assert list(memory.recall(nonsense)) == []


def test_a_perfect_fact_scores_high_and_all_can_be_asked_for(memory: Memory) -> None:
    memory.remember(["The gate code is 7731.", "Ann is allergic to nuts.", "The ferry leaves at nine."])
    hits = memory.recall("What is the gate code?")
    assert hits[0].score > 0.8
    assert len(hits) < 3
    assert len(memory.recall("What is the gate code?", least=0)) == 3


def test_the_reasons_are_words(memory: Memory) -> None:
    memory.remember("Order 48213: laptop sent to Oslo.", occurred=datetime(2026, 5, 4, 9, tzinfo=UTC))
    hit = memory.recall("was order 48213 sent on 4 May?", now=NOW)[0]
    assert hit.why().startswith("mentions 48213; from 4 May 2026, the day asked for")
    assert "identifier" in hit.why(numbers=True)


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("what did I mend between the 2nd and the 4th of June?", 3),
        ("what did I mend exactly one week ago?", 11),
        ("what did I mend on Tuesday last week?", 9),
        ("what did I mend on 6/3/2026?", 3),
        ("what was mended on 2026-06-13?", 13),
        ("what did I mend on 11 June?", 11),
        ("what did I mend on 3/6/2026?", 3),
    ],
)
def test_days_in_many_wordings_decide(memory: Memory, query: str, day: int) -> None:
    for number, thing in ((1, "a chair"), (3, "a lamp"), (9, "a kite"), (11, "a sail"), (13, "a clock")):
        memory.remember(f"Mended {thing}.", occurred=datetime(2026, 6, number, 12, tzinfo=UTC))
    best = memory.recall(query, now=NOW)[0]
    assert datetime.fromtimestamp(best.record.occurred, UTC).day == day


def test_a_repeated_question_lends_its_score_to_nobody(memory: Memory) -> None:
    memory.remember(["How do I reset my password?", "The cat sleeps on the sofa.", "My sister plays chess."])
    hits = memory.recall("How do I reset my password?", now=NOW)
    assert all(hit.score < 0.2 for hit in hits if "password" not in hit.text)
