"""Evaluates `Where` on the columns of one scope; tests keep it equal to `Where.matches`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ...core.record import Kind, Tier, Trust
from ...core.scope import Scope
from ...core.where import Box, Near, Where

if TYPE_CHECKING:
    from .columns import ColumnTable

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]
Seqs = NDArray[np.int64]
Resolve = Callable[[Where], Seqs]

# The numbers of the values in the columns for them.
CODES: Final[dict[str, dict[str, int]]] = {
    name: {str(value): code for code, value in enumerate(values)}
    for name, values in (("kind", Kind), ("tier", Tier), ("trust", Trust))
}


def mask(where: Where, columns: ColumnTable, resolve: Resolve) -> Mask:
    """Returns a new mask of the rows that match.

    For ids and JSON conditions, which columns cannot answer, `resolve` returns the ascending seqs that the
    store finds; it is called last, and not at all if no row is left.
    """
    kept: Mask | None = None
    for part in _parts(where, columns, resolve):
        if kept is None:
            kept = part
        else:
            np.logical_and(kept, part, out=kept)
        if not kept.any():
            return kept
    return np.ones(len(columns), np.bool_) if kept is None else kept


def _parts(where: Where, columns: ColumnTable, resolve: Resolve) -> Iterator[Mask]:
    """Yields a new mask for each part of the filter, cheap ones first."""
    if where.scope is not None and not where.scope.holds(columns.scope):
        yield np.zeros(len(columns), np.bool_)
    if where.alive_at is not None:
        yield columns.expires > where.alive_at
    yield from _codes(where, columns)
    yield from _ranges(where, columns)
    if where.box is not None:
        yield from _in_box(where.box, columns)
    if where.near is not None:
        yield _within(where.near, columns)
    yield from _mask_nested(where, columns, resolve)
    if where.ids is not None or where.conditions:
        asked = Where(scope=Scope(columns.scope), ids=where.ids, conditions=where.conditions)
        yield among(columns.seq, resolve(asked))


def _codes(where: Where, columns: ColumnTable) -> Iterator[Mask]:
    for name in ("session", "who", "agent", "source"):
        if (label := getattr(where, name)) is not None:
            yield getattr(columns, name) == columns.code(name, label)
    for name, wanted in (("kind", where.kinds), ("tier", where.tiers), ("trust", where.trust)):
        if wanted is not None:
            yield _one_of(getattr(columns, name), {CODES[name][value] for value in wanted})


def _one_of(column: NDArray[np.uint8], codes: set[int]) -> Mask:
    found = np.zeros(len(column), np.bool_)
    for code in codes:
        np.logical_or(found, column == code, out=found)
    return found


def _ranges(where: Where, columns: ColumnTable) -> Iterator[Mask]:
    for name, low, high in (
        ("occurred", where.since, where.until),
        ("created", where.created_since, where.created_until),
        ("step", where.step_from, where.step_to),
        ("importance", where.importance_min, where.importance_max),
    ):
        if low is not None:
            yield getattr(columns, name) >= low
        if high is not None:
            yield getattr(columns, name) <= high


def _in_box(box: Box, columns: ColumnTable) -> Iterator[Mask]:
    for axis, low, high in zip("xyz", box.low, box.high, strict=False):
        values = _axis(columns, axis)
        yield values >= low
        yield values <= high


def _within(near: Near, columns: ColumnTable) -> Mask:
    total = np.zeros(len(columns))
    for axis, middle in zip("xyz", (*near.place, 0.0), strict=False):
        away = _axis(columns, axis) - middle
        total += np.multiply(away, away, out=away)
    return total <= near.radius * near.radius


def _axis(columns: ColumnTable, axis: str) -> Floats:
    values: Floats = getattr(columns, axis)
    return np.where(np.isnan(values), 0.0, values) if axis == "z" else values


def _mask_nested(where: Where, columns: ColumnTable, resolve: Resolve) -> Iterator[Mask]:
    for part in where.every:
        yield mask(part, columns, resolve)
    if where.some:
        found = mask(where.some[0], columns, resolve)
        for part in where.some[1:]:
            np.logical_or(found, mask(part, columns, resolve), out=found)
        yield found
    for part in where.never:
        yield ~mask(part, columns, resolve)


def among(seqs: Seqs, wanted: Seqs) -> Mask:
    """Returns a mask of the seqs that are wanted; both are sorted, and either may have extra values."""
    if not len(wanted):
        return np.zeros(len(seqs), np.bool_)
    at = np.minimum(np.searchsorted(wanted, seqs), len(wanted) - 1)
    found: Mask = wanted[at] == seqs
    return found
