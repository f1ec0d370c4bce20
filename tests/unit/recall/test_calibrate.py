"""Scores mean the same for every question: they fall, they are shares, and nonsense has hardly any."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.candidates import Turn, found_of
from tests.making import examples

from eidet import Memory, Recipe
from eidet.index import Candidates
from eidet.recall.calibrate import calibrate_scores
from eidet.recall.signals import Signals

often = settings(derandomize=True, deadline=None, max_examples=examples(100))
shares = st.floats(0, 1)
ANY, NEITHER = Recipe(), Recipe(dense=0.0, words=0.0)


def scores(
    found: Candidates, sums: list[float], *arms: str, recipe: Recipe = ANY, **fits: float
) -> list[float]:
    weights = dict.fromkeys((*arms, *fits), 0.5)
    values = {name: np.full(len(found), value) for name, value in fits.items()}
    told = Signals({}, values, weights)
    made: list[float] = calibrate_scores(np.array(sums), np.arange(len(sums)), found, told, recipe).tolist()
    return made


def candidates(dense: float, words: float, count: int = 3, rarity: float = 1.0) -> Candidates:
    return found_of([Turn(dense=dense, words=words)] * count, rarity=rarity)


@often
@given(st.lists(shares, min_size=1, max_size=10), st.floats(-1, 1), st.floats(0, 3), st.integers(0, 3))
def test_scores_fall_as_the_sums_do_and_stay_between_0_and_1(
    sums: list[float], dense: float, words: float, arms: int
) -> None:
    falling = sorted(sums, reverse=True)
    asked = [name for bit, name in ((1, "dense"), (2, "words")) if arms & bit]
    made = scores(candidates(dense, words, len(sums)), falling, *asked)
    assert all(0 <= score <= 1 for score in made)
    assert all(one >= other for one, other in pairwise(made))
    assert all(
        (a > b) == (x > y)
        for (a, b), (x, y) in zip(pairwise(made), pairwise(falling), strict=True)
        if x - y > 1e-6
    )


@often
@given(shares, shares, shares, shares)
def test_more_words_and_nearer_meaning_never_score_less(
    near: float, nearer: float, few: float, more: float
) -> None:
    near, nearer = sorted((near, nearer))
    few, more = sorted((few, more))
    weak = scores(candidates(near, few), [1.0], "dense", "words")
    strong = scores(candidates(nearer, more), [1.0], "dense", "words")
    assert weak[0] <= strong[0]


def test_no_hits_have_no_scores() -> None:
    assert scores(candidates(0.5, 0.5), [], "dense") == []


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
