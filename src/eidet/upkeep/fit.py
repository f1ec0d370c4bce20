"""A forgetting curve fitted to an access log: which curve best foretells what is used again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadInput
from ..core.validate import plain_value
from .curve import DAY, GENTLE, Curve
from .nelder_mead import minimum

Floats = NDArray[np.float64]
FEWEST_OF_EACH: Final = 20  # windows with a use and windows without one
MOST_WINDOWS: Final = 200_000
MOST_DAYS: Final = 100_000  # of a window
MOST_USES: Final = 1_000  # of one memory; what was used more often says nothing new
PRIOR_SPREAD: Final = 2.0  # in natural logarithms: a factor of 7 either way is no surprise
BOUNDS: Final = {
    "half_life_days": (1e-3, 1e5),
    "spacing_gain": (1e-3, 100.0),
    "importance_gain": (1.0, 1000.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What became of one memory: made, used at these times, and watched until then. Seconds."""

    created: float
    uses: tuple[float, ...] = ()
    until: float
    importance: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The curve found, and how much better it foretells.

    `loss_before` and `loss_after` are the mean logistic loss per window in nats, of the curve given
    and of the one found, each with the `ceiling` that suits it: the chance that a memory of full
    strength is used within a window. `interval_days` holds the half-life with 95 % if windows are
    independent of each other; None where the data do not bound it.
    """

    curve: Curve
    ceiling: float
    loss_before: float
    loss_after: float
    windows: int
    used: int
    interval_days: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class _Windows:
    """Every window of every memory: after which use it begins, how long after, and what happened."""

    gaps: Floats  # (memories, most uses), days; padded by 0, which adds nothing to a half-life
    importance: Floats
    row: NDArray[np.intp]
    uses: NDArray[np.intp]
    elapsed: Floats
    used: NDArray[np.bool_]


class _Watched(NamedTuple):
    """Of one memory the gaps in days; of each window the uses before, the days since, whether one follows."""

    gaps: Floats
    uses: NDArray[np.intp]
    elapsed: Floats
    used: NDArray[np.bool_]


def fit(log: Sequence[Access], *, window_days: float = 7.0, start: Curve = GENTLE) -> Fitted:
    """The half-life and the gains under which "used again within the window" was likeliest.

    Each memory is looked at once per window from its creation to the end of its watch; the chance of
    a use is `ceiling * strength`. The shape stays as given. What the log does not tell (a gain when
    nothing was used twice, importance when all is equally important) stays near `start`.
    """
    window_days = plain_value(window_days)
    number = isinstance(window_days, int | float) and not isinstance(window_days, bool)
    if not number or not 0 < window_days <= MOST_DAYS:
        raise BadInput(f"window_days must be a number above 0, up to {MOST_DAYS:,}, not {window_days!r:.80}")
    seen = _windows(log, window_days)
    used, unused = int(seen.used.sum()), int((~seen.used).sum())
    if min(used, unused) < FEWEST_OF_EACH:
        raise BadInput(
            f"too little to fit a forgetting curve: {used} windows of {window_days:g} days with a use and "
            f"{unused} without; {FEWEST_OF_EACH} of each are needed: watch longer or choose another window"
        )
    return _fit_windows(seen, start)


def _fit_windows(seen: _Windows, start: Curve) -> Fitted:
    known = _logs(start)
    first = minimum(lambda at: _loss(seen, start, np.r_[known, at]), [_logit(seen.used.mean())], step=0.5)
    begin = np.r_[known, first]
    cost = _cost_from(seen, start, begin)
    best = minimum(cost, begin.tolist(), step=0.7)
    best = minimum(cost, best, step=0.2)  # once more from there: a simplex can fold up too early
    return Fitted(
        curve=_curve(start, np.array(best)),
        ceiling=float(_sigmoid(best[-1])),
        loss_before=_loss(seen, start, begin),
        loss_after=_loss(seen, start, np.array(best)),
        windows=len(seen.used),
        used=int(seen.used.sum()),
        interval_days=_interval(cost, np.array(best), len(seen.used)),
    )


def _cost_from(seen: _Windows, start: Curve, begin: Floats) -> Callable[[Sequence[float]], float]:
    """The loss with a light pull to the curve given, for what the log does not tell."""

    def cost(at: Sequence[float]) -> float:
        away = (np.asarray(at) - begin)[:-1] / PRIOR_SPREAD
        return _loss(seen, start, np.asarray(at)) + 0.5 * float(away @ away) / len(seen.used)

    return cost


def _windows(log: Sequence[Access], window_days: float) -> _Windows:
    watched = [_watch_access(access, window_days) for access in log]
    gaps = np.zeros((len(log), max((len(one.gaps) for one in watched), default=0)))
    for row, one in enumerate(watched):
        gaps[row, : len(one.gaps)] = one.gaps
    importance = np.array([access.importance for access in log], np.float64)
    seen = _Windows(
        gaps=gaps,
        importance=np.nan_to_num(importance, nan=0.5).clip(0.0, 1.0),
        row=np.repeat(np.arange(len(log)), [len(one.used) for one in watched]),
        uses=np.concatenate([one.uses for one in watched] or [np.zeros(0, np.intp)]),
        elapsed=np.concatenate([one.elapsed for one in watched] or [np.zeros(0)]),
        used=np.concatenate([one.used for one in watched] or [np.zeros(0, np.bool_)]),
    )
    return _thin_windows(seen)


def _watch_access(access: Access, window_days: float) -> _Watched:
    uses = sorted(time for time in access.uses if access.created <= time <= access.until)[:MOST_USES]
    days = (np.array(uses) - access.created) / DAY
    begins = _begins((access.until - access.created) / DAY, window_days)
    before = np.searchsorted(days, begins, side="right")
    after = np.searchsorted(days, begins + window_days, side="right")
    elapsed = begins - np.r_[0.0, days][before]
    return _Watched(np.diff(days, prepend=0.0), before, elapsed, after > before)


def _begins(watch_days: float, window_days: float) -> Floats:
    """When the windows begin that end within the watch."""
    whole = watch_days / window_days + 1e-9
    return np.arange(min(int(whole), MOST_WINDOWS) if whole > 0 else 0, dtype=np.float64) * window_days


def _thin_windows(seen: _Windows) -> _Windows:
    if len(seen.used) <= MOST_WINDOWS:
        return seen
    kept = np.linspace(0, len(seen.used) - 1, MOST_WINDOWS).astype(np.intp)
    return replace(
        seen, row=seen.row[kept], uses=seen.uses[kept], elapsed=seen.elapsed[kept], used=seen.used[kept]
    )


def _loss(seen: _Windows, start: Curve, at: Sequence[float] | Floats) -> float:
    chance = _sigmoid(at[-1]) * _strengths(seen, _curve(start, np.asarray(at)))
    chance = np.clip(chance, 1e-12, 1 - 1e-12)
    return float(-np.where(seen.used, np.log(chance), np.log1p(-chance)).mean())


def _strengths(seen: _Windows, curve: Curve) -> Floats:
    """`curve.strength_of_uses` at the beginning of every window at once."""
    steepness = 2.0 ** (1.0 / curve.shape) - 1.0
    stability = curve.half_life_days * curve.importance_gain ** (2.0 * seen.importance - 1.0)
    after = np.empty((len(stability), seen.gaps.shape[1] + 1))
    after[:, 0] = stability
    for use, gap in enumerate(seen.gaps.T):
        left = (1.0 + steepness * gap / after[:, use]) ** -curve.shape
        after[:, use + 1] = after[:, use] * (1.0 + curve.spacing_gain * (1.0 - left))
    strengths: Floats = (1.0 + steepness * seen.elapsed / after[seen.row, seen.uses]) ** -curve.shape
    return strengths


def _logs(curve: Curve) -> Floats:
    return np.log([max(getattr(curve, name), low) for name, (low, _) in BOUNDS.items()])


def _curve(start: Curve, at: Floats) -> Curve:
    found = {
        name: float(np.clip(np.exp(min(log, 50.0)), low, high))
        for (name, (low, high)), log in zip(BOUNDS.items(), at, strict=False)
    }
    return replace(start, **found)


def _interval(
    cost: Callable[[Sequence[float]], float], best: Floats, windows: int
) -> tuple[float, float] | None:
    """From the curvature of the likelihood around its best point."""
    curvature = _hessian(cost, best) * windows
    if not np.isfinite(curvature).all() or np.linalg.eigvalsh(curvature).min() <= 1e-9:
        return None
    spread = 1.96 * float(np.sqrt(np.linalg.inv(curvature)[0, 0]))
    return float(np.exp(best[0] - spread)), float(np.exp(best[0] + spread))


def _hessian(cost: Callable[[Sequence[float]], float], best: Floats, step: float = 1e-2) -> Floats:
    moves = np.eye(len(best)) * step

    def bend(one: Floats, other: Floats) -> float:
        corners = (one + other, one - other, other - one, -one - other)
        far, right, left, near = (cost((best + corner).tolist()) for corner in corners)
        return (far - right - left + near) / (4 * step * step)

    bends = [bend(one, other) for one, other in product(moves, repeat=2)]
    return np.array(bends).reshape(len(best), len(best))


def _sigmoid(value: float) -> float:
    return float(1.0 / (1.0 + np.exp(-np.clip(value, -50, 50))))


def _logit(share: float) -> float:
    share = float(np.clip(share, 1e-3, 1 - 1e-3))
    return float(np.log(share / (1 - share)))
