"""A text that knows the person and the thing but not the answer: its score says so."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from eidet import Memory
from eidet.recall.answer_forms import read_wants
from eidet.recall.missing_value import lacks_value

NOW = datetime(2026, 6, 18, 12, tzinfo=UTC)
UNLIKELY = 0.3


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory() as memory:
        yield memory


def lacks(question: str, text: str) -> bool:
    return lacks_value(text, read_wants(question, question, several=False))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How heavy is the anvil?", "The anvil stands on a block of 60 cm."),
        ("How much was the harp?", "The harp was tuned at seven."),
        ("What does the ferry cost?", "The ferry leaves on 3 May."),
        ("Where did Nils buy the kayak?", "The kayak has a new paddle, says Nils."),
        ("What colour is the shed?", "The shed is behind the house."),
        ("What is the code of the gate?", "The gate is closed at night."),
        ("What is Nora's phone number?", "Nora has order 77421."),
        ("What's Nora's telephone number?", "Nora was born in 1984."),
    ],
)
def test_a_text_lacks_what_is_asked_for(question: str, text: str) -> None:
    assert lacks(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How heavy is the anvil?", "The anvil weighs 40 kg."),
        ("How much do we spend on tea?", "We spend about 40 on tea."),
        ("How many chairs do we need?", "We need thirteen chairs for the reading."),
        ("What does the museum cost?", "The museum is free on Sundays."),
        ("Where did Nils buy the kayak?", "Nils bought the kayak at a fair."),
        ("Where is the harp?", "The harp stands beneath the window."),
        ("Where does Nils work?", "The employer of Nils is Norsk Hydro."),
        ("What colour is the shed?", "The shed was painted red."),
        ("What is the code of the gate?", "The gate opens with 4471."),
        ("What is Nora's phone number?", "Call Nora on 0912 443 771."),
        ("What's Nora's phone extension?", "Nora has extension 417."),
        ("Is the price of the ferry fair?", "The ferry is never full."),  # yes or no
        ("How warm is the hall?", "device: hall thermostat; mode: heating"),  # a state
        ("Wo ist der Schlüssel?", "Der Schlüssel ist weg."),  # not read
        ("How much was the harp?", "The harp was tuned. " * 20),  # may say it elsewhere
    ],
)
def test_a_text_that_may_tell_it_does_not(question: str, text: str) -> None:
    assert not lacks(question, text)


def test_a_near_miss_keeps_its_place_and_loses_its_score(memory: Memory) -> None:
    memory.remember(["The red bike has a new chain.", "The cat sleeps on the sofa.", "Rain until noon."])
    hits = memory.recall("where did I buy the red bike?", now=NOW)
    assert hits[0].text == "The red bike has a new chain."
    assert hits[0].score < UNLIKELY
    assert "has nothing of the kind asked for" in hits[0].why()
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("question", ["what does exit code 139 mean?", "what is wrong with order 77999?"])
def test_an_identifier_that_nobody_has_is_no_likely_answer(memory: Memory, question: str) -> None:
    memory.remember(
        ["Exit code 137 of the worker means it was killed.", "Order 77120: what is wrong is the cracked jug."]
    )
    for hit in memory.recall(question, now=NOW):
        assert hit.score < UNLIKELY
    assert memory.recall("what does exit code 137 mean?", now=NOW)[0].score > 0.8


def test_whatever_is_from_the_day_answers_what_happened_then(memory: Memory) -> None:
    memory.remember("Paul broke the kitchen window.", occurred=datetime(2026, 5, 10, 12, tzinfo=UTC))
    memory.remember("Mia had a fever.", occurred=datetime(2026, 5, 20, 12, tzinfo=UTC))
    asked = ("what happened on 10 May?", "what was going on on 2026-05-10?", "where was I on 10 May?")
    for question in asked:
        hit = memory.recall(question, now=NOW)[0]
        assert hit.text.startswith("Paul")
        assert hit.score > 0.6
    for hit in memory.recall("what happened on 1 April?", now=NOW):
        assert hit.score < 0.5
