"""Vectors on a plane: groups stay apart, missing and lowered vectors do no harm, always the same."""

from __future__ import annotations

import numpy as np

from eidet.index.embedded.vectors import project_vectors
from eidet.models.embed.quantise import pack_rows, quantise

WIDTH = 32


def two_groups(count: int) -> list[bytes]:
    dice = np.random.default_rng(7)
    rows = dice.normal(0, 0.1, (2 * count, WIDTH)).astype(np.float32)
    rows[:count, 0] += 1.0
    rows[count:, 1] += 1.0
    return pack_rows(rows)


def test_groups_that_differ_lie_apart_within_the_square() -> None:
    vectors = two_groups(50)
    x, y = project_vectors(vectors, [0] * 100, WIDTH)
    assert max(map(abs, x)) <= 1
    assert max(map(abs, y)) <= 1
    assert (min(x[:50]) > max(x[50:])) or (max(x[:50]) < min(x[50:]))


def test_lowered_and_missing_vectors_find_a_place() -> None:
    vectors = two_groups(20)
    levels = [0, 1, 2] * 13 + [0]
    kept: list[bytes | None] = [
        quantise(one, level, WIDTH) for one, level in zip(vectors, levels, strict=True)
    ]
    kept[5] = None
    x, y = project_vectors(kept, levels, WIDTH)
    assert (x[5], y[5]) == (0.0, 0.0)
    assert len(x) == len(y) == 40
