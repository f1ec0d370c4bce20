"""What an index keeps between questions: it never answers from what has changed since."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet import Draft, Memory, Where
from eidet.index.embedded.arrays import MANY, top
from eidet.index.embedded.postings import Postings
from eidet.text import pack_ids

often = settings(derandomize=True, deadline=None, max_examples=examples(100))
rows = st.lists(st.lists(st.integers(0, 12), max_size=6), max_size=12)


@pytest.fixture
def memory() -> Memory:
    return Memory()


def ask(memory: Memory, **how: object) -> list[str]:
    return [hit.text for hit in memory.recall("the oak table", least=0, **how)]  # type: ignore[arg-type]


def test_a_record_that_expires_between_two_questions_is_not_answered() -> None:
    now = [1_000.0]
    with Memory(clock=lambda: now[0]) as memory:
        memory.remember(Draft(text="The oak table is sold", expires=1_060.0))
        memory.remember("The oak table was hers")
        assert len(ask(memory)) == 2
        now[0] += 59
        assert len(ask(memory)) == 2
        now[0] += 2
        assert ask(memory) == ["The oak table was hers"]
        now[0] -= 10  # a clock that goes back
        assert len(ask(memory)) == 2


def test_filters_that_take_turns_do_not_answer_for_each_other(memory: Memory) -> None:
    memory.remember([Draft(text=f"{who} likes the oak table", who=who) for who in ("Ann", "Ben")])
    memory.remember(Draft(text="The oak table, as data", data={"n": 1}))
    for _ in range(2):
        assert ask(memory, who="Ann") == ["Ann likes the oak table"]
        assert ask(memory, who="Ben") == ["Ben likes the oak table"]
        assert ask(memory, where={"data.n": 1}) == ["The oak table, as data"]
        assert len(ask(memory)) == 3
        assert len(ask(memory, where=~Where(who="Ann"))) == 2


def test_what_a_question_is_answered_does_not_depend_on_the_questions_before(memory: Memory) -> None:
    texts = ["Ann plays the violin", "Ben bought instruments", "A ship at sea", "The instrument is tuned"]
    memory.remember(texts)
    before = [(hit.text, hit.score) for hit in memory.recall("Which instruments are played?", least=0)]
    memory.recall("instruments of a xylorimba quartz playing", least=0)  # words that nobody knows
    memory.recall("playing instruments qqzx", least=0)
    assert [
        (hit.text, hit.score) for hit in memory.recall("Which instruments are played?", least=0)
    ] == before
    with Memory() as other:
        other.remember(texts)
        other.recall("instruments of a xylorimba quartz playing", least=0)
        again = [(hit.text, hit.score) for hit in other.recall("Which instruments are played?", least=0)]
    assert again == before


@often
@given(rows, rows, st.lists(st.integers(0, 14), min_size=1, max_size=5), st.integers(1, 200))
def test_postings_find_the_same_rows_before_and_after_a_merge(
    first: list[list[int]], more: list[list[int]], terms: list[int], times: int
) -> None:
    made, whole = Postings(), Postings()
    made.append([pack_ids(row) for row in first])
    made.merge()
    made.append([pack_ids(row) for row in more])
    whole.append([pack_ids(row) for row in first + more])
    whole.merge()
    wanted = sorted(
        (at, row) for at, term in enumerate(terms) for row, has in enumerate(first + more) if term in has
    )
    for postings in (made, whole):
        which, docs, _ = postings.lookup(terms)
        assert sorted(zip(which.tolist(), docs.tolist(), strict=True)) == wanted


@often
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 400), st.sampled_from(["normal", "few values", "mostly zero"])
)
def test_the_highest_scores_are_found_among_many(seed: int, depth: int, law: str) -> None:
    random = np.random.default_rng(seed)
    scores = random.standard_normal(MANY + 200).astype(np.float32)
    if law == "few values":
        scores = np.rint(scores * 2)
    elif law == "mostly zero":
        scores *= random.random(len(scores)) < 0.05
    found = top(scores, depth)
    assert len(set(found.tolist())) == depth
    assert sorted(scores[found].tolist()) == np.sort(scores)[-depth:].tolist()
