"""Near-duplicates by their vectors, grouped around the first of each group."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadInput
from ..models.embed import Vectors

EXACT: Final = 8_192  # vectors that are compared with every leader; more are parted first
STRIDE: Final = 512  # rows compared at once

Rows = NDArray[np.intp]


def clusters(ids: Sequence[str], vectors: Vectors, threshold: float = 0.9) -> list[tuple[str, ...]]:
    """Groups of two or more ids, each within `threshold` (cosine) of the first one in its group.

    The first is the earliest in the order given: no chain of small steps joins what is far apart, and
    an id is in one group at most. Rows without length are alone.

    n rows of width d with k groups and single rows cost n * k * d up to 8,192 rows. Beyond that a row
    meets only the neighbours of its nearest two of sqrt(n) pivots: about n * sqrt(n) * d, never more
    than n * 16,384 * d; that missed 3 % of the pairs among 50,000 random vectors. Memory: the
    vectors once more, and `STRIDE` rows of cosines.
    """
    if len(ids) != len(vectors):
        raise BadInput(f"{len(ids):,} ids for {len(vectors):,} vectors: one each is needed")
    if not 0 < threshold <= 1:
        raise BadInput(f"a similarity threshold must be above 0 and at most 1, not {threshold!r}")
    unit, rows = _unit(vectors)
    leader = np.arange(len(ids))
    for part in _parts(unit, rows):
        _lead(unit, part, threshold, leader)
    return _groups(ids, leader)


def _lead(unit: Vectors, part: Rows, threshold: float, leader: Rows) -> None:
    """Gives each row that is alone so far the first leading row before it that is near enough."""
    rows = part[leader[part] == part]
    alone = ~np.isin(rows, leader[leader != np.arange(len(leader))])
    leaders = rows[:0]
    for start in range(0, len(rows), STRIDE):
        block = slice(start, start + STRIDE)
        new = _new_leaders(unit, rows[block], alone[block], leaders, threshold, leader)
        leaders = np.r_[leaders, new][-EXACT:]


def _new_leaders(
    unit: Vectors, block: Rows, alone: NDArray[np.bool_], leaders: Rows, threshold: float, leader: Rows
) -> Rows:
    """The rows of the block that no leader before them is near to."""
    least = threshold - 1e-6  # equal vectors have a cosine a little off 1
    if len(leaders):
        near = unit[block] @ unit[leaders].T >= least
        led = near.any(axis=1) & alone
        leader[block[led]] = leaders[near[led].argmax(axis=1)]
        block, alone = block[~led], alone[~led]
    near = unit[block] @ unit[block].T >= least
    for at, row in enumerate(block):
        if leader[row] == row:
            later, free = block[at + 1 :], alone[at + 1 :]
            leader[later[near[at, at + 1 :] & free & (leader[later] == later)]] = row
    own: Rows = block[leader[block] == block]
    return own


def _parts(unit: Vectors, rows: Rows) -> list[Rows]:
    """All rows, or of many the neighbourhoods of sqrt(n) pivots; each row is in those of its nearest two."""
    if len(rows) <= EXACT:
        return [rows]
    pivots = rows[np.linspace(0, len(rows) - 1, isqrt(len(rows))).astype(np.intp)]
    nearest = np.empty((len(rows), 2), np.intp)
    for start in range(0, len(rows), STRIDE):
        cosines = unit[rows[start : start + STRIDE]] @ unit[pivots].T
        nearest[start : start + STRIDE] = np.argpartition(-cosines, 1, axis=1)[:, :2]
    return [rows[(nearest == pivot).any(axis=1)] for pivot in range(len(pivots))]


def _groups(ids: Sequence[str], leader: Rows) -> list[tuple[str, ...]]:
    found: dict[int, list[str]] = {}
    for row, led_by in enumerate(leader.tolist()):
        found.setdefault(led_by, []).append(ids[row])
    return [tuple(group) for _, group in sorted(found.items()) if len(group) > 1]


def _unit(vectors: Vectors) -> tuple[Vectors, Rows]:
    """Rows of length one, and which rows have a length."""
    lengths = np.linalg.norm(vectors, axis=1)
    rows = np.flatnonzero(np.isfinite(lengths) & (lengths > 0))
    unit = np.zeros(vectors.shape, np.float32)
    unit[rows] = vectors[rows] / lengths[rows, None]
    return unit, rows
