"""A vector database as the index of any store: it holds the vectors, the store stays the truth.

The database is one file with a class that has the methods of `Database`. What follows the store,
fills the database, and turns what it finds into candidates is the same for all of them: `VectorIndex`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ...core.errors import EidetError
from ...net.retry import Retrier, RetryPolicy
from .. import Floats

NAMED = 10_000  # records that a filter may name: Pinecone takes no more
UNIT_BITS = 12  # of a key of 63: seqs of stores that count microseconds fit beside them for a lifetime


class VectorLost(EidetError):
    """The database answers, but what it was filled with is not there any more."""


class VectorShelf(NamedTuple):
    """Holds the vectors of one scope and no other. We name it: letters, digits, - and _."""

    collection: str
    name: str
    width: int


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
    """When a scope goes to the database, and how."""

    small: int = 20_000  # scopes of up to so many records stay in RAM
    ship_rows: int = 1_000  # that wait in RAM before they are sent on
    tail_rows: int = 50_000  # a scope that lacks more is sent before it is first searched
    batch: int = 2_000  # records read from the store at once
    background: bool = True  # in a thread of its own, else before a search goes on
    lease_seconds: float = 60.0
    prefix: str = "Eidet"  # of the names of collections; begins with a capital letter


class Database(Protocol):
    """The port to a vector database. Safe for threads.

    Every call ends within the deadline of `line`, and raises `Unavailable` where trying again may
    help, `VectorLost` where collection or shelf are gone, and `Misconfigured` otherwise. All of them may be
    done twice. What was put is found when `settle_seconds` have passed.
    """

    retrier: Retrier
    most: int  # matches in one answer
    batch: int  # points in one request
    settle_seconds: float

    def prepare(self, shelf: VectorShelf) -> None:
        """Makes the collection and the shelf, if they are not there."""

    def put(self, shelf: VectorShelf, points: Sequence[Point]) -> None:
        """Adds points; one with the same key is replaced."""

    def remove(self, shelf: VectorShelf, seqs: Sequence[int]) -> None:
        """Removes all points of these records; not every one need be there."""

    def near(
        self, shelf: VectorShelf, vector: Floats, limit: int, *, seqs: Sequence[int] | None = None
    ) -> list[Match]:
        """The nearest points, best first; with `seqs` (at most `NAMED`), those of these records alone."""

    def count(self, shelf: VectorShelf) -> int:
        """The points of a shelf; 0 without it."""

    def discard(self, shelf: VectorShelf) -> None:
        """Removes a shelf and all that is on it, and its collection if that is then of no use."""

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
