"""Detects changes in retrieval between the last days and those before."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from . import SCORE_BINS, SCORES, Tally, Windows, judgements

_Verdict = Literal["steady", "drifted", "unknown"]
_STANDARD: Final = Windows()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """One comparison. `before` and `after` are means of top scores, or rates.

    `statistic` is the Kolmogorov-Smirnov distance, or z; `effect` is the distance, or the difference
    of the rates; `p_value` is corrected for the number of comparisons.
    """

    name: Literal["top score", "empty rate", "success rate"]
    before: float
    after: float
    statistic: float
    effect: float
    p_value: float

    @property
    def worse(self) -> bool:
        return self.after > self.before if self.name == "empty rate" else self.after < self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The verdict, its comparisons, and the number of recalls in each window."""

    verdict: _Verdict
    shifts: tuple[Shift, ...] = ()
    recent: int = 0
    reference: int = 0
    changed: tuple[Shift, ...] = ()  # those of `shifts` that caused the verdict

    @property
    def _strongest(self) -> Shift | None:
        return min(self.shifts, key=lambda shift: shift.p_value, default=None)

    @property
    def statistic(self) -> float | None:
        """The statistic of the comparison with the smallest p-value."""
        return None if self._strongest is None else self._strongest.statistic

    @property
    def p_value(self) -> float | None:
        """The smallest p-value: the probability of so large a change if nothing had changed."""
        return None if self._strongest is None else self._strongest.p_value

    @property
    def worse(self) -> bool:
        return any(shift.worse for shift in self.changed)


def split(rows: Iterable[Tally], today: int, windows: Windows) -> tuple[list[Tally], list[Tally]]:
    """Splits the rows into those of the reference days and those of the recent days, which include today."""
    start = today - windows.recent_days + 1
    held = [row for row in rows if start - windows.reference_days <= row.day <= today]
    return [row for row in held if row.day < start], [row for row in held if row.day >= start]


def drift(reference: Iterable[Tally], recent: Iterable[Tally], windows: Windows = _STANDARD) -> Drift:
    """Compares two windows by up to three tests, with Holm's correction for their number.

    - top scores: two-sample Kolmogorov-Smirnov on the binned scores, with its asymptotic p-value.
      Ties within a bin make it err on the side of no drift.
    - the share of empty recalls, and the share of useful judgements: two proportions, pooled z with
      continuity correction.

    A change counts if its corrected p-value is below `alpha` and its effect at least `least_effect`,
    so the share of false alarms among equal windows stays below `alpha`. That holds for independent
    recalls; one question asked a thousand times does not count as a thousand. With fewer than
    `fewest_recalls` in either window the verdict is unknown; success is compared only if each window
    has at least `fewest_judged` judgements.
    """
    before, after = _count_rows(reference), _count_rows(recent)
    unknown = Drift(verdict="unknown", reference=before["recalls"], recent=after["recalls"])
    if min(unknown.reference, unknown.recent) < windows.fewest_recalls:
        return unknown
    shifts = holm(list(_shifts(before, after, windows)))
    changed = tuple(s for s in shifts if s.p_value < windows.alpha and s.effect >= windows.least_effect)
    return replace(unknown, verdict="drifted" if changed else "steady", shifts=shifts, changed=changed)


def holm(shifts: Sequence[Shift]) -> tuple[Shift, ...]:
    """Corrects p-values for their number by Holm's method. Returns the smallest first."""
    corrected, floor = [], 0.0
    for rank, shift in enumerate(sorted(shifts, key=lambda shift: shift.p_value)):
        floor = max(floor, min(1.0, shift.p_value * (len(shifts) - rank)))
        corrected.append(replace(shift, p_value=floor))
    return tuple(corrected)


def ks_distance(one: Sequence[int], other: Sequence[int]) -> float:
    """Returns the largest distance between the cumulative shares of two histograms with the same bins."""
    n, m = sum(one), sum(other)
    here = there = 0
    widest = 0.0
    for a, b in zip(one, other, strict=True):
        here, there = here + a, there + b
        widest = max(widest, abs(here / n - there / m))
    return widest


def ks_p_value(distance: float, n: int, m: int) -> float:
    """Computes Kolmogorov's limit distribution: from 50 cases on at most 1 % below the exact p-value.

    Omits the usual correction for finite samples, which for two of the same size is 20 % below.
    """
    reach = math.sqrt(n * m / (n + m)) * distance
    if reach < 0.3:  # the series converges slowly there, and is 1 to five places
        return 1.0
    terms = (math.exp(-2.0 * (k * reach) ** 2) * (1 if k % 2 else -1) for k in range(1, 101))
    return min(1.0, max(0.0, 2 * sum(terms)))


def two_rates(part: int, of: int, part2: int, of2: int) -> tuple[float, float]:
    """Returns z and the two-sided p-value for two proportions."""
    pooled = (part + part2) / (of + of2)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / of + 1 / of2))
    gap = part2 / of2 - part / of
    if spread == 0:
        return 0.0, 1.0
    z = max(0.0, abs(gap) - (1 / of + 1 / of2) / 2) / spread
    return math.copysign(z, gap), math.erfc(z / math.sqrt(2))


def _shifts(before: Counter[str], after: Counter[str], windows: Windows) -> Iterator[Shift]:
    one = [before[name] for name in SCORES]
    other = [after[name] for name in SCORES]
    if min(sum(one), sum(other)) >= windows.fewest_recalls:
        far = ks_distance(one, other)
        yield Shift(
            name="top score",
            before=_mean(one),
            after=_mean(other),
            statistic=far,
            effect=far,
            p_value=ks_p_value(far, sum(one), sum(other)),
        )
    yield _rates("empty rate", (before["empty"], before["recalls"]), (after["empty"], after["recalls"]))
    earlier, says = _count_judgements(before), _count_judgements(after)
    if min(earlier[1], says[1]) >= windows.fewest_judged:
        yield _rates("success rate", earlier, says)


def _rates(
    name: Literal["empty rate", "success rate"], before: tuple[int, int], after: tuple[int, int]
) -> Shift:
    z, p_value = two_rates(*before, *after)
    was, is_ = before[0] / before[1], after[0] / after[1]
    return Shift(name=name, before=was, after=is_, statistic=z, effect=abs(is_ - was), p_value=p_value)


def _count_judgements(counts: Mapping[str, int]) -> tuple[int, int]:
    found = judgements(counts, "answers", "hits")
    return (round(found.value * found.of), found.of) if found else (0, 0)


def _mean(counts: Sequence[int]) -> float:
    return sum((at + 0.5) * count for at, count in enumerate(counts)) / sum(counts) / SCORE_BINS


def _count_rows(rows: Iterable[Tally]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in rows:
        if row.what == "recall" or row.what.partition("/")[0] == "feedback":
            counts.update(row.counts)
    return counts
