"""The index port: finds records of a store quickly. It follows the store and can always be rebuilt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..model import Scope
from ..where import Where

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What to look for: a vector, term ids, or neither, in one scope (or below it)."""

    scope: Scope
    now: float
    where: Where | None = None
    vector: Floats | None = None
    terms: tuple[int, ...] = ()
    depth: int = 100


@dataclass(frozen=True, slots=True)
class Span:
    """The lowest and highest score an arm gave to anything it looked at."""

    low: float = 0.0
    high: float = 0.0


@dataclass(slots=True, kw_only=True)
class Found:
    """Candidates by rising seq: the best `depth` of each arm, every one with its score in both.

    Cosine in `dense` (exact for the better half), BM25 in `words`; `spans` tells the range each arm
    had over all it searched.
    """

    scopes: list[str] = field(default_factory=list)
    scope: NDArray[np.int32]
    seq: NDArray[np.int64]
    dense: Floats
    words: Floats
    importance: NDArray[np.float64]
    occurred: NDArray[np.float64]
    spans: dict[str, Span]
    searched: int = 0
    kept: int = 0

    def __len__(self) -> int:
        return len(self.seq)


class Index(Protocol):
    """Searches what a store holds. What the store acknowledged before a search began is found by it."""

    def search(self, probe: Probe) -> Found:
        """Candidates that pass `probe.where` and have not expired at `probe.now`."""

    def select(
        self, scope: Scope, where: Where | None, *, now: float, order: str, limit: int
    ) -> list[tuple[str, int]]:
        """(scope, seq) of the records that pass, by a column: see `eidet.store.ORDERS` (not `uses`)."""

    def rebuild(self, scope: str) -> int:
        """Builds a scope's index anew from the store; how many records it holds."""

    def check(self, scope: str) -> list[str]:
        """Where index and store disagree, in words; empty when they agree."""

    def stats(self) -> dict[str, Any]: ...

    def close(self) -> None:
        """Keeps what is worth keeping and releases the rest; closing twice is fine."""
