"""What kind of text it is, by its looks."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.text.analysis import ACTOR, DAYS_KEPT, NAMED, NUMBERED, QUESTION, TIMED
from eidet.text.flags import LONGEST, marks_of

NOW = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def flags(text: str, language: str = "en") -> int:
    return marks_of(text, NOW, language)[0]


ASKING = 'Who?|She asked "why?"|Really?|Did you? [photo of a dog]|何ですか？|(is it?) |what? *'


@pytest.mark.parametrize("text", ASKING.split("|"))
def test_what_ends_with_a_question_mark_asks(text: str) -> None:
    assert flags(text) & QUESTION


@pytest.mark.parametrize("text", ["Who", "Why? Because.", "a?b", "", "[really?] no", "? [a] [b] c"])
def test_what_does_not_end_so_does_not_ask(text: str) -> None:
    assert not flags(text) & QUESTION


def test_a_long_text_asks_if_its_end_does() -> None:
    told = "It was so. " * 1_000
    assert flags(told + "Was it?") & QUESTION
    assert not flags("x" * (LONGEST - 1) + "? " + told) & QUESTION


@pytest.mark.parametrize("text", ["yesterday", "on 7 May", "at 5 pm", "every summer", "two weeks ago"])
def test_a_text_may_speak_of_a_time(text: str) -> None:
    assert flags(text) & TIMED


@pytest.mark.parametrize(
    ("text", "has"), [("3 dogs", True), ("twice", True), ("Two dogs", True), ("dogs", False)]
)
def test_a_text_may_have_a_number(text: str, has: bool) -> None:
    assert bool(flags(text) & NUMBERED) is has


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("we flew to Lisbon", True),
        ("the Anne-Marie case", True),
        ("Lisbon is nice", False),
        ("Hey Ann", False),
        ("thanks, Bob", False),
        ("so did I", False),
        ("we met Élodie", True),
    ],
)
def test_a_name_is_a_capital_inside_a_sentence(text: str, has: bool) -> None:
    assert bool(flags(text) & NAMED) is has


def test_in_german_every_noun_has_a_capital_and_says_nothing() -> None:
    assert flags("wir sahen den Hund", "en") & NAMED
    assert not flags("wir sahen den Hund", "de") & NAMED


def test_days_are_those_spoken_of_as_of_when_it_was_said() -> None:
    _, days = marks_of("I went yesterday", NOW, "en")
    assert days == ((datetime(2023, 5, 7, tzinfo=UTC).toordinal(),) * 2,)
    assert marks_of("nothing of the kind", NOW, "en") == (0, ())


def test_only_so_many_days_are_kept() -> None:
    text = ", ".join(f"{day} May 2020" for day in range(1, 31))
    assert len(marks_of(text, NOW, "en")[1]) == DAYS_KEPT


@settings(derandomize=True, deadline=None, max_examples=examples(100))
@given(st.text(max_size=200), st.sampled_from(["en", "de", "fr", "zh", "none"]), st.integers(1, 9998))
def test_any_text_of_any_time_has_marks(text: str, language: str, year: int) -> None:
    found, days = marks_of(text, datetime(year, 3, 1, tzinfo=UTC), language)
    assert 0 <= found < 16
    assert all(first <= last for first, last in days)


@pytest.mark.parametrize("year", [1, 9999])
@pytest.mark.parametrize(
    "text", ["next year", "last year", "in ten years", "100 years ago", "last week", "in May"]
)
def test_the_edges_of_time_do_no_harm(year: int, text: str) -> None:
    for when in (datetime(year, 1, 1, tzinfo=UTC), datetime(year, 12, 31, 23, tzinfo=UTC)):
        assert marks_of(text, when, "en")[0] & TIMED


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("Hugo can't come to the party.", ACTOR),
        ("The shop is closed, Deniz has the key now.", ACTOR),
        ("it rained. Nora answered the mail.", ACTOR),
        ("We met Hugo, Deniz has the key.", NAMED),  # a name inside says as much
        ("Thanks, Caroline!", 0),
        ("Yesterday was fine.", 0),
        ("Reading books helps.", 0),
        ("Hugo!", 0),
        ("hugo has it", 0),
    ],
)
def test_a_sentence_may_begin_with_who_does_something(text: str, flag: int) -> None:
    assert flags(text) & (ACTOR | NAMED) == flag
