from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from eidet.core.errors import BadInput, Misconfigured
from eidet.models.embed import Vectors
from eidet.models.embed.hashing import Hashing
from eidet.models.embed.vector_cache import Cached


class Counting:
    """Hashing that notes what it was asked."""

    def __init__(self, width: int = 16, name: str = "counting") -> None:
        self.name = name
        self.width = width
        self.asked: list[list[str]] = []
        self._inner = Hashing(width)

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(list(texts))
        return self._inner.embed(texts)


def test_a_text_is_embedded_once() -> None:
    inner = Counting()
    cached = Cached(inner)
    first = cached.embed(["a b", "c"])
    np.testing.assert_array_equal(cached.embed(["c", "a b"]), first[::-1])
    assert inner.asked == [["a b", "c"]]


def test_only_missing_texts_are_passed_on_each_once_in_one_call() -> None:
    inner = Counting()
    cached = Cached(inner)
    cached.embed(["old"])
    rows = cached.embed(["new", "old", "new", "newer"])
    assert inner.asked[1:] == [["new", "newer"]]
    np.testing.assert_array_equal(rows, Hashing(16).embed(["new", "old", "new", "newer"]))


def test_the_least_recently_used_text_is_forgotten_first() -> None:
    inner = Counting()
    cached = Cached(inner, size=2)
    cached.embed(["a", "b"])
    cached.embed(["a"])
    cached.embed(["c"])
    cached.embed(["a", "b"])
    assert inner.asked == [["a", "b"], ["c"], ["b"]]


def test_one_call_may_have_more_texts_than_fit() -> None:
    texts = [f"text {number}" for number in range(50)]
    cached = Cached(Counting(), size=3)
    np.testing.assert_array_equal(cached.embed(texts), Hashing(16).embed(texts))
    assert len(cached._rows) == 3


def test_a_size_below_one_is_refused() -> None:
    with pytest.raises(BadInput, match="at least 1"):
        Cached(Counting(), size=0)


def test_a_bad_answer_is_not_kept() -> None:
    class Bad(Counting):
        def embed(self, texts: Sequence[str]) -> Vectors:
            rows = super().embed(texts)
            return rows * np.float32("nan") if len(self.asked) == 1 else rows

    cached = Cached(Bad())
    with pytest.raises(Misconfigured, match="NaN"):
        cached.embed(["a"])
    assert np.isfinite(cached.embed(["a"])).all()
