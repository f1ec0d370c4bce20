"""A vector database as the index of any store: it holds the vectors, the store stays authoritative.

Each database is one file with a class that has the methods of `Database`. `VectorIndex`, the same for all,
follows the store, fills the database and turns its matches into candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ...net.retry import Retrier, RetryPolicy
from .. import Floats
from ..fill import Shelves, VectorLost, VectorShelf

NAMED = 10_000  # records that a filter may list: Pinecone's limit
UNIT_BITS = 12  # of a key of 63 bits; the rest holds seqs, even of stores that count microseconds


class Point(NamedTuple):
    """One unit of a record. The vector has length one."""

    key: int
    vector: Floats

    @property
    def seq(self) -> int:
        return self.key >> UNIT_BITS


class Match(NamedTuple):
    """The key of a point and its cosine with the query."""

    key: int
    score: float


def key_of(seq: int, unit: int) -> int:
    return seq << UNIT_BITS | unit


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSettings:
    """The size from which on a scope goes to the database, and how it is sent."""

    small: int = 20_000  # records up to which a scope stays in RAM
    ship_rows: int = 1_000  # new rows that wait in RAM before they are sent
    batch: int = 2_000  # records read from the store at once
    background: bool = True  # send in a thread; else before a search continues
    lease_seconds: float = 60.0
    prefix: str = "Eidet"  # of collection names; begins with a capital letter


class Database(Shelves[Point], Protocol):
    """The port to a vector database: shelves of points that can be searched. `retrier` makes its calls."""

    retrier: Retrier
    most: int  # matches in one answer

    def near(
        self, shelf: VectorShelf, vector: Floats, limit: int, *, seqs: Sequence[int] | None = None
    ) -> list[Match]:
        """Returns the nearest points, best first; with `seqs` (at most `NAMED`), only of these records."""

    def count(self, shelf: VectorShelf) -> int:
        """Counts the points of a shelf; 0 if there is no such shelf."""

    def close(self) -> None: ...


__all__ = [
    "NAMED",
    "Database",
    "Match",
    "Point",
    "RetryPolicy",
    "VectorLost",
    "VectorSettings",
    "VectorShelf",
    "key_of",
]
