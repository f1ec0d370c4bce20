"""The forgetting curve by its sentences; its laws are among the property tests."""

from __future__ import annotations

import math

import pytest

from eidet.core.record import Record
from eidet.core.settings import Upkeep
from eidet.upkeep.curve import DAY, strength

NOW = 1_700_000_000.0


@pytest.mark.parametrize(("importance", "days"), [(0.0, 2.5), (0.5, 10.0), (1.0, 40.0)])
def test_half_is_left_after_a_half_life_which_importance_lengthens(importance: float, days: float) -> None:
    unused = Record(id="x", scope="s", text="", created=NOW, occurred=NOW, importance=importance)
    left = strength(unused, NOW + days * DAY, Upkeep(half_life_days=10, importance_gain=4))
    assert left == pytest.approx(0.5)


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
    used = Record(id="x", scope="s", text="", created=created, occurred=NOW, uses=3, last_used=last_used)
    assert strength(used, now, Upkeep()) == 1.0
