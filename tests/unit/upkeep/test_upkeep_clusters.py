"""Near-duplicates are grouped around the first of them."""

from __future__ import annotations

import numpy as np
import pytest

from eidet.models.embed import Vectors
from eidet.upkeep.consolidate import clusters


def turned(*degrees: float) -> Vectors:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_every_near_pair_among_many_is_found() -> None:
    dice = np.random.default_rng(3)
    vectors = dice.normal(size=(2_000, 64)).astype(np.float32)
    vectors[1_800:] = vectors[:200] + 0.1 * dice.normal(size=(200, 64))
    assert clusters([str(n) for n in range(2_000)], vectors) == [(str(n), str(1_800 + n)) for n in range(200)]


@pytest.mark.parametrize(("count", "threshold"), [(400, 0.99), (1_500, 0.9999)])
def test_every_member_is_near_its_first(count: int, threshold: float) -> None:
    for seed in range(3):
        degrees = np.random.default_rng(seed).uniform(0, 360, count)
        groups = clusters([str(n) for n in range(count)], turned(*degrees), threshold=threshold)
        members = [id for group in groups for id in group]
        assert len(members) == len(set(members)) > count / 2
        for first, *others in groups:
            away = [abs((degrees[int(first)] - degrees[int(other)] + 180) % 360 - 180) for other in others]
            assert max(away) <= np.degrees(np.arccos(threshold)) + 0.1
