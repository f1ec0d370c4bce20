"""The lowest point of a function of a few variables, by the downhill simplex of Nelder and Mead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

Point = list[float]
Cost = Callable[[Sequence[float]], float]
ENOUGH: Final = 1e-9


def minimum(cost: Cost, start: Sequence[float], *, step: float = 0.5, most: int = 1_000) -> Point:
    """Where the cost is lowest near the start; deterministic, stops after `most` steps."""
    corners = _rank_points(
        cost, [list(start), *(_move_along(start, axis, step) for axis in range(len(start)))]
    )
    for _ in range(most):
        if corners[-1][0] - corners[0][0] <= ENOUGH * (1 + abs(corners[0][0])):
            break
        corners = _step(cost, corners)
    return corners[0][1]


def _step(cost: Cost, corners: list[tuple[float, Point]]) -> list[tuple[float, Point]]:
    """The worst corner thrown over the others: further where that pays, less far where it does not."""
    *others, (worst, point) = corners
    centre = []
    for axis in zip(*(at for _, at in others), strict=True):
        centre.append(sum(axis) / len(others))
    over = _try_point(cost, centre, point, -1.0)
    if over[0] < others[0][0]:
        return sorted([*others, min(over, _try_point(cost, centre, point, -2.0))])
    if over[0] < others[-1][0]:
        return sorted([*others, over])
    within = _try_point(cost, centre, point, 0.5 if worst <= over[0] else -0.5)
    if within[0] < min(worst, over[0]):
        return sorted([*others, within])
    best = others[0][1]
    return _rank_points(cost, [best, *(_between(best, at, 0.5) for _, at in corners[1:])])


def _try_point(cost: Cost, centre: Point, point: Point, share: float) -> tuple[float, Point]:
    at = _between(centre, point, share)
    return cost(at), at


def _between(start: Sequence[float], end: Sequence[float], share: float) -> Point:
    return [a + share * (b - a) for a, b in zip(start, end, strict=True)]


def _move_along(start: Sequence[float], axis: int, step: float) -> Point:
    return [value + step * (at == axis) for at, value in enumerate(start)]


def _rank_points(cost: Cost, points: Sequence[Point]) -> list[tuple[float, Point]]:
    return sorted((cost(point), point) for point in points)
