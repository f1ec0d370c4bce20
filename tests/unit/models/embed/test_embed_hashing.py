from __future__ import annotations

import numpy as np
import pytest

from eidet.core.errors import BadInput
from eidet.models.embed.hashing import Hashing


def test_the_width_may_be_a_string() -> None:
    assert (Hashing("128").width, Hashing("128").name) == (128, "hashing:128")


@pytest.mark.parametrize("width", ["", "wide", 0, -3])
def test_a_width_that_is_not_a_positive_number_is_refused(width: int | str) -> None:
    with pytest.raises(BadInput, match="width"):
        Hashing(width)


def test_rows_never_change_between_versions() -> None:
    row = Hashing(8).embed(["Ann lives in Lisbon"])[0]
    expected = [0.345643, 0.499262, 0.268833, 0.345643, 0.0, -0.115214, 0.0, -0.652881]
    np.testing.assert_allclose(row, expected, atol=1e-6)


def test_shared_words_are_nearer_than_shared_letters_than_nothing() -> None:
    rows = Hashing().embed(["the red house", "a red house", "redder housing", "quick brown fox"])
    same, similar, other = (float(rows[0] @ rows[at]) for at in (1, 2, 3))
    assert same > similar > other


def test_case_does_not_matter() -> None:
    one, other = Hashing().embed(["LISBON", "lisbon"])
    np.testing.assert_array_equal(one, other)
