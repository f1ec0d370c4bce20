"""A curve is found again from a log that was made with it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from eidet.core.errors import BadInput
from eidet.upkeep.curve import DAY, Access, Curve, fit, strength_of_uses

TRUE = Curve(half_life_days=10, spacing_gain=2, importance_gain=3)


def made(curve: Curve, ceiling: float, memories: int, weeks: int = 30, seed: int = 1) -> list[Access]:
    """Every week each memory is used with the chance that the curve gives it."""
    dice, log = random.Random(seed), []
    for _ in range(memories):
        importance, uses = dice.random(), list[float]()
        for week in range(weeks):
            start = week * 7 * DAY
            if dice.random() < ceiling * strength_of_uses(uses, 0.0, importance, start, curve):
                uses.append(start + dice.random() * 7 * DAY)
        log.append(Access(created=0.0, uses=tuple(uses), until=weeks * 7 * DAY, importance=importance))
    return log


@pytest.fixture(scope="module")
def log() -> list[Access]:
    return made(TRUE, 0.5, 500)


def test_the_curve_behind_a_log_is_found_again(log: list[Access]) -> None:
    found = fit(log, start=Curve(importance_gain=3))
    assert found.curve.half_life_days == pytest.approx(10, rel=0.2)
    assert found.curve.spacing_gain == pytest.approx(2, rel=0.3)
    assert found.ceiling == pytest.approx(0.5, abs=0.03)
    assert found.loss_after < found.loss_before
    assert found.windows == 500 * 30


def test_the_start_hardly_matters_where_the_log_tells_enough(log: list[Access]) -> None:
    near = fit(log, start=TRUE).curve.half_life_days
    far = fit(log, start=Curve(half_life_days=200, spacing_gain=0.2, importance_gain=3)).curve.half_life_days
    assert far == pytest.approx(near, rel=0.1)


def test_the_same_log_gives_the_same_curve(log: list[Access]) -> None:
    assert fit(log[:100]) == fit(log[:100])


def test_what_the_log_does_not_tell_stays_as_it_was() -> None:
    week = 7 * DAY
    ended = [  # nobody looked on after the week of the first use: how much it helped is unknown
        replace(one, uses=one.uses[:1], until=(one.uses[0] // week + 1) * week if one.uses else one.until)
        for one in made(TRUE, 0.5, 300)
    ]
    found = fit(ended, start=Curve(spacing_gain=4))
    assert found.curve.spacing_gain == pytest.approx(4, rel=0.05)


def test_shape_and_importance_gain_stay_as_given() -> None:
    log = made(Curve(shape=0.5), 0.4, 100)
    found = fit(log, start=Curve(shape=0.5, importance_gain=7)).curve
    assert (found.shape, found.importance_gain) == (0.5, 7)


@pytest.mark.parametrize(
    "log",
    [
        [],
        [Access(created=0.0, until=0.0)],
        [Access(created=DAY, until=0.0)],
        [Access(created=0.0, until=1_000 * DAY)],
        [Access(created=0.0, uses=tuple(n * DAY for n in range(1_000)), until=1_000 * DAY)],
    ],
)
def test_too_little_to_learn_from_is_said(log: list[Access]) -> None:
    with pytest.raises(BadInput, match="too little"):
        fit(log)


def test_a_window_has_a_length(log: list[Access]) -> None:
    with pytest.raises(BadInput, match="window_days"):
        fit(log, window_days=0)


def test_uses_outside_the_watch_do_not_count(log: list[Access]) -> None:
    outside = [
        Access(
            created=one.created,
            uses=(*one.uses, one.until + DAY, -DAY),
            until=one.until,
            importance=one.importance,
        )
        for one in log[:100]
    ]
    assert fit(outside) == fit(log[:100])
