"""Limits of time that hold on a busy machine: what is late by itself is late each time that it is done."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

T = TypeVar("T")

ATTEMPTS = 6
PATIENCE = 120.0  # seconds; only what never happens takes as long


def until(true: Callable[[], object], seconds: float = PATIENCE, *, pause: float = 0.005) -> None:
    """Waits until something is so; what is costly to ask is asked with longer pauses."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(pause)


def within(seconds: float, do: Callable[[], T]) -> T:
    """What a call returns that took less time than this; a call that was late is made again."""
    took = []
    for _ in range(ATTEMPTS):
        started = time.monotonic()
        answer = do()
        took.append(time.monotonic() - started)
        if took[-1] < seconds:
            return answer
    raise AssertionError(f"it took {', '.join(f'{one:.2f}' for one in took)} s, not {seconds} s at most")


def raised_within(
    seconds: float, error: type[Exception], do: Callable[[], object], match: str | None = None
) -> Any:
    """The error that a call raises in less time than this."""

    def fail() -> Exception:
        with pytest.raises(error, match=match) as caught:
            do()
        return caught.value

    return within(seconds, fail)
