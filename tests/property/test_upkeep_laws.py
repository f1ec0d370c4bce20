"""The laws of the life of a memory: strength, importance, summaries, likeness."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.models.embed.hashing import Hashing
from eidet.text.tokens import Estimate, TokenCounter, Words, counter_of
from eidet.upkeep.consolidate import clusters
from eidet.upkeep.curve import DAY, Curve, half_life, strength
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
    Curve,
    half_life_days=st.floats(0.01, 1e4),
    spacing_gain=st.floats(0, 10),
    importance_gain=st.floats(1, 100),
    shape=st.floats(0.1, 20),
)
shares = st.floats(0, 1)
moments = st.floats(0, 4_000 * DAY)
anything = st.floats() | st.sampled_from([0.0, -1.0, 1e308, -1e308, math.inf, -math.inf, math.nan])


# The curve


@often
@given(st.integers(-5, 10**9), anything, st.none() | anything, anything, anything, curves)
def test_strength_is_a_share_whatever_the_times(
    uses: int, created: float, last: float | None, known: float, now: float, curve: Curve
) -> None:
    assert 0.0 <= strength(uses, created, last, known, now, curve) <= 1.0


@often
@given(st.lists(moments, max_size=6), shares, moments, moments, curves)
def test_strength_falls_with_time(
    uses: list[float], known: float, now: float, later: float, curve: Curve
) -> None:
    last = max(uses, default=0.0)
    first, second = sorted((last + now, last + later))
    assert strength(len(uses), 0.0, last, known, second, curve) <= strength(
        len(uses), 0.0, last, known, first, curve
    )


@often
@given(st.integers(0, 400), moments, moments, shares, curves)
def test_one_more_use_now_never_weakens(
    uses: int, last: float, since: float, known: float, curve: Curve
) -> None:
    now, later = last + since, last + since + 30 * DAY
    before = strength(uses, 0.0, last, known, later, curve)
    assert strength(uses + 1, 0.0, now, known, later, curve) >= before - NEARLY


@often
@given(st.floats(0, 1_000), st.floats(0, 1_000), shares, curves)
def test_a_use_after_a_longer_while_adds_more(gap: float, longer: float, known: float, curve: Curve) -> None:
    short, long = sorted((gap, longer))
    assert half_life([long], known, curve) >= half_life([short], known, curve) * (1 - NEARLY)


@often
@given(st.integers(0, 50), moments, moments, shares, shares, curves)
def test_strength_rises_with_importance(
    uses: int, last: float, since: float, one: float, other: float, curve: Curve
) -> None:
    low, high = sorted((one, other))
    assert (
        strength(uses, 0.0, last, high, last + since, curve)
        >= strength(uses, 0.0, last, low, last + since, curve) - NEARLY
    )


@often
@given(st.integers(0, 50), moments, st.floats(0, 4_000), shares, st.floats(0.5, 2))
def test_strength_makes_no_jumps(uses: int, last: float, days: float, known: float, shape: float) -> None:
    curve = Curve(shape=shape)
    here, a_second_later = (
        strength(uses, 0.0, last, known, last + days * DAY + s, curve) for s in (0.0, 1.0)
    )
    assert abs(here - a_second_later) < 1e-4


@often
@given(st.lists(st.floats(0, 100), max_size=20), shares, curves)
def test_a_half_life_grows_no_faster_than_life(gaps: list[float], known: float, curve: Curve) -> None:
    steepness = 2 ** (1 / curve.shape) - 1
    most = half_life([], known, curve) + curve.spacing_gain * curve.shape * steepness * sum(gaps)
    assert half_life(gaps, known, curve) <= most * (1 + 1e-6)


# Importance


@often
@given(anything, anything, anything)
def test_formulas_stay_in_their_bounds(one: float, other: float, third: float) -> None:
    assert 0.0 <= action_importance(one, other) <= 1.0
    assert 0.5 <= state_importance(one, other) <= 1.0
    assert move_score(one, other, third) >= 0.0


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.sampled_from(
    [
        "I like tea.",
        "Ann moved to Lisbon on 8 May.",
        "hi!",
        "日本語の文章",
        "🙂" * 20,
        "a" * 300,
        "? ? ?",
        "word " * 90,
    ]
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

COUNTERS: list[TokenCounter | Callable[[str], int]] = [
    Estimate(),
    Words(),
    len,
    lambda text: len(text) // 4,
    lambda text: 7 if text else 0,
    lambda text: 10**9 if text else 0,
    lambda text: len(text) % 7,  # more text may cost less
    lambda text: len(text) ** 2,  # joined texts cost much more than apart
    lambda text: 0,
]
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
@given(passages, st.integers(0, 120), st.sampled_from(COUNTERS))
def test_a_summary_never_costs_more_than_its_budget(
    said: list[Passage], budget: int, spec: TokenCounter | Callable[[str], int]
) -> None:
    short = summarise(said, embed, budget, spec)
    assert counter_of(spec).count(short) <= budget or not short


@often
@given(passages, st.integers(1, 120))
def test_a_summary_tells_only_what_was_said(said: list[Passage], budget: int) -> None:
    short = summarise(said, embed, budget)
    everything = "".join(f"[{one.day}]{one.who}:{one.text}" for one in said)
    assert set("".join(short.split())) <= set("".join(everything.split()))


@seldom
@given(st.lists(texts, max_size=8).map(". ".join), st.integers(1, 60), st.sampled_from(COUNTERS))
def test_a_gist_is_the_text_or_within_its_budget(
    text: str, budget: int, spec: TokenCounter | Callable[[str], int]
) -> None:
    told = gist(text, embed, budget, spec)
    assert told == text or not told or counter_of(spec).count(told) <= budget
    if counter_of(spec).count(text) <= budget:
        assert told == text


# Groups

WORDS = "Ann|Bob|lives|moved|likes|is|not|no longer|in|to|at|Lisbon|Porto|4|5|the|tea|coffee|she|I|will|was|."
words = st.lists(st.sampled_from(WORDS.split("|")), max_size=9).map(" ".join)


@seldom
@given(st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), max_size=25), st.floats(0.5, 1))
def test_groups_share_no_id_and_stay_near_their_first(rows: list[list[int]], threshold: float) -> None:
    vectors = np.array(rows, np.float32).reshape(-1, 3)
    groups = clusters([str(n) for n in range(len(rows))], vectors, threshold)
    members = [id for group in groups for id in group]
    assert len(members) == len(set(members))
    for first, *others in groups:
        for other in others:
            one, two = vectors[int(first)], vectors[int(other)]
            assert one @ two / np.linalg.norm(one) / np.linalg.norm(two) >= threshold - 1e-5
            assert int(first) < int(other)


@seldom
@given(st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), max_size=25), st.floats(0.5, 0.999))
def test_what_leads_or_is_alone_is_near_to_no_earlier_leader(rows: list[list[int]], threshold: float) -> None:
    vectors = np.array(rows, np.float32).reshape(-1, 3)
    groups = clusters([str(n) for n in range(len(rows))], vectors, threshold)
    led = {int(id) for group in groups for id in group[1:]}
    leading = [n for n in range(len(rows)) if n not in led and vectors[n].any()]
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    assert all(unit[one] @ unit[two] < threshold for one in leading for two in leading if one < two)
