"""Vectors on a plane: the two directions in which they differ most (principal components)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..models.embed.quantise import first_rows

NOISE: Final = 1e-6  # differences below this come from rounding
EDGE: Final = 99.0  # percent of the points fill the plane; the others are drawn in from outside


def project_vectors(
    vectors: Sequence[bytes | None], levels: Sequence[int], width: int
) -> tuple[list[float], list[float]]:
    """x and y of each vector in -1 to 1, the same for the same vectors; 0 where there is none."""
    rows = first_rows(vectors, levels, width)
    has = np.any(rows, axis=1)
    plane = np.zeros((len(rows), 2))
    if has.sum() > 2:
        plane[has] = _fit_square(_main_components(rows[has]))
    return plane[:, 0].round(4).tolist(), plane[:, 1].round(4).tolist()


def _main_components(rows: NDArray[Any]) -> NDArray[Any]:
    centred = rows - rows.mean(axis=0)
    spread = centred.T @ centred
    _, axes = np.linalg.eigh(spread)
    best = axes[:, [-1, -2]]
    signs = np.sign(best[np.abs(best).argmax(axis=0), [0, 1]])  # an axis has no direction of its own
    plane: NDArray[Any] = centred @ (best * signs)
    return plane


def _fit_square(plane: NDArray[Any]) -> NDArray[Any]:
    """Most points within -0.9 to 0.9; what lies further out comes close to the edge."""
    reach = np.percentile(np.abs(plane), EDGE, axis=0)
    scaled = plane / np.where(reach > NOISE, reach, np.inf) * 0.9
    beyond = np.abs(scaled) > 0.9
    far = np.sign(scaled) * (0.9 + 0.1 * np.tanh((np.abs(scaled) - 0.9) * 2))
    fitted: NDArray[Any] = np.where(beyond, far, scaled)
    return fitted
