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


def test_a_change_goes_before_what_it_changed_if_the_present_is_asked_for(memory: Memory) -> None:
    memory.remember("Ann lives in Lisbon, near the river.", occurred=datetime(2026, 1, 5, tzinfo=UTC))
    memory.remember("Ann has moved to Porto.", occurred=datetime(2026, 5, 2, tzinfo=UTC))
    assert "Porto" in first(memory, "where does Ann live?")
    hit = memory.recall("where does Ann live?", now=NOW)[0]
    assert "tells of a change" in hit.why()
    assert "Lisbon" in first(memory, "where did Ann live in January?")


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


def test_a_text_with_the_value_that_is_asked_for_comes_first(memory: Memory) -> None:
    memory.remember(["The kiln in the cellar is from Sweden.", "The kiln must be at 980 degrees."])
    assert "980" in first(memory, "how hot must the kiln be?")


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("what did I mend between the 2nd and the 4th of June?", 3),
        ("what did I mend exactly one week ago?", 11),
        ("what did I mend on Tuesday last week?", 9),
        ("what did I mend on 6/3/2026?", 3),
        ("what did I mend on 3/6/2026?", 3),
    ],
)
def test_days_in_many_wordings_decide(memory: Memory, query: str, day: int) -> None:
    for number, thing in ((1, "a chair"), (3, "a lamp"), (9, "a kite"), (11, "a sail"), (13, "a clock")):
        memory.remember(f"Mended {thing}.", occurred=datetime(2026, 6, number, 12, tzinfo=UTC))
    best = memory.recall(query, now=NOW)[0]
    assert datetime.fromtimestamp(best.record.occurred, UTC).day == day


def test_a_yearless_day_of_a_plan_is_the_next_one(memory: Memory) -> None:
    memory.remember("The pool shuts on the first of July.", occurred=datetime(2026, 5, 2, tzinfo=UTC))
    memory.remember("The pool was shut in July for repairs.", occurred=datetime(2025, 7, 8, tzinfo=UTC))
    assert "shuts" in first(memory, "what shuts on 1 July?")


def test_a_newer_value_comes_beside_the_older_one(memory: Memory) -> None:
    memory.remember("Ragna weighs 71 kilos.", occurred=datetime(2026, 1, 5, tzinfo=UTC))
    memory.remember("Ragna was on the scales today: 66 kilos.", occurred=datetime(2026, 6, 2, tzinfo=UTC))
    both = memory.recall("how much does Ragna weigh?")[:2]
    assert sorted(hit.text[-9:] for hit in both) == ["66 kilos.", "71 kilos."]
    assert all(hit.score <= 0.6 for hit in both)


def test_a_long_document_needs_more_of_the_words_than_a_note(memory: Memory) -> None:
    chapter = " ".join(f"Paragraph {n} of the house rules is about the stairs and bins." for n in range(60))
    memory.remember(chapter, kind="document")
    memory.remember("The bins are emptied by a man called Gorm.")
    assert "Gorm" in first(memory, "who empties the bins?")


def remember_on(memory: Memory, *said: tuple[str, str]) -> None:
    for day, text in said:
        memory.remember(text, occurred=day)


def test_the_same_question_is_not_its_answer(memory: Memory) -> None:
    remember_on(
        memory,
        ("2025-10-30", "The standing order for the rent is 950 euros."),
        ("2026-03-06", "How high was the rent last year?"),
    )
    assert "950" in first(memory, "How high was the rent last year?")


def test_a_repeated_question_lends_its_score_to_nobody(memory: Memory) -> None:
    memory.remember(["How do I reset my password?", "The cat sleeps on the sofa.", "My sister plays chess."])
    hits = memory.recall("How do I reset my password?", now=NOW)
    assert all(hit.score < 0.2 for hit in hits if "password" not in hit.text)


def test_news_of_a_person_is_no_change_of_what_was_asked(memory: Memory) -> None:
    memory.remember("Mia's swimming class is on Wednesdays.", occurred=datetime(2026, 1, 4, tzinfo=UTC))
    memory.remember("Mia lost her first tooth today!", occurred=datetime(2026, 1, 25, tzinfo=UTC))
    memory.remember("Mia now wears glasses.", occurred=datetime(2026, 4, 19, tzinfo=UTC))
    memory.remember(
        "Mia no longer likes broccoli, she eats carrots.", occurred=datetime(2026, 2, 11, tzinfo=UTC)
    )
    assert "Wednesdays" in first(memory, "when does Mia go swimming?")
    assert "carrots" in first(memory, "which vegetable does Mia eat now?")


def test_a_title_stands_before_a_name(memory: Memory) -> None:
    memory.remember(["Mia lost her first tooth today!", "The dentist, Dr. Aydin, put in a crown."])
    assert "Aydin" in first(memory, "who is my dentist?")


def test_a_rule_for_a_weekday_answers_who_asks_about_such_a_day(memory: Memory) -> None:
    memory.remember("Deploys are frozen on Fridays after 14:00.", occurred=datetime(2026, 4, 9, tzinfo=UTC))
    memory.remember("Commit messages are imperative.", occurred=datetime(2026, 6, 12, 12, tzinfo=UTC))
    assert "frozen" in first(memory, "may I deploy on Friday evening?")
