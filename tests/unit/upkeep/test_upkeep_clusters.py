"""Near-duplicates are grouped around the first of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.models.embed import Vectors
from eidet.upkeep.consolidate import clusters


def turned(*degrees: float) -> Vectors:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_every_near_pair_among_many_is_found() -> None:
    dice = np.random.default_rng(3)
    vectors = dice.normal(size=(2_000, 64)).astype(np.float32)
    vectors[1_800:] = vectors[:200] + 0.1 * dice.normal(size=(200, 64))
    assert list(clusters(vectors, 0.9)) == [[n, 1_800 + n] for n in range(200)]


@pytest.mark.parametrize(("count", "threshold"), [(400, 0.99), (1_500, 0.9999)])
def test_every_member_is_near_its_first(count: int, threshold: float) -> None:
    degrees = np.random.default_rng(3).uniform(0, 360, count)
    groups = list(clusters(turned(*degrees), threshold))
    assert sum(map(len, groups)) > count / 2
    for first, *others in groups:
        away = [abs((degrees[first] - degrees[other] + 180) % 360 - 180) for other in others]
        assert max(away) <= np.degrees(np.arccos(threshold)) + 0.1


@settings(derandomize=True, deadline=None, max_examples=examples(60))
@given(st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), max_size=25), st.floats(0.5, 0.999))
def test_groups_share_no_row_and_no_leader_is_near_an_earlier_one(
    rows: list[list[int]], threshold: float
) -> None:
    vectors = np.array(rows, np.float32).reshape(-1, 3)
    groups = list(clusters(vectors, threshold))
    members = [row for group in groups for row in group]
    assert len(members) == len(set(members))
    assert all(group == sorted(group) for group in groups)
    led = {row for group in groups for row in group[1:]}
    leading = [n for n in range(len(rows)) if n not in led and vectors[n].any()]
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    assert all(unit[one] @ unit[two] < threshold for one in leading for two in leading if one < two)
