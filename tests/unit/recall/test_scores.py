"""Scores mean the same for every question: they fall, they are shares, and nonsense has hardly any."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.candidates import Turn, asked, found_of
from tests.making import examples

from eidet import Memory, Recipe
from eidet.recall.fuse import Ranked
from eidet.recall.model import OF_HEAD, VECTOR, WORDS, describe_best, load_weights, rank_candidates
from eidet.recall.recipes import AUTO, RECIPES
from eidet.recall.signals import signals_of

often = settings(derandomize=True, deadline=None, max_examples=examples(100))
shares = st.floats(0, 1)
WEIGHTS = load_weights()


def rank(turns: list[Turn], *, terms: int = 4, recipe: Recipe = AUTO) -> Ranked:
    found, what = found_of(turns), asked()
    told = signals_of(found, what, recipe, 0.0, 0.0, terms)
    return rank_candidates(found, told, what, recipe, 10, WEIGHTS)


@often
@given(
    st.lists(st.floats(-20, 20), min_size=1, max_size=10),
    st.integers(1, 500),
    st.sampled_from((WORDS, VECTOR)),
)
def test_scores_fall_as_the_logits_do_and_stay_between_0_and_1(
    logits: list[float], count: int, asked_by: str
) -> None:
    falling = np.array(sorted(logits, reverse=True))
    known = describe_best(falling, (0.4, 0.0, 0.0, 0.5, 0.5), count)
    made = WEIGHTS.heads[asked_by].score(falling, known, 10).tolist()
    assert all(0 <= score <= 1 for score in made)
    assert all(one >= other for one, other in pairwise(made))


@often
@given(shares, shares, shares, shares, st.integers(1, 500))
def test_more_words_and_nearer_meaning_never_score_less(
    near: float, nearer: float, few: float, more: float, count: int
) -> None:
    near, nearer = sorted((near, nearer))
    few, more = sorted((few, more))
    head = WEIGHTS.heads[WORDS]
    for row in (head.right, head.answer):
        weak, strong = (
            describe_best(np.array((2.0, 1.0)), (0.4, 0.0, 0.0, *pair), count) @ row
            for pair in ((near, few), (nearer, more))
        )
        assert weak <= strong


def test_every_recipe_has_weights_and_looks_at_nothing_that_it_leaves_out() -> None:
    assert set(WEIGHTS.ranking) == {recipe.name for recipe in RECIPES.values()} | {VECTOR}
    assert len(WEIGHTS.heads[WORDS].right) == len(OF_HEAD)
    words = [Turn(words=0.2, flags=1), Turn(words=0.9, importance=0.1), Turn(dense=1.0, words=0.1)]
    assert rank(words, recipe=RECIPES["exact"]).rows.tolist() == [1, 0, 2]


def test_weights_of_ones_own_say_how_much_more_or_less_a_signal_counts() -> None:
    turns = [Turn(dense=0.9, words=0.3), Turn(dense=0.5, words=0.9)]
    by_meaning = Recipe(dense=5.0, words=0.1, importance=0.0)
    by_words = Recipe(dense=0.1, words=5.0, importance=0.0)
    assert rank(turns, recipe=by_meaning).rows[0] == 0
    assert rank(turns, recipe=by_words).rows[0] == 1


def test_a_vector_alone_is_scored_by_how_near_the_best_is() -> None:
    near, far = (rank([Turn(dense=best), Turn(dense=0.1)], terms=0) for best in (0.95, 0.3))
    assert near.scores[0] > far.scores[0]
    assert near.answered > far.answered


# In a memory.


@pytest.fixture(params=["hashing:64", None])
def memory(request: pytest.FixtureRequest) -> Memory:
    memory = Memory(embedder=request.param)
    memory.remember(
        [f"Ann planted {what} in the garden behind the house" for what in ("roses", "tulips", "oaks")]
    )
    memory.remember("The ferry to Lisbon leaves at nine", importance=1.0)
    return memory


def test_an_answer_scores_high_and_nonsense_low_or_is_not_answered(memory: Memory) -> None:
    assert memory.recall("when does the ferry to Lisbon leave?")[0].score > 0.3
    for nonsense in ("xqzzy vbnmw", "quantum chromodynamics lagrangian", "?!", "\u0000"):
        assert all(hit.score < 0.1 for hit in memory.recall(nonsense)), nonsense


def test_what_is_below_nothing_is_no_answer(memory: Memory) -> None:
    assert len(memory.recall("ferry", recipe=Recipe(nothing=1.0))) == 0
    assert len(memory.recall("xqzzy vbnmw", least=0)) == 4
    assert [hit.text for hit in memory.recall("ferry Lisbon", least=0.3)] == [
        "The ferry to Lisbon leaves at nine"
    ]


def test_a_day_or_a_session_that_is_named_is_an_answer_by_itself() -> None:
    memory = Memory(embedder="hashing:64")
    memory.remember("we saw the sea", session="s7", occurred="2023-05-05T12:00:00Z")
    memory.remember("we saw the lake", session="s8", occurred="2022-01-05T12:00:00Z")
    for query in ("2023-05-05", "chat s7"):
        assert "we saw the sea" in [hit.text for hit in memory.recall(query)], query


def test_an_answer_tells_how_likely_there_is_one(memory: Memory) -> None:
    known = memory.recall("when does the ferry to Lisbon leave?")
    strange = memory.recall("which whale sang the opera?")
    assert known.answered >= known[0].score
    assert 0 <= strange.answered < known.answered <= 1


def test_what_the_person_asked_about_said_is_shown_though_no_word_is_shared() -> None:
    said = [("Kim", "I am on holiday from 20 to 30 November."), ("Ann", "We meet on Thursday at ten.")]
    with Memory() as memory:
        for who, text in said:
            memory.remember({"role": "user", "name": who, "content": text}, session="standup")
        assert memory.recall("When is Kim away?")[0].text == said[0][1]
        assert not memory.recall("When is Zoe away?")
