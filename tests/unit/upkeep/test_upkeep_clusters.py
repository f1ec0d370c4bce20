"""Near-duplicates are grouped around the first of them."""

from __future__ import annotations

import numpy as np
import pytest

from eidet.models.embed import Vectors
from eidet.upkeep import consolidate as module
from eidet.upkeep.consolidate import clusters


def turned(*degrees: float) -> Vectors:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_many_are_parted_around_pivots_and_nearly_all_pairs_found(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = np.random.default_rng(3)
    vectors = dice.normal(size=(2_000, 64)).astype(np.float32)
    vectors[1_800:] = vectors[:200] + 0.1 * dice.normal(size=(200, 64))
    exact = clusters([str(n) for n in range(2_000)], vectors)
    monkeypatch.setattr(module, "EXACT", 500)
    parted = clusters([str(n) for n in range(2_000)], vectors)
    assert exact == [(str(n), str(1_800 + n)) for n in range(200)]
    assert set(parted) <= set(exact)
    assert len(parted) >= 0.95 * len(exact)


@pytest.mark.parametrize(("count", "threshold"), [(400, 0.99), (1_000, 0.9999)])
def test_overlapping_parts_keep_every_member_near_its_first(
    count: int, threshold: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "EXACT", 20)
    monkeypatch.setattr(module, "STRIDE", 8)
    for seed in range(3):
        degrees = np.random.default_rng(seed).uniform(0, 360, count)
        groups = clusters([str(n) for n in range(count)], turned(*degrees), threshold=threshold)
        members = [id for group in groups for id in group]
        assert len(members) == len(set(members)) > count / 2
        for first, *others in groups:
            away = [abs((degrees[int(first)] - degrees[int(other)] + 180) % 360 - 180) for other in others]
            assert max(away) <= np.degrees(np.arccos(threshold)) + 0.1
