"""The laws of the life of a memory: strength, importance, summaries, likeness."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.core.record import Record
from eidet.core.settings import Upkeep
from eidet.models.embed.hashing import Hashing
from eidet.text.tokens import counter_of
from eidet.upkeep.curve import DAY, strength
from eidet.upkeep.importance import (
    action_importance,
    importance,
    measure_information,
    move_score,
    state_importance,
)
from eidet.upkeep.summary import Passage, gist, summarise

often = settings(derandomize=True, deadline=None, max_examples=examples(150))
seldom = settings(derandomize=True, deadline=None, max_examples=examples(60))
NEARLY = 1e-9

curves = st.builds(
    Upkeep,
    half_life_days=st.floats(0.01, 1e4),
    spacing_gain=st.floats(0, 10),
    importance_gain=st.floats(1, 100),
)
shares = st.floats(0, 1)
moments = st.floats(0, 4_000 * DAY)
anything = st.floats() | st.sampled_from([0.0, -1.0, 1e308, -1e308, math.inf, -math.inf, math.nan])


# The curve


def strength_of(
    uses: int, created: float, last: float | None, known: float, now: float, curve: Upkeep
) -> float:
    record = Record(id="x", scope="s", text="", created=created, occurred=created, uses=uses, last_used=last)
    return strength(record.but(importance=known), now, curve)


@often
@given(st.integers(-5, 10**9), anything, st.none() | anything, shares, anything, curves)
def test_strength_is_a_share_whatever_the_times(
    uses: int, created: float, last: float | None, known: float, now: float, curve: Upkeep
) -> None:
    assert 0.0 <= strength_of(uses, created, last, known, now, curve) <= 1.0


@often
@given(st.integers(0, 50), moments, st.lists(moments, min_size=2, max_size=2), shares, curves)
def test_strength_falls_with_time_without_a_jump(
    uses: int, last: float, since: list[float], known: float, curve: Upkeep
) -> None:
    now, later = (last + moment for moment in sorted(since))
    before = strength_of(uses, 0.0, last, known, now, curve)
    assert strength_of(uses, 0.0, last, known, later, curve) <= before
    least = curve.half_life_days / curve.importance_gain * DAY
    assert before - strength_of(uses, 0.0, last, known, now + 1, curve) <= 1 / least + NEARLY


@often
@given(st.integers(0, 400), moments, moments, shares, curves)
def test_one_more_use_now_never_weakens(
    uses: int, last: float, since: float, known: float, curve: Upkeep
) -> None:
    now, later = last + since, last + since + 30 * DAY
    before = strength_of(uses, 0.0, last, known, later, curve)
    assert strength_of(uses + 1, 0.0, now, known, later, curve) >= before - NEARLY


@often
@given(moments, moments, moments, shares, curves)
def test_a_use_after_a_longer_while_adds_more(
    gap: float, longer: float, since: float, known: float, curve: Upkeep
) -> None:
    short, long = (strength_of(1, 0.0, last, known, last + since, curve) for last in sorted((gap, longer)))
    assert long >= short - NEARLY


@often
@given(st.integers(0, 50), moments, moments, shares, shares, curves)
def test_strength_rises_with_importance(
    uses: int, last: float, since: float, one: float, other: float, curve: Upkeep
) -> None:
    low, high = (strength_of(uses, 0.0, last, known, last + since, curve) for known in sorted((one, other)))
    assert high >= low - NEARLY


@often
@given(st.integers(1, 20), moments, moments, shares, curves)
def test_no_use_keeps_a_memory_for_longer_than_its_life_so_far(
    uses: int, last: float, since: float, known: float, curve: Upkeep
) -> None:
    """A half-life grows by at most `spacing_gain` times the time that went by."""
    half_life = curve.half_life_days * curve.importance_gain ** (2 * known - 1)
    most = half_life + curve.spacing_gain * last / DAY
    assert strength_of(uses, 0.0, last, known, last + since, curve) <= most / (most + since / DAY) + NEARLY


# Importance


@often
@given(anything, anything, anything)
def test_formulas_stay_in_their_bounds(one: float, other: float, third: float) -> None:
    assert 0.0 <= action_importance(one, other) <= 1.0
    assert 0.5 <= state_importance(one, other) <= 1.0
    assert move_score(one, other, third) >= 0.0


SAYINGS = ("I like tea.", "Ann moved to Lisbon on 8 May.", "hi!", "日本語の文章", "? ? ?")
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.sampled_from(
    (*SAYINGS, "🙂" * 20, "a" * 300, "word " * 90)
)


@often
@given(
    texts,
    st.none() | anything,
    st.lists(st.sampled_from(["decision", "noise", "x"])),
    st.none() | anything,
    st.none() | anything,
    st.none() | st.integers(-5, 10**9),
    st.none() | anything,
)
def test_importance_is_a_share(
    text: str,
    stated: float | None,
    tags: list[str],
    reward: float | None,
    new: float | None,
    uses: int | None,
    age: float | None,
) -> None:
    value = importance(text, stated=stated, tags=tags, reward=reward, surprise=new, uses=uses, age_days=age)
    assert 0.0 <= value <= 1.0


@often
@given(texts, shares, shares, st.integers(0, 99), st.integers(0, 99))
def test_importance_rises_with_surprise_and_use(
    text: str, one: float, other: float, uses: int, more: int
) -> None:
    low, high = sorted((one, other))
    before = importance(text, surprise=low, uses=uses)
    assert importance(text, surprise=high, uses=uses + more) >= before - NEARLY


@often
@given(st.text(max_size=200))
def test_how_telling_a_text_is_is_a_share(text: str) -> None:
    assert 0.0 <= measure_information(text) <= 1.0


# Summaries

passages = st.lists(
    st.builds(
        Passage,
        text=st.lists(texts, max_size=4).map(". ".join),
        who=st.none() | st.sampled_from(["Ann", "日本"]),
        day=st.none() | st.sampled_from(["2026-05-08", "2026-05-09"]),
    ),
    max_size=6,
)
embed = Hashing(16).embed


@often
@given(passages, st.integers(0, 120))
def test_a_summary_keeps_its_budget_and_tells_only_what_was_said(said: list[Passage], budget: int) -> None:
    short = summarise(said, embed, budget)
    assert counter_of(None).count(short) <= budget or not short
    everything = "".join(f"[{one.day}]{one.who}:{one.text}" for one in said)
    assert set("".join(short.split())) <= set("".join(everything.split()))


@seldom
@given(st.lists(texts, max_size=8).map(". ".join), st.integers(1, 60))
def test_a_gist_is_the_text_or_within_its_budget(text: str, budget: int) -> None:
    count = counter_of(None).count
    told = gist(text, embed, budget)
    assert told == text if count(text) <= budget else count(told) <= budget
