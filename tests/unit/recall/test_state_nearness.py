"""States are compared by their values: the nearest is first, the reasons say so, and texts are left alone."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import Clock

from eidet import Memory, Settings
from eidet.recall import Recipe
from eidet.recall.states import read_state

FLOATS = st.floats(-1e6, 1e6, allow_subnormal=False)
VALUES = st.fixed_dictionaries(
    {
        "health": FLOATS,
        "place": st.lists(FLOATS, min_size=2, max_size=2),
        "bag": st.fixed_dictionaries({"wood": st.integers(-5, 500)}),
        "armed": st.booleans(),
    }
)


def flatten(state: dict[str, Any]) -> list[float]:
    return [state["health"], *state["place"], state["bag"]["wood"], float(state["armed"])]


def measure(query: dict[str, Any], states: list[dict[str, Any]]) -> np.ndarray[Any, Any]:
    """The distance as the guide defines it, number by number."""
    asked, rows = np.array(flatten(query)), np.array(list(map(flatten, states)))
    low, high = np.percentile(rows, (5, 95), axis=0)
    spread = high - low
    spread = np.where(spread > 0, spread, rows.max(axis=0) - rows.min(axis=0))
    largest = np.maximum(np.abs(asked), np.abs(rows).max(axis=0))
    spread = np.where(spread > 0, spread, np.where(largest > 0, largest, 1.0))
    spread[-1] = 1.0  # a flag is the same or not
    away = np.abs(rows - asked) / spread
    weighed: np.ndarray[Any, Any] = away @ np.array([1, 0.5, 0.5, 1, 1])
    return weighed


@settings(max_examples=60, deadline=None)
@given(VALUES, st.lists(VALUES, min_size=1, max_size=12))
def test_the_nearest_state_is_first(query: dict[str, Any], states: list[dict[str, Any]]) -> None:
    with Memory(embedder="hashing:16") as memory:
        for n, state in enumerate(states):
            memory.remember(state, step=n, id=f"s{n}")
        hits = memory.recall(query, limit=20, least=0.0)
    away = measure(query, states)
    ranked = [away[hit.record.step] for hit in hits if hit.record.step is not None]
    assert len(ranked) == len(states)
    for nearer, farther in pairwise(ranked):
        assert nearer <= farther + 1e-6 * (1 + farther)


@pytest.fixture
def memory() -> Any:
    with Memory(embedder="hashing", clock=Clock(1.73e9, tick=1.0)) as opened:
        yield opened


def test_the_reasons_say_which_values_are_those_asked_for(memory: Memory) -> None:
    memory.remember({"health": 0.25, "bag": {"wood": 5}, "armed": False, "at": [1, 2]}, id="near")
    memory.remember({"health": 0.9, "bag": {"wood": 50}, "armed": True, "at": [1, 70]}, id="far")
    memory.remember({"health": 0.5}, id="less")
    query = {"health": 0.2, "bag": {"wood": 5}, "armed": False, "at": [1, 3]}
    told = {hit.id: hit.why() for hit in memory.recall(query)}
    assert told["near"] == (
        "health is 0.25, not 0.2; bag wood is 5; armed is false; at 1 is 1; at 2 is 2, not 3"
    )
    assert "health is 0.9, not 0.2" in told["far"]
    assert "armed is true, not false" in told["far"]
    assert "has no bag wood" in told["less"]
    best = memory.recall(query)[0]
    assert best.signals[0].name == "fields"
    assert sum(signal.share for signal in best.signals) == pytest.approx(best.score)


def test_a_record_that_is_outranked_is_told_why(memory: Memory) -> None:
    memory.remember({"health": 0.25}, id="near")
    memory.remember({"health": 0.9}, id="far")
    explained = memory.admin.explain({"health": 0.2}, limit=1)
    far = memory.get("far")
    assert far is not None
    place = explained.why_not(far)
    assert (place.stage, place.rank) == ("outranked", 2)
    assert "its values are further from those that are asked for" in place.words


def test_states_without_any_of_the_fields_are_no_answer(memory: Memory) -> None:
    memory.remember({"gold": 5}, id="other")
    assert not memory.recall({"health": 0.2})
    assert memory.recall({"health": 0.2}, least=0.0)


def test_texts_are_searched_as_before(memory: Memory) -> None:
    memory.remember({"goal": "reach the harbour", "health": 0.3}, id="harbour")
    memory.remember({"goal": "sell the wood", "health": 0.4}, id="wood")
    by_text = memory.recall("goal: harbour", kinds="state", understand=False)
    by_state = memory.recall({"goal": "harbour"})
    assert [(hit.id, hit.score) for hit in by_text] == [(hit.id, hit.score) for hit in by_state]
    assert read_state({"goal": "harbour", "with": ["Ann"]}, str) is None
    vector = memory.parts.embedder.embed(["goal: harbour"])[0]
    assert "fields" not in {s.name for s in memory.recall({"health": 1}, vector=vector)[0].signals}


def test_one_extreme_value_does_not_level_all_others(memory: Memory) -> None:
    for n in range(60):
        memory.remember({"gold": n, "age": 60 - n}, step=n)
    memory.remember({"gold": 10**9, "age": 30}, step=99)
    hits = memory.recall({"gold": 10, "age": 50}, limit=3)
    assert hits[0].record.step == 10
    assert {hit.record.step for hit in hits} == {9, 10, 11}


def test_a_recipe_may_weigh_what_is_recent(memory: Memory) -> None:
    memory.remember({"n": 1}, id="old", occurred="2020-01-01")
    memory.remember({"n": 2}, id="middle", occurred="2021-01-01")
    memory.remember({"n": 3}, id="new", occurred="2024-10-01")
    assert memory.recall({"n": 1})[0].id == "old"
    assert memory.recall({"n": 1}, recipe=Recipe(recency=20.0))[0].id == "new"


def test_the_past_is_compared_as_it_was(memory: Memory) -> None:
    memory.remember({"n": 1}, id="a")
    memory.remember({"n": 5}, id="b")
    before = memory.parts.clock()
    memory.revise("b", data={"n": 1.5})
    assert memory.recall({"n": 1.6})[0].id == "b"
    assert memory.recall({"n": 1.6}, known_at=before)[0].id == "a"


def test_of_very_many_states_those_with_fitting_words_are_compared(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eidet.recall.POOL", 500)
    monkeypatch.setattr("eidet.index.embedded.shard.WHOLE", 100)
    memory.remember([{"n": n} for n in range(3000)], scope="run")
    hits = memory.recall({"n": 700}, scope="run", recipe=Recipe(depth=50), explain=True)
    assert hits[0].record.data == {"n": 700}
    assert hits.trace is not None
    assert any("of 3,000 states were compared" in note for note in hits.trace.notes)


def test_hashes_are_compared_as_they_are_stored() -> None:
    guarding = Settings(guard="hash", guard_key="ab" * 32)
    with Memory(embedder="hashing", settings=guarding) as memory:
        memory.remember({"mail": "ann@example.com", "n": 1}, id="ann")
        memory.remember({"mail": "ben@example.com", "n": 1}, id="ben")
        hits = memory.recall({"mail": "ann@example.com", "n": 1})
        assert [hit.id for hit in hits] == ["ann", "ben"]
        assert hits[0].score > 0.99


def test_a_very_wide_state_is_compared_by_its_first_values(memory: Memory) -> None:
    wide = {f"k{n}": n for n in range(300)}
    memory.remember(wide, id="same")
    memory.remember({**wide, "k5": 900}, id="other")
    assert [hit.id for hit in memory.recall(wide)] == ["same", "other"]
    query = read_state(wide, str)
    assert query is not None
    assert len(query.fields) == 100
