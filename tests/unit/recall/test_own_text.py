"""Store X, ask X: what a new user tries first, and what must not change an answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet import Memory
from eidet.recall.fuse import fold_text
from eidet.recall.query import drop_courtesies

SOME = (
    "The ferry to Ystad leaves at six in the morning.",
    "Ines is allergic to hazelnuts.",
    "The boiler was serviced by Mr. Tan in autumn.",
    "Grandma's recipe needs three eggs and no butter.",
    "The choir meets on Thursdays in the old school.",
    "Pavel owes the club forty euros.",
)
QUESTIONS = {
    "When does the ferry to Ystad leave?": SOME[0],
    "Is Ines allergic to hazelnuts?": SOME[1],
    "Who serviced the boiler?": SOME[2],
    "How many eggs does the recipe need?": SOME[3],
    "Where does the choir meet?": SOME[4],
    "How much does Pavel owe the club?": SOME[5],
}
WAYS: dict[str, Callable[[str], str]] = {
    "small": str.lower,
    "capitals": str.upper,
    "no signs": lambda text: text.rstrip("?"),
    "more signs": lambda text: text.rstrip("?") + "???",
    "wide": lambda text: "  " + text.replace(" ", " \t ") + "\n",
    "greeted": lambda text: f"Hi, quick one: {text} Thanks!",
    "asked politely": lambda text: f"Hello there! Could you please tell me: {text}",
    "wondered": lambda text: f"I was wondering, {text} Many thanks in advance.",
    "begged": lambda text: f"Sorry to bother you. {text.rstrip('?')}, please?",
}
often = settings(derandomize=True, deadline=None, max_examples=examples(20))


@pytest.fixture(scope="module")
def memory() -> Memory:
    memory = Memory()
    memory.remember(list(SOME))
    return memory


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("way", WAYS)
def test_case_signs_spaces_and_courtesy_leave_the_first_hit(memory: Memory, question: str, way: str) -> None:
    assert memory.recall(WAYS[way](question))[0].text == QUESTIONS[question]


words = st.lists(
    st.sampled_from(
        ("tram", "Oslo", "the", "not", "7", "blue", "KeyError:", "猫", "👍", "is", "Ann", "to", "?")
    ),
    min_size=1,
    max_size=7,
).map(" ".join)


@often
@given(st.lists(words, min_size=1, max_size=12, unique_by=fold_text))
def test_a_text_finds_itself_among_texts_like_it(texts: list[str]) -> None:
    kept = [text for text in texts if text.strip(" ?")]
    with Memory() as memory:
        memory.remember([*kept, *SOME])
        for text in kept:
            hits = memory.recall(text, limit=3)
            same = [fold_text(hit.text) == fold_text(text) for hit in hits]
            assert any(same), text
            if not text.endswith("?"):
                assert same[0], text
                assert hits[0].score >= 0.8, text


@often
@given(st.lists(words, max_size=8))
def test_unrelated_records_leave_the_first_hit(others: list[str]) -> None:
    with Memory() as memory:
        memory.remember([*SOME, *(f"zeppelin {text}" for text in others)])
        for question, statement in QUESTIONS.items():
            assert memory.recall(question)[0].text == statement


@pytest.mark.parametrize("text", SOME)
def test_the_first_half_of_a_text_finds_it(memory: Memory, text: str) -> None:
    half = text.split()[: len(text.split()) // 2]
    assert text in [hit.text for hit in memory.recall(" ".join(half), limit=3)]


def test_a_stored_question_stands_behind_what_answers_it() -> None:
    with Memory() as memory:
        memory.remember(["Who serviced the boiler?", *SOME])
        for query in ("Who serviced the boiler?", "hi! who serviced the boiler, please"):
            answer, question, *_ = memory.recall(query)
            assert (answer.text, question.text) == (SOME[2], "Who serviced the boiler?")
            assert question.score <= answer.score
            assert "asks the same" in question.why()


def test_a_stored_question_that_nothing_answers_finds_itself() -> None:
    with Memory() as memory:
        memory.remember(["How do I reset my password?", "The cat sleeps on the sofa."])
        best = memory.recall("how do i reset my password")[0]
        assert (best.text, best.score >= 0.8) == ("How do I reset my password?", True)


def test_many_copies_of_a_question_do_not_hide_its_answer() -> None:
    with Memory() as memory:
        memory.remember(["Who serviced the boiler?"] * 30, keep_duplicates=True)
        memory.remember(list(SOME))
        assert memory.recall("Who serviced the boiler?")[0].text == SOME[2]


@pytest.mark.parametrize("query", ["reset password", "Ines is allergic to nuts."])
def test_what_is_no_question_finds_stored_questions(query: str) -> None:
    with Memory() as memory:
        memory.remember(["How do I reset my password?", "Is Ines allergic to nuts?", "The sea is cold."])
        assert memory.recall(query)[0].text.endswith("?")


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("Hi, quick one: where is the key? Thanks!", "where is the key?"),
        ("Could you tell me where the key is, please?", "where the key is?"),
        ("I was wondering if Tom is allergic to peas.", "Tom is allergic to peas."),
        ("Hello Ann, where is the key?", "Hello Ann, where is the key?"),
        ("hint: the key is here", "hint: the key is here"),
        ("Hi! Thanks!", "Hi! Thanks!"),
        ("more please", "more please"),
        ("thanks to Tom we have a key", "thanks to Tom we have a key"),
        ("please the crowd with a song", "the crowd with a song"),
        ("", ""),
    ],
)
def test_only_courtesies_are_dropped(query: str, left: str) -> None:
    assert drop_courtesies(query) == left


@often
@given(st.text(max_size=60))
def test_dropping_courtesies_never_empties_a_query(text: str) -> None:
    left = drop_courtesies(text)
    assert bool(left.strip()) == bool(text.strip())
    assert drop_courtesies(left) == left


STATED = [
    "The dashboard for mailer is maintained by Anja.",
    "The dashboard for mailer was maintained by Birger.",
]


def test_the_statement_of_a_question_for_yes_or_no_goes_before_one_that_is_nearly_so() -> None:
    with Memory() as memory:
        memory.remember(STATED)
        for text in STATED:
            subject, _, rest = text.partition(" is " if " is " in text else " was ")
            verb = "Is" if " is " in text else "Was"
            best = memory.recall(f"{verb} {subject.lower()} {rest.rstrip('.')}?")[0]
            assert (best.text, best.score >= 0.6) == (text, True)


@pytest.mark.parametrize("typed", ["We are out of oat", "we are out of oat"])
def test_a_text_is_found_by_how_it_begins(typed: str) -> None:
    with Memory() as memory:
        memory.remember(
            ["We are out of oat milk.", *(f"Are we out by {hour}? Out of here!" for hour in range(9))]
        )
        assert "We are out of oat milk." in [hit.text for hit in memory.recall(typed, limit=3)]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is my shoe size?", None),
        ("Who is my dentist?", None),
        ("When was the boiler serviced?", "The boiler was serviced in March."),
        ("Where does Ann live?", "Ann lives in Oslo."),
    ],
)
def test_a_memory_of_few_records_is_no_surer_than_it_should_be(question: str, answer: str | None) -> None:
    with Memory() as memory:
        memory.remember(["The boiler was serviced in March.", "Ann lives in Oslo.", "Mia plays chess."])
        best = memory.recall(question, limit=1)
        assert [hit.text for hit in best if hit.score > 0.5] == ([answer] if answer else [])
        assert (best.answered > 0.5) == (answer is not None)


def test_a_question_needs_no_mark() -> None:
    with Memory() as memory:
        memory.remember(["Will Rolf go skiing with us?", "Rolf waxed the skis for everybody."])
        marked, plain = (memory.recall(f"Will Rolf go skiing with us{mark}") for mark in ("?", ""))
        assert [hit.text for hit in marked] == [hit.text for hit in plain]
