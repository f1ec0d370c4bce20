"""Near-duplicates are grouped around the first of them."""

from __future__ import annotations

import numpy as np
import pytest

from eidet.core.errors import BadInput
from eidet.models.embed import Vectors
from eidet.upkeep import consolidate as module
from eidet.upkeep.consolidate import clusters


def turned(*degrees: float) -> Vectors:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_what_is_near_is_grouped_and_the_rest_left_alone() -> None:
    assert clusters(["a", "b", "c", "d"], turned(0, 90, 5, 180)) == [("a", "c")]


def test_no_chain_joins_what_is_far_apart() -> None:
    assert clusters(["a", "b", "c"], turned(0, 20, 40), threshold=0.9) == [("a", "b")]


def test_the_earliest_leads_whatever_is_nearest() -> None:
    assert clusters(["a", "b", "c"], turned(0, 30, 20), threshold=0.9) == [("a", "c")]


def test_lengths_do_not_matter() -> None:
    assert clusters(["a", "b"], turned(0, 3) * np.array([[1e-3], [1e3]], np.float32)) == [("a", "b")]


def test_equal_vectors_are_grouped_at_the_highest_threshold() -> None:
    same = np.random.default_rng(1).normal(size=(1, 256)).astype(np.float32).repeat(5, axis=0)
    assert clusters(list("abcde"), same, threshold=1.0) == [tuple("abcde")]


def test_vectors_without_length_or_number_are_alone() -> None:
    assert clusters(["a", "b"], np.zeros((2, 4), np.float32)) == []
    assert clusters(["a", "b"], np.full((2, 4), np.nan, np.float32)) == []


def test_nothing_has_no_groups() -> None:
    assert clusters([], np.zeros((0, 4), np.float32)) == []


def test_groups_reach_over_the_blocks_they_are_compared_in() -> None:
    vectors = np.random.default_rng(2).normal(size=(1_500, 64)).astype(np.float32)
    vectors[1_400] = vectors[3]
    vectors[700] = vectors[3]
    assert clusters([str(n) for n in range(1_500)], vectors) == [("3", "700", "1400")]


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


def test_equal_vectors_stay_together_when_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EXACT", 100)
    assert [
        len(group) for group in clusters([str(n) for n in range(900)], np.ones((900, 8), np.float32))
    ] == [900]


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(BadInput, match="one each"):
        clusters(["a"], turned(0, 1))
    for wrong in (0.0, -1.0, 1.5, float("nan")):
        with pytest.raises(BadInput, match="threshold"):
            clusters(["a"], turned(0), threshold=wrong)
