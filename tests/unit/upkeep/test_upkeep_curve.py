"""The forgetting curve by its sentences; its laws are among the property tests."""

from __future__ import annotations

import math

import pytest

from eidet.core.errors import BadInput
from eidet.upkeep.curve import DAY, Curve, half_life, strength

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
