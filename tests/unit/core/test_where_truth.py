"""A filter is neither true nor false: `and` between two would silently drop one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eidet import BadInput, Condition, Memory, Where

ANN: Any = Where(who="Ann")
OLD: Any = Where(until=1.0)


@pytest.mark.parametrize(
    "use",
    [
        lambda: ANN and OLD,
        lambda: ANN or OLD,
        lambda: not ANN,
        lambda: bool(Where()),
        lambda: all((ANN, OLD)),
    ],
)
def test_filters_are_joined_by_signs_not_by_words(use: Callable[[], object]) -> None:
    with pytest.raises(BadInput, match=r"a & b"):
        use()


def test_conditions_are_joined_by_a_list() -> None:
    one: Any = Condition("data.a", "=", 1)
    other: Any = Condition("data.b", "=", 2)
    with pytest.raises(BadInput, match=r"conditions=\(a, b\)"):
        Where(conditions=(one and other,))


def test_nothing_is_forgotten_by_a_word_in_place_of_a_sign() -> None:
    with Memory(embedder="hashing:16") as memory:
        memory.remember(["one", "two"], who="Bob", occurred=0.5)
        with pytest.raises(BadInput):
            memory.forget(where=ANN and OLD)
        assert memory.count(where=ANN & OLD) == 0
        assert memory.count(where=OLD) == 2
