"""The forgetting curve: how strong a memory is at a moment. A curve, not a cut-off.

A memory is at full strength when it is made and when it is used, and falls from there:

    strength = (1 + c * t / S) ** -shape      c = 2 ** (1 / shape) - 1

with `t` the time since the last use and `S` its half-life: at `t = S` the strength is one half,
whatever the shape. A power law, because what people forget follows one, and because its long tail
keeps an old memory comparable with an older one where an exponential would call both zero. A large
shape comes as near to the exponential as one likes, so there is no second formula.

Use makes the half-life longer, spaced use more so:

    S' = S * (1 + spacing_gain * (1 - strength just before the use))

A use at once after another adds nothing, a use after a long while nearly the whole gain. The gain
slows down by itself: `S` never grows by more than `spacing_gain * shape * c` times the time lived
through, so no number of uses makes a memory eternal.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product, repeat
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadInput
from ..core.record import Record
from ..core.validate import plain_value

DAY: Final = 86_400.0
# More equal gaps within ten years lengthen the half-life of the default curve by less than 3 %: a
# record with a million uses costs no more than one with so many.
MOST_GAPS: Final = 256


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise BadInput(f"a curve's {name} must be a number from {low:g} to {high:g}, not {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """How fast memories fade.

    `half_life_days`: until an unused memory of importance 0.5 has half its strength.
    `spacing_gain`: by how many times its half-life a use after complete oblivion makes it longer.
    `importance_gain`: the factor on the half-life at importance 1; at importance 0 it divides.
    `shape`: how the tail falls: 1 is `S / (S + t)`, smaller is a longer tail, large is exponential.
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
    """The strength in 0-1 from what a record keeps.

    A record does not keep when each use was: they are taken as evenly spread from its creation to the
    last one. That is exact for a regular habit and leans high for uses in a burst: for uses at random
    moments by .013 in the mean, .23 at most. Times are seconds. Times that contradict each other
    (a clock that went back, a last use before the creation or still to come) count as no time passed,
    as does a time that is no number: nothing is forgotten by mistake.
    """
    last = created if last_used is None or uses <= 0 else last_used
    span, gaps = _days(created, last), min(max(uses, 0), MOST_GAPS)
    stability = half_life(repeat(span / gaps, gaps) if gaps else (), importance, curve)
    return _retention_after(_days(max(created, last), now), stability, curve)


def strength_of_uses(
    times: Sequence[float], created: float, importance: float, now: float, curve: Curve = GENTLE
) -> float:
    """The exact strength from the times of all uses, in any order; uses after `now` are yet to come."""
    moments = [created, *sorted(time for time in times if created <= time <= now)]
    gaps = [_days(earlier, later) for earlier, later in pairwise(moments)]
    return _retention_after(_days(moments[-1], now), half_life(gaps, importance, curve), curve)


def half_life(gaps_days: Iterable[float], importance: float, curve: Curve = GENTLE) -> float:
    """The half-life in days after uses that had these gaps between them, the first from the creation."""
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
    # also where it is no number
    return days if days > 0 else 0.0


def _share(importance: float) -> float:
    """Importance in 0-1; one that is no number is the middle."""
    return 0.5 if math.isnan(importance) else min(max(importance, 0.0), 1.0)


# Fitting half-life and spacing gain to recorded uses, on a grid.


_Floats = NDArray[np.float64]
_Uses = Mapping[tuple[str, str], Sequence[float]]
_FEWEST_OF_EACH: Final = 20  # windows with a use and windows without one
_MOST_WINDOWS: Final = 50_000
_MOST_DAYS: Final = 100_000  # of a window
_MOST_USES: Final = 1_000  # of one memory; what was used more often says nothing new
_PRIOR_SPREAD: Final = 2.0  # in natural logarithms: a factor of 7 either way is no surprise
_HALF_LIVES: Final = (0.01, 10_000.0)
_GAINS: Final = (0.01, 100.0)
_STEPS: Final = 9  # points of the grid along each side
_ROUNDS: Final = 6  # each looks more closely around the best point of the last one


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What became of one memory: made, used at these times, and watched until then. Seconds."""

    created: float
    uses: tuple[float, ...] = ()
    until: float
    importance: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The curve found, and how much better it predicts.

    `loss_before` and `loss_after` are the mean logistic loss per window in nats, of the curve given
    and of the one found. `ceiling` is the chance that a memory of full strength is used within a window.
    """

    curve: Curve
    ceiling: float
    loss_before: float
    loss_after: float
    windows: int
    used: int


@dataclass(frozen=True, slots=True)
class _Windows:
    """Every window of every memory: after which use it begins, how long after, and what happened."""

    gaps: _Floats  # (memories, most uses), days; padded by 0, which adds nothing to a half-life
    importance: _Floats
    row: NDArray[np.intp]
    uses: NDArray[np.intp]
    elapsed: _Floats
    used: NDArray[np.bool_]


def fit(log: Sequence[Access], *, window_days: float = 7.0, start: Curve = GENTLE) -> Fitted:
    """The half-life and the spacing gain under which "used again within the window" was likeliest.

    Each memory is looked at once per window from its creation to the end of its watch; the chance of
    a use is `ceiling * strength`. Shape and importance gain stay as given, and so does nearly what the
    log says nothing about (the spacing gain when nothing was used twice).
    """
    window_days = plain_value(window_days)
    number = isinstance(window_days, int | float) and not isinstance(window_days, bool)
    if not number or not 0 < window_days <= _MOST_DAYS:
        raise BadInput(f"window_days must be a number above 0, up to {_MOST_DAYS:,}, not {window_days!r:.80}")
    seen = _make_windows(log, window_days)
    used, unused = int(seen.used.sum()), int((~seen.used).sum())
    if min(used, unused) < _FEWEST_OF_EACH:
        raise BadInput(
            f"too little to fit a forgetting curve: {used} windows of {window_days:g} days with a use and "
            f"{unused} without; {_FEWEST_OF_EACH} of each are needed: watch longer or choose another window"
        )
    curve = _search_grid(seen, start)
    return Fitted(
        curve=curve,
        ceiling=_ceiling(seen, _strengths(seen, curve)),
        loss_before=_loss(seen, start),
        loss_after=_loss(seen, curve),
        windows=len(seen.used),
        used=used,
    )


def _search_grid(seen: _Windows, start: Curve) -> Curve:
    """The best curve of a grid over both parameters, then of closer ones around it."""
    (low, high), (least, most) = _HALF_LIVES, _GAINS
    lives, gains = np.geomspace(low, high, 2 * _STEPS), np.geomspace(least, most, _STEPS)
    best = start
    for _ in range(_ROUNDS):
        tried = [
            replace(start, half_life_days=float(a), spacing_gain=float(b)) for a, b in product(lives, gains)
        ]
        best = min([best, *tried], key=lambda curve: _cost(seen, curve, start))
        lives = _closer(lives, best.half_life_days, _HALF_LIVES)
        gains = _closer(gains, max(best.spacing_gain, least), _GAINS)
    return best


def _closer(values: _Floats, best: float, bounds: tuple[float, float]) -> _Floats:
    step = values[1] / values[0]
    return np.geomspace(max(best / step, bounds[0]), min(best * step, bounds[1]), _STEPS)


def _cost(seen: _Windows, curve: Curve, start: Curve) -> float:
    """The loss with a light pull to the curve given, for what the log does not tell."""
    life = np.log(curve.half_life_days / start.half_life_days)
    gain = np.log(max(curve.spacing_gain, _GAINS[0]) / max(start.spacing_gain, _GAINS[0]))
    away = (life**2 + gain**2) / _PRIOR_SPREAD**2
    return _loss(seen, curve) + 0.5 * float(away) / len(seen.used)


def _loss(seen: _Windows, curve: Curve) -> float:
    strengths = _strengths(seen, curve)
    chance = np.clip(_ceiling(seen, strengths) * strengths, 1e-12, 1 - 1e-12)
    return float(-np.where(seen.used, np.log(chance), np.log1p(-chance)).mean())


def _ceiling(seen: _Windows, strengths: _Floats) -> float:
    """The chance at full strength that makes the expected number of uses the one there was."""
    return float(min(seen.used.sum() / max(strengths.sum(), 1e-12), 1.0))


def _strengths(seen: _Windows, curve: Curve) -> _Floats:
    """`curve.strength_of_uses` at the beginning of every window at once."""
    steepness = 2.0 ** (1.0 / curve.shape) - 1.0
    stability = curve.half_life_days * curve.importance_gain ** (2.0 * seen.importance - 1.0)
    after = np.empty((len(stability), seen.gaps.shape[1] + 1))
    after[:, 0] = stability
    for use, gap in enumerate(seen.gaps.T):
        left = (1.0 + steepness * gap / after[:, use]) ** -curve.shape
        after[:, use + 1] = after[:, use] * (1.0 + curve.spacing_gain * (1.0 - left))
    strengths: _Floats = (1.0 + steepness * seen.elapsed / after[seen.row, seen.uses]) ** -curve.shape
    return strengths


def _make_windows(log: Sequence[Access], window_days: float) -> _Windows:
    days = [_days_of_use(access) for access in log]
    gaps = np.zeros((len(log), max(map(len, days), default=0)))
    rows, uses, elapsed, used = (
        [np.zeros(0, np.intp)],
        [np.zeros(0, np.intp)],
        [np.zeros(0)],
        [np.zeros(0, bool)],
    )
    for row, (access, times) in enumerate(zip(log, days, strict=True)):
        gaps[row, : len(times)] = np.diff(times, prepend=0.0)
        begins = _begins((access.until - access.created) / DAY, window_days)
        before = np.searchsorted(times, begins, side="right")
        rows.append(np.full(len(begins), row))
        uses.append(before)
        elapsed.append(begins - np.r_[0.0, times][before])
        used.append(np.searchsorted(times, begins + window_days, side="right") > before)
    count = sum(map(len, used))
    kept = np.linspace(0, count - 1, min(count, _MOST_WINDOWS)).astype(np.intp)
    importance = np.array([access.importance for access in log], np.float64)
    return _Windows(
        gaps=gaps,
        importance=np.nan_to_num(importance, nan=0.5).clip(0.0, 1.0),
        row=np.concatenate(rows)[kept],
        uses=np.concatenate(uses)[kept],
        elapsed=np.concatenate(elapsed)[kept],
        used=np.concatenate(used)[kept],
    )


def _days_of_use(access: Access) -> _Floats:
    uses = sorted(time for time in access.uses if access.created <= time <= access.until)[:_MOST_USES]
    return (np.array(uses, np.float64) - access.created) / DAY


def _begins(watch_days: float, window_days: float) -> _Floats:
    """When the windows begin that end within the watch."""
    whole = watch_days / window_days + 1e-9
    return np.arange(min(int(whole), _MOST_WINDOWS) if whole > 0 else 0, dtype=np.float64) * window_days


# What was recorded.


def read_log(path: Path) -> dict[tuple[str, str], list[float]]:
    """The times of uses by (scope, id), from lines such as `{"scope": …, "id": …, "at": 1700000000.0}`."""
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the access log {path} cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            scope, id, at, count = _parse_use(line, f"{path}, line {number}")
            times[scope, id] += [at] * min(count, _MOST_USES)
    return dict(times)


def _parse_use(line: str, where: str) -> tuple[str, str, float, int]:
    try:
        use = json.loads(line)
        return str(use.get("scope", "default")), str(use["id"]), float(use["at"]), int(use.get("count", 1))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{where} records no use: it needs an id and a time, as `at` ({error!r})") from None


def accesses(records: Iterable[Record], log: _Uses | None, now: float) -> Iterator[Access]:
    """One access per record. Without a log, uses are taken as evenly spread, as `strength` takes them."""
    for record in records:
        uses = _spread(record) if log is None else log.get((record.scope, record.id), ())
        yield Access(created=record.created, uses=tuple(uses), until=now, importance=record.importance)


def _spread(record: Record) -> Iterator[float]:
    if record.uses and record.last_used is not None:
        uses = min(record.uses, _MOST_USES)
        step = (record.last_used - record.created) / uses
        yield from (record.created + step * n for n in range(1, uses + 1))
