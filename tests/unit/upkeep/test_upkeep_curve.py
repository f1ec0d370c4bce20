"""The forgetting curve by its sentences; its laws are among the property tests."""

from __future__ import annotations

import math

import pytest

from eidet.core.errors import BadInput
from eidet.upkeep.curve import DAY, MOST_GAPS, Curve, half_life, strength, strength_of_uses

NOW = 1_700_000_000.0


def test_a_new_memory_is_at_full_strength() -> None:
    assert strength(0, NOW, None, 0.5, NOW) == 1.0


@pytest.mark.parametrize("shape", [0.1, 1.0, 5.0, 50.0])
def test_half_is_left_after_a_half_life_whatever_the_shape(shape: float) -> None:
    curve = Curve(half_life_days=10, shape=shape)
    assert strength(0, NOW, None, 0.5, NOW + 10 * DAY, curve) == pytest.approx(0.5)


def test_a_large_shape_is_nearly_exponential() -> None:
    curve = Curve(half_life_days=10, shape=50)
    assert strength(0, 0.0, None, 0.5, 20 * DAY, curve) == pytest.approx(0.25, abs=0.01)


def test_a_power_law_keeps_a_tail() -> None:
    assert strength(0, 0.0, None, 0.5, 3_000 * DAY, Curve()) > 0.009


def test_importance_multiplies_the_half_life() -> None:
    curve = Curve(half_life_days=10, importance_gain=4)
    assert half_life([], 1.0, curve) == pytest.approx(40)
    assert half_life([], 0.5, curve) == pytest.approx(10)
    assert half_life([], 0.0, curve) == pytest.approx(2.5)


def test_spaced_uses_last_longer_than_crammed_ones() -> None:
    spaced = strength_of_uses([10 * DAY, 20 * DAY, 30 * DAY], 0.0, 0.5, 90 * DAY)
    crammed = strength_of_uses([29.9 * DAY, 29.95 * DAY, 30 * DAY], 0.0, 0.5, 90 * DAY)
    assert spaced > crammed > strength_of_uses([], 0.0, 0.5, 90 * DAY)


def test_a_repetition_at_once_adds_nothing() -> None:
    assert half_life([0.0, 0.0, 0.0], 0.5) == half_life([], 0.5)


def test_a_use_after_oblivion_adds_the_whole_gain() -> None:
    curve = Curve(half_life_days=1, spacing_gain=2)
    assert half_life([1e9], 0.5, curve) == pytest.approx(3, rel=1e-3)


def test_evenly_spread_uses_make_both_versions_agree() -> None:
    uses = [7.0 * DAY * n for n in range(1, 9)]
    exact = strength_of_uses(uses, 0.0, 0.7, 100 * DAY)
    assert strength(8, 0.0, uses[-1], 0.7, 100 * DAY) == pytest.approx(exact)


def test_the_order_of_the_uses_does_not_matter() -> None:
    assert strength_of_uses([3 * DAY, DAY], 0.0, 0.5, 9 * DAY) == strength_of_uses(
        [DAY, 3 * DAY], 0.0, 0.5, 9 * DAY
    )


def test_uses_after_now_are_yet_to_come() -> None:
    assert strength_of_uses([DAY, 50 * DAY], 0.0, 0.5, 9 * DAY) == strength_of_uses([DAY], 0.0, 0.5, 9 * DAY)


def test_a_million_uses_are_as_good_as_many_and_cost_no_more() -> None:
    many, more = (strength(n, 0.0, 365 * DAY, 0.5, 800 * DAY) for n in (MOST_GAPS, 10**6))
    assert many == more
    assert half_life([3650 / MOST_GAPS] * MOST_GAPS, 0.5) == pytest.approx(
        half_life([3650 / 20_000] * 20_000, 0.5), rel=0.03
    )


@pytest.mark.parametrize(
    ("created", "last_used", "now"),
    [
        (NOW, None, NOW - 100 * DAY),
        (NOW, NOW + 100 * DAY, NOW),
        (NOW, NOW - 100 * DAY, NOW),
        (math.nan, None, NOW),
        (NOW, math.nan, NOW),
        (NOW, None, math.nan),
    ],
)
def test_times_that_contradict_each_other_forget_nothing(
    created: float, last_used: float | None, now: float
) -> None:
    assert strength(3, created, last_used, 0.5, now) == 1.0


def test_a_last_use_without_uses_is_no_use() -> None:
    assert strength(0, 0.0, 9 * DAY, 0.5, 10 * DAY) == strength(0, 0.0, None, 0.5, 10 * DAY)


def test_at_the_end_of_time_nothing_is_left() -> None:
    assert strength(5, 0.0, DAY, 1.0, math.inf) == 0.0


@pytest.mark.parametrize(
    "settings",
    [
        {"half_life_days": 0.0},
        {"half_life_days": math.nan},
        {"spacing_gain": -1.0},
        {"importance_gain": 0.5},
        {"shape": 0.0},
        {"shape": math.inf},
    ],
)
def test_a_curve_that_makes_no_sense_is_refused(settings: dict[str, float]) -> None:
    with pytest.raises(BadInput, match=next(iter(settings))):
        Curve(**settings)
