"""The forgetting curve: the strength of a memory at a moment. A curve, not a cut-off.

A memory has its full strength when it is created and when it is used, and fades from there:

    strength = S / (S + t)

with `t` the time since the last use and `S` its half-life. A power law, because what people forget follows
one, and because its long tail keeps an old memory comparable with an older one where an exponential would
call both zero.

Use makes the half-life longer, spaced use more so:

    S' = S * (1 + spacing_gain * (1 - strength just before the use))

A use right after another adds nothing, a use after a long while nearly the whole gain. `S` never grows by
more than `spacing_gain` times the elapsed time, so no number of uses makes a memory eternal.
"""

from __future__ import annotations

from typing import Final

from ..core.record import Record
from ..core.settings import Upkeep

DAY: Final = 86_400.0
# More equal gaps within ten years lengthen the half-life of the default curve by less than 3 %. The
# limit keeps the cost of a record with a million uses low.
MOST_GAPS: Final = 256
_LONGEST: Final = 1e9  # days


def strength(record: Record, now: float, settings: Upkeep) -> float:
    """Computes the strength of a record, from 0 to 1.

    A record does not store the time of each use, so they are assumed to be evenly spread from its creation
    to the last use. That is exact for regular uses and too high for bursts: for uses at random moments
    by .013 in the mean, .23 at most. Contradictory times (a clock that went back, a last use before the
    creation or in the future) count as no time passed, as does a NaN, so that nothing is forgotten by
    mistake.
    """
    uses = 0 if record.last_used is None else min(max(record.uses, 0), MOST_GAPS)
    last = record.last_used if uses and record.last_used is not None else record.created
    half_life: float = settings.half_life_days * settings.importance_gain ** (2.0 * record.importance - 1.0)
    gap = _days(record.created, last) / max(uses, 1)
    for _ in range(uses):
        half_life *= 1.0 + settings.spacing_gain * gap / (half_life + gap)
    return half_life / (half_life + _days(max(record.created, last), now))


def _days(since: float, until: float) -> float:
    days = (until - since) / DAY
    # 0 for NaN, too
    return min(days, _LONGEST) if days > 0 else 0.0
