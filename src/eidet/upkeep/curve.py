"""The forgetting curve: the strength of a memory at a moment. A curve, not a cut-off.

A memory has its full strength when it is created and when it is used, and fades from there:

    strength = (1 + c * t / S) ** -shape      c = 2 ** (1 / shape) - 1

with `t` the time since the last use and `S` its half-life: at `t = S` the strength is one half,
whatever the shape. A power law, because what people forget follows one, and because its long tail
keeps an old memory comparable with an older one where an exponential would call both zero. A large
shape comes as near to the exponential as one likes, so there is no second formula.

Use makes the half-life longer, spaced use more so:

    S' = S * (1 + spacing_gain * (1 - strength just before the use))

A use right after another adds nothing, a use after a long while nearly the whole gain. The gain
is bounded: `S` never grows by more than `spacing_gain * shape * c` times the elapsed time, so no
number of uses makes a memory eternal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import Final

from ..core.errors import BadInput

DAY: Final = 86_400.0
# More equal gaps within ten years lengthen the half-life of the default curve by less than 3 %. The
# limit keeps the cost of a record with a million uses low.
MOST_GAPS: Final = 256


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise BadInput(f"a curve's {name} must be a number from {low:g} to {high:g}, not {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The parameters of forgetting.

    `half_life_days`: days until an unused memory of importance 0.5 has half its strength.
    `spacing_gain`: the multiple of the half-life that a use after complete oblivion adds to it.
    `importance_gain`: the factor on the half-life at importance 1; at importance 0 it divides.
    `shape`: the fall of the tail: 1 is `S / (S + t)`, smaller is a longer tail, large is exponential.
    """

    half_life_days: float = 30.0
    spacing_gain: float = 1.0
    importance_gain: float = 4.0
    shape: float = 1.0

    def __post_init__(self) -> None:
        _within("half_life_days", self.half_life_days, 1e-6, 1e6)
        _within("spacing_gain", self.spacing_gain, 0.0, 100.0)
        _within("importance_gain", self.importance_gain, 1.0, 1000.0)
        _within("shape", self.shape, 0.05, 50.0)


GENTLE: Final = Curve()


def strength(
    uses: int,
    created: float,
    last_used: float | None,
    importance: float,
    now: float,
    curve: Curve = GENTLE,
) -> float:
    """Computes the strength, from 0 to 1, from the fields of a record.

    A record does not store the time of each use, so they are assumed to be evenly spread from its creation
    to the last use. That is exact for regular uses and too high for bursts: for uses at random moments
    by .013 in the mean, .23 at most. Times are seconds. Contradictory times (a clock that went back, a last
    use before the creation or in the future) count as no time passed, as does a NaN, so that nothing is
    forgotten by mistake.
    """
    last = created if last_used is None or uses <= 0 else last_used
    span, gaps = _days(created, last), min(max(uses, 0), MOST_GAPS)
    stability = half_life(repeat(span / gaps, gaps) if gaps else (), importance, curve)
    return _retention_after(_days(max(created, last), now), stability, curve)


def half_life(gaps_days: Iterable[float], importance: float, curve: Curve = GENTLE) -> float:
    """Computes the half-life in days after uses with these gaps, of which the first starts at creation."""
    stability: float = curve.half_life_days * curve.importance_gain ** (2.0 * _share(importance) - 1.0)
    for gap in gaps_days:
        stability *= 1.0 + curve.spacing_gain * (1.0 - _retention_after(gap, stability, curve))
    return stability


def _retention_after(days: float, stability: float, curve: Curve) -> float:
    steepness: float = 2.0 ** (1.0 / curve.shape) - 1.0
    faded: float = (1.0 + steepness * days / stability) ** -curve.shape
    return faded


def _days(since: float, until: float) -> float:
    days = (until - since) / DAY
    # 0 for NaN, too
    return days if days > 0 else 0.0


def _share(importance: float) -> float:
    """Clamps importance to 0-1; NaN becomes 0.5."""
    return 0.5 if math.isnan(importance) else min(max(importance, 0.0), 1.0)
