"""Results of several tiers as one list, without sorting them again."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

from .reader import Scored, by_score

T = TypeVar("T")


def merge_sorted(parts: Sequence[Iterable[T]], key: Callable[[T], Any], limit: int | None = None) -> list[T]:
    """Lists that are sorted by `key`, merged by a heap: n items of k lists take O(n log k)."""
    return list(islice(heapq.merge(*parts, key=key), limit))


def _newest(one: Scored) -> tuple[float, int]:
    return -one.record.occurred, -one.record.seq


def _by_step(one: Scored) -> tuple[bool, float, int]:
    step = one.record.step
    return step is None, step or 0, one.record.seq


def _latest_step(one: Scored) -> tuple[bool, float, int]:
    step = one.record.step
    return step is None, -(step or 0), -one.record.seq


KEYS: Final[dict[str, Callable[[Scored], Any]]] = {
    "score": by_score,
    "step": _by_step,
    "-step": _latest_step,
    "-occurred": _newest,
}
