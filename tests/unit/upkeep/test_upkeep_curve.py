"""The forgetting curve by its sentences; its laws are among the property tests."""

from __future__ import annotations

import math

import pytest

from eidet.core.errors import BadInput
from eidet.upkeep.curve import DAY, Curve, half_life, strength, strength_of_uses

NOW = 1_700_000_000.0


@pytest.mark.parametrize("shape", [0.1, 1.0, 5.0, 50.0])
def test_half_is_left_after_a_half_life_whatever_the_shape(shape: float) -> None:
    curve = Curve(half_life_days=10, shape=shape)
    assert strength(0, NOW, None, 0.5, NOW + 10 * DAY, curve) == pytest.approx(0.5)


def test_importance_multiplies_the_half_life() -> None:
    curve = Curve(half_life_days=10, importance_gain=4)
    assert half_life([], 1.0, curve) == pytest.approx(40)
    assert half_life([], 0.5, curve) == pytest.approx(10)
    assert half_life([], 0.0, curve) == pytest.approx(2.5)


def test_spaced_uses_last_longer_than_crammed_ones() -> None:
    spaced = strength_of_uses([10 * DAY, 20 * DAY, 30 * DAY], 0.0, 0.5, 90 * DAY)
    crammed = strength_of_uses([29.9 * DAY, 29.95 * DAY, 30 * DAY], 0.0, 0.5, 90 * DAY)
    assert spaced > crammed > strength_of_uses([], 0.0, 0.5, 90 * DAY)


def test_evenly_spread_uses_make_both_versions_agree() -> None:
    uses = [7.0 * DAY * n for n in range(1, 9)]
    exact = strength_of_uses(uses, 0.0, 0.7, 100 * DAY)
    assert strength(8, 0.0, uses[-1], 0.7, 100 * DAY) == pytest.approx(exact)


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
