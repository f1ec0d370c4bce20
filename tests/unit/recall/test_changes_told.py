"""A change that no rule of facts reads is recalled beside what it changes, for a question about now."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eidet import Memory

NOW = "2026-06-18"
OLD, NEW = "2025-11-20", "2026-04-20"

# what was said first, what was said later, and a question about the present
CHANGES = (
    (  # the old value is named
        "The spare key is under the blue flower pot.",
        "Took the spare key from under the pot, it hangs at the neighbour's.",
        "Where is the spare key?",
    ),
    (
        "Wanda leads the design team.",
        "Viktor took over design from Wanda, who is on parental leave.",
        "Who leads the design team?",
    ),
    ("Bruno drives a Volvo.", "Bruno traded the Volvo in for a Skoda.", "What does Bruno drive?"),
    ("Our CI runs on Travis.", "Travis is gone, builds run on GitLab.", "What does our CI run on?"),
    (
        "Agnes reads crime novels.",
        "Agnes is through with crime and reads poetry.",
        "What does Agnes read?",
    ),
    (
        "Vera takes two sugars in her tea.",
        "Vera drinks her tea without sugar, on doctor's orders.",
        "How does Vera take her tea?",
    ),
    (
        "We store the photos on the big disk in the study.",
        "All pictures were copied to the cloud and the disk was given away.",
        "Where do we store the photos?",
    ),
    (  # all words of the question, and an event
        "The passports are in the desk drawer.",
        "Brought the passports to the bank.",
        "Where are our passports?",
    ),
    (
        "Bengt has the key to the boathouse.",
        "Bengt handed the boathouse key to Signe.",
        "Who has the key to the boathouse?",
    ),
    (
        "Paulo's daughter is in the third grade.",
        "Paulo's daughter started fourth grade.",
        "Which grade is Paulo's daughter in?",
    ),
    (  # all words of the question, and a value of the kind that is asked for
        "The ladder stands behind the house.",
        "The ladder is lying in the garage, it rusted outside.",
        "Where is the ladder?",
    ),
    (  # half of its words, an event and such a value
        "The launch of the new shop is planned for 15 May.",
        "We had to push the launch back to 1 September because of the audit.",
        "When is the launch of the new shop?",
    ),
    (
        "The cleaner comes on Friday mornings.",
        "The cleaner asked for Wednesdays and we agreed.",
        "When does the cleaner come?",
    ),
    (  # a no to a question for yes or no
        "Joao smokes a pack a day.",
        "Joao has not touched a cigarette since New Year.",
        "Does Joao smoke?",
    ),
)
# what was said later is about something else
UNCHANGED = (
    (
        "Heiko used to love camping but is over it.",
        "Heiko lent us his camping stove.",
        "Does Heiko still like camping?",
    ),
    (
        "Anton has his birthday on 21 July.",
        "Anton brought the cake tin back.",
        "When does Anton have his birthday?",
    ),
    (
        "The vacuum cleaner bags are type S.",
        "The baker comes on Thursdays and brings her own bags.",
        "Which vacuum cleaner bags do we need?",
    ),
    (
        "Alois only drinks alcohol-free beer.",
        "Alois painted the fence on Sunday.",
        "Which beer does Alois drink?",
    ),
)


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Memory() as memory:
        for older, newer, _ in (*CHANGES, *UNCHANGED):
            memory.remember(older, occurred=OLD)
            memory.remember(newer, occurred=NEW)
        yield memory


def test_most_newer_statements_come_beside_the_older_ones(memory: Memory) -> None:
    missed = []
    for older, newer, question in CHANGES:
        best = [hit.text for hit in memory.recall(question, now=NOW)[:3]]
        if not {older, newer} <= set(best):
            missed.append(question)
    assert len(missed) <= 4, missed


@pytest.mark.parametrize(("older", "newer", "question"), UNCHANGED)
def test_a_newer_statement_about_something_else_does_not(
    memory: Memory, older: str, newer: str, question: str
) -> None:
    assert memory.recall(question, now=NOW)[0].text == older


@pytest.mark.parametrize(("older", "newer", "question"), CHANGES)
def test_before_the_change_the_older_statement_answers(
    memory: Memory, older: str, newer: str, question: str
) -> None:
    assert memory.recall(question, as_of="2026-01-15")[0].text == older


def test_a_request_brings_along_the_preference_that_it_is_about() -> None:
    with Memory() as memory:
        wish = "I prefer writing in the mornings, as I'm most focused then, can you help me plan that?"
        memory.remember({"role": "user", "content": wish}, occurred=OLD)
        for day in range(12):
            text = f"Session {day} of the week: we planned the writing of chapter {day} for this week."
            memory.remember({"role": "assistant", "content": text}, occurred=f"2026-04-{day + 1:02}")
        hits = memory.recall("Can you help me plan my writing sessions for the upcoming week?", now=NOW)
        assert wish in [hit.text for hit in hits]
        hits = memory.recall("Which chapter was planned in session 3?", now=NOW, limit=3)
        assert wish not in [hit.text for hit in hits]
