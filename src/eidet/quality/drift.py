"""Detects changes in retrieval between the last days and those before."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final, Literal

from . import SCORES, Tally, judgements

_Verdict = Literal["steady", "drifted", "unknown"]
_Name = Literal["low score rate", "empty rate", "success rate"]
RECENT_DAYS: Final = 7  # are compared with …
REFERENCE_DAYS: Final = 28  # … those before them
FEWEST_RECALLS: Final = 50  # in each window; below it there is no verdict
FEWEST_JUDGED: Final = 20
ALPHA: Final = 0.05
LEAST_EFFECT: Final = 0.05  # smaller changes are ignored, however significant


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """A rate in both windows; `statistic` is z, and `p_value` is corrected for the number of comparisons."""

    name: _Name
    before: float
    after: float
    statistic: float
    p_value: float

    @property
    def worse(self) -> bool:
        return self.after < self.before if self.name == "success rate" else self.after > self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The verdict, its comparisons, and the number of recalls in each window."""

    verdict: _Verdict
    shifts: tuple[Shift, ...] = ()
    recent: int = 0
    reference: int = 0
    changed: tuple[Shift, ...] = ()  # those of `shifts` that caused the verdict
    statistic: float | None = None  # of the comparison with the smallest p-value
    p_value: float | None = None  # the smallest: the probability of so large a change if nothing had changed

    @property
    def worse(self) -> bool:
        return any(shift.worse for shift in self.changed)


def split(rows: Iterable[Tally], today: int) -> tuple[list[Tally], list[Tally]]:
    """Splits the rows into those of the reference days and those of the recent days, which include today."""
    start = today - RECENT_DAYS + 1
    held = [row for row in rows if start - REFERENCE_DAYS <= row.day <= today]
    return [row for row in held if row.day < start], [row for row in held if row.day >= start]


def drift(
    reference: Iterable[Tally], recent: Iterable[Tally], *, least_effect: float = LEAST_EFFECT
) -> Drift:
    """Compares up to three rates of two windows: two proportions, pooled z with continuity correction.

    They are the share of best scores below the median of the reference, of empty recalls, and of useful
    judgements. A change counts if its p-value, multiplied by the number of comparisons (Bonferroni), is
    below `ALPHA` and the change at least `least_effect`, so the share of false alarms among equal windows
    stays below `ALPHA`. That holds for independent recalls; one question asked a thousand times does not
    count as a thousand. With fewer than `FEWEST_RECALLS` in either window the verdict is unknown; success
    is compared only if each window has at least `FEWEST_JUDGED` judgements.
    """
    before, after = _count_rows(reference), _count_rows(recent)
    unknown = Drift(verdict="unknown", reference=before["recalls"], recent=after["recalls"])
    if min(unknown.reference, unknown.recent) < FEWEST_RECALLS:
        return unknown
    low = _name_low_scores(before)
    compared: list[tuple[_Name, int, tuple[int, int], tuple[int, int]]] = [
        ("low score rate", FEWEST_RECALLS, _count_scores(before, low), _count_scores(after, low)),
        ("empty rate", 0, (before["empty"], before["recalls"]), (after["empty"], after["recalls"])),
        ("success rate", FEWEST_JUDGED, _count_judgements(before), _count_judgements(after)),
    ]
    known = [(name, was, now) for name, fewest, was, now in compared if min(was[1], now[1]) >= max(fewest, 1)]
    shifts = tuple(_compare(name, was, now, len(known)) for name, was, now in known)
    changed = tuple(s for s in shifts if s.p_value < ALPHA and abs(s.after - s.before) >= least_effect)
    strongest = min(shifts, key=lambda shift: shift.p_value)
    return replace(
        unknown,
        verdict="drifted" if changed else "steady",
        shifts=shifts,
        changed=changed,
        statistic=strongest.statistic,
        p_value=strongest.p_value,
    )


def _compare(name: _Name, was: tuple[int, int], now: tuple[int, int], comparisons: int) -> Shift:
    z, p_value = two_rates(*was, *now)
    return Shift(
        name=name,
        before=was[0] / was[1],
        after=now[0] / now[1],
        statistic=z,
        p_value=min(1.0, comparisons * p_value),
    )


def two_rates(part: int, of: int, part2: int, of2: int) -> tuple[float, float]:
    """Returns z and the two-sided p-value for two proportions."""
    pooled = (part + part2) / (of + of2)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / of + 1 / of2))
    gap = part2 / of2 - part / of
    if spread == 0:
        return 0.0, 1.0
    z = max(0.0, abs(gap) - (1 / of + 1 / of2) / 2) / spread
    return math.copysign(z, gap), math.erfc(z / math.sqrt(2))


def _name_low_scores(counts: Mapping[str, int]) -> Sequence[str]:
    """Returns the names of the bins of scores below the median."""
    sums = list(accumulate(counts[name] for name in SCORES))
    return [name for name, upto in zip(SCORES, sums, strict=True) if 2 * upto < sums[-1]]


def _count_scores(counts: Mapping[str, int], low: Sequence[str]) -> tuple[int, int]:
    return sum(counts[name] for name in low), sum(counts[name] for name in SCORES)


def _count_judgements(counts: Mapping[str, int]) -> tuple[int, int]:
    found = judgements(counts, "answers", "hits")
    return (round(found.value * found.of), found.of) if found else (0, 0)


def _count_rows(rows: Iterable[Tally]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in rows:
        if row.what == "recall" or row.what.partition("/")[0] == "feedback":
            counts.update(row.counts)
    return counts
