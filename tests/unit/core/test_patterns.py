"""Regular expressions of filters: an answer, or a clear refusal where a search takes too long."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from eidet import BadInput, Condition, Memory, Where
from eidet.core.condition import SECONDS, compile_pattern
from eidet.core.validate import REGEX_CHARS

RUNAWAY = (
    "(a+)+b",
    "(a|a)*b",
    "(a|aa)+$b",
    r"(\w+\s?)*x",
    ".*.*.*x",
    "(?:a?){40}a{40}b",
    "(.*)*b",
    "a*b",
    "(a*)*$b",
)


@pytest.mark.parametrize("pattern", RUNAWAY)
def test_no_pattern_runs_away(pattern: str) -> None:
    started = time.process_time()
    for _ in range(2):
        with suppress(BadInput):  # it takes too long
            assert compile_pattern(pattern)("a" * 20_000) is False
    assert time.process_time() - started < 10 * SECONDS


@pytest.mark.parametrize(
    ("pattern", "why"),
    [("(", "is not a regular expression"), ("a" * (REGEX_CHARS + 1), "at most 1,000 characters")],
)
def test_what_is_no_pattern_is_refused(pattern: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        Condition("data.a", "regex", pattern)


def test_the_longest_pattern_is_found_in_time() -> None:
    long = "x" * (REGEX_CHARS - 10)
    started = time.process_time()
    assert compile_pattern(rf"(?is)\A{long}\Z")(long.upper())
    assert time.process_time() - started < 10 * SECONDS


@pytest.mark.parametrize("place", [None, "file"])
def test_a_filter_cannot_hang_a_memory(place: str | None, tmp_path: object) -> None:
    where = Where(conditions=(Condition("data.name", "regex", "(a+)+b"),))
    with Memory(None if place is None else f"{tmp_path}/m.db", embedder="hashing:16") as memory:
        memory.remember([{"name": "a" * 50_000 + str(number)} for number in range(50)])
        started = time.process_time()
        for ask in (memory.find, memory.count, lambda where: memory.recall("two", where=where)):
            with pytest.raises(BadInput, match="takes too long"):
                ask(where)
        assert time.process_time() - started < 10 * SECONDS
        assert memory.count(Where(conditions=(Condition("data.name", "regex", "7$"),))) == 5
