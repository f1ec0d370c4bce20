"""Questions about a time, or about what is to come, and what they leave alone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from eidet import Memory

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)  # a Wednesday


def ask(question: str, **texts: str) -> list[str]:
    """The names of the texts that come; each is stored on 2 November, or on the day that it begins with."""
    with Memory(clock=NOW.timestamp) as memory:
        for name, text in texts.items():
            day, _, rest = text.partition("|")
            memory.remember(rest or text, id=name, occurred=day if rest else "2026-11-02")
        return [hit.id for hit in memory.recall(question)]


def test_what_comes_every_week_comes_beside_what_is_on_that_day() -> None:
    found = ask(
        "What is on next Tuesday?",
        yoga="Yoga class is every Tuesday at six.",
        visit="My parents arrive on 24 November.",
        other="The boiler is serviced on 26 November.",
    )
    assert sorted(found) == ["visit", "yoga"]


def test_where_nothing_is_of_the_time_the_nearest_comes_and_says_so() -> None:
    with Memory(clock=NOW.timestamp) as memory:
        memory.remember("We hiked up Monte Rosa.", occurred="2026-11-13")
        hits = memory.recall("What did we do last weekend?")
        assert "1 day off the time asked for" in hits[0].why()


def test_a_subject_that_has_no_date_is_not_lost_for_one_that_has() -> None:
    found = ask(
        "What should I cook for Ann's visit next week?",
        taste="Ann does not eat meat; cook her something with beans.",
        visit="Ann's visit is on 25 November.",
    )
    assert "taste" in found


@pytest.mark.parametrize(
    "question",
    [
        "What is coming up this week?",
        "What's coming up in the next few days?",
        "What appointments do I have in the next ten days?",
        "What is due in the next two weeks?",
        "Do I have any upcoming appointments?",
    ],
)
def test_what_is_to_come_is_never_the_past(question: str) -> None:
    found = ask(
        question,
        dentist="The dentist appointment is due on 20 November.",
        monday="The eye appointment was due on 16 November.",
        october="The appointment at the bank was on 5 October.",
    )
    assert found == ["dentist"]


def test_a_record_dated_ahead_is_to_come_and_one_of_today_is_not() -> None:
    found = ask(
        "What is coming up in the next two weeks?",
        fair="2026-11-25|Book fair with Ann.",
        lunch="2026-11-18T09:00:00Z|Lunch with Ben was good.",
    )
    assert found == ["fair"]


def test_what_was_to_come_then_may_be_over_now() -> None:
    found = ask(
        "What did Ann think of the upcoming opening?",
        opening="2026-09-01|Ann is nervous about the opening on 5 September.",
    )
    assert found == ["opening"]
