"""What is too large is refused at once, with the limit in the error."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eidet import BadInput, Condition, Memory, Where
from eidet.core import validate


def test_every_limit_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "operate" / "security.md").read_text()
    for name, value in vars(validate).items():
        if name.isupper() and isinstance(value, int):
            assert f"{value:,}" in page, name


def nest_shared(depth: int) -> Any:
    """A small value in RAM that is huge once it is written out."""
    value: Any = ["x" * 100]
    for _ in range(depth):
        value = [value] * 10
    return value


def nest(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


CONDITION = Condition("data.a", "=", 1)
TOO_MUCH: dict[str, tuple[Callable[[Memory], object], str]] = {
    "query": (lambda m: m.recall("x" * 10_000_000), "a query has at most 100,000 characters"),
    "context": (lambda m: m.context("x " * 5_000_000), "a query has at most 100,000 characters"),
    "data": (lambda m: m.remember("x", data={"a": "x" * 10_000_001}), "data is larger than 10,000,000"),
    "meta": (lambda m: m.remember("x", meta={"a": "x" * 10_000_001}), "meta is larger than 10,000,000"),
    "keys": (lambda m: m.remember("x", data={"x" * 10_000_001: 1}), "data is larger than 10,000,000"),
    "shared": (lambda m: m.remember("x", data=nest_shared(100)), "data is larger than 10,000,000"),
    "revise": (lambda m: m.revise("there", data=nest_shared(9)), "data is larger than 10,000,000"),
    "depth": (lambda m: m.remember("x", data=nest(201)), "nested more than 200 levels deep"),
    "meta depth": (lambda m: m.remember("x", meta={"a": nest(200)}), "nested more than 200 levels deep"),
    "derived_from": (lambda m: m.remember("x", derived_from=["a"] * 10_001), "at most 10,000 are allowed"),
    "conditions": (lambda m: m.find(Where(conditions=(CONDITION,) * 2001)), "at most 2,000 are allowed"),
    "nested": (
        lambda m: m.count(Where(some=tuple(Where(conditions=(CONDITION,) * 52) for _ in range(40)))),
        "at most 2,000 are allowed, and there are 2,080",
    ),
    "parts": (lambda m: m.forget(where=Where(some=(Where(who="a"),) * 2001)), "at most 2,000 are allowed"),
    "in": (
        lambda m: m.find(Where(conditions=(Condition("data.a", "in", range(1_000_001)),))),
        "at most 1,000,000 are allowed",
    ),
    "condition": (
        lambda m: m.find(Where(conditions=(Condition("data.a", "=", nest_shared(9)),))),
        "is larger than",
    ),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_is_too_large_is_refused_at_once(name: str) -> None:
    ask, why = TOO_MUCH[name]
    with Memory(embedder="hashing:16") as memory:
        memory.remember("already there", id="there")
        started = time.thread_time()
        with pytest.raises(BadInput, match=re.escape(why)):
            ask(memory)
        assert time.thread_time() - started < 3
        assert memory.count() == 1


def test_what_is_just_small_enough_is_taken() -> None:
    with Memory(embedder="hashing:16") as memory:
        memory.remember("x", data=nest(200), derived_from=["a"] * 10_000, id="x")
        assert memory.find(Where(conditions=(Condition("data.0", "exists"),) * 2000))[0].id == "x"
        assert memory.recall("x" * 100_000) is not None
