"""The index port: finds records of a store quickly. It follows the store and can always be rebuilt.

A memory searches through an `Index`. To use another search engine, implement the smaller `Finder`, which
finds the matching records of a scope; `index.outside.OutsideIndex` makes it an `Index`.
To use a vector database, implement `index.vectordb.Database`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..core.scope import Scope
from ..core.validate import Json
from ..core.where import Where
from ..store import Head
from .turn_line import TurnLine

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]
Seqs = NDArray[np.int64]
ValuePath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """Further parts of the question that candidates are compared with. Hints filter nothing.

    spelt    the terms as words: an index with vectors of words aligns similar ones, too
    names    the terms of each name that the question mentions
    sessions the names of the sessions asked for
    """

    spelt: tuple[str, ...] = ()
    names: tuple[tuple[int, ...], ...] = ()
    sessions: tuple[str, ...] = ()


class WordStatistics(NamedTuple):
    """The term statistics of one or several scopes, for BM25.

    holding  the number of units that contain each term of the question
    units    the number of units, and `terms` the number of terms in all of them
    """

    holding: tuple[int, ...]
    units: int
    terms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A search in one scope (or below it), by a vector, terms, both or neither.

    `head` is the store's head when the question began, if known: the search covers everything up to it
    and does not ask the store again. `statistics` cover all scopes of the question, if the index can count
    them first, so that word scores are comparable. `floors` are the scores, by vector and by words, that
    `depth` records of other scopes reach: a record below both is no candidate.
    """

    scope: Scope
    now: float
    where: Where | None = None
    vector: Floats | None = None
    terms: tuple[int, ...] = ()
    depth: int = 400
    head: Head | None = None
    hints: Hints = Hints()
    statistics: WordStatistics | None = None
    floors: tuple[float, float] = (-math.inf, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A `Finder`'s answer: the records of one scope that match, by seq, in any order. Eidet scores them.

    statistics  the term statistics of the scope for BM25; by default, those of the records given
    leading     seqs whose neighbours in the session are candidates, too
    searched    the number of records, and `kept` the number that pass; by default, the store counts them
    """

    seq: Seqs
    statistics: WordStatistics | None = None
    leading: Sequence[int] = ()
    searched: int | None = None
    kept: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """The properties that rank candidates beside their scores, one row per candidate.

    aligned   the share of the terms' weight that the record's words cover, if the index computes it
    turn      the number of the record in its session, in the order it happened
    length    the number of terms; infinite for a record in several units
    who       the number of the speaker in `voices`
    days      (row, first day, last day) of the times that the texts mention
    mentions  for each name, whether the record has all of its terms
    inside    whether it belongs to a session asked for
    line      the turns in order, if the index keeps them between questions
    """

    importance: NDArray[np.float64]
    occurred: NDArray[np.float64]
    session: NDArray[np.int32]
    turn: NDArray[np.int32]
    who: NDArray[np.int32]
    kind: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    length: Floats
    days: NDArray[np.int32]
    voices: tuple[str, ...] = ()
    mentions: tuple[NDArray[np.bool_], ...] = ()
    inside: NDArray[np.bool_] | None = None
    aligned: Floats | None = None
    line: TurnLine | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Records by ascending seq, one row each, with their scores in both arms and their traits.

    If few records passed, all of them; else the best `depth` of each arm and their neighbours in the
    session.

    scope     the number of its scope in `scopes`
    dense     the cosine of the record's best unit; exact for the best
    words     BM25
    rarity    the weight of all terms together
    searched  the number of records, and `kept` the number that passed the filter
    damaged   the number of records by tier that cannot be read and were not searched
    notes     sentences on what else the answer lacks
    """

    scopes: list[str]
    scope: NDArray[np.int32]
    seq: Seqs
    dense: Floats
    words: Floats
    traits: Traits
    rarity: float = 0.0
    searched: int = 0
    kept: int = 0
    damaged: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.seq)


class ValueMatch(NamedTuple):
    """How the values of records at one path fit a value that is wanted, one row per record.

    number  the value if it is a number, else NaN
    equal   whether it equals the one wanted, and `known` whether there is any
    shared  the share of the wanted items that it has, if both are lists
    """

    number: NDArray[np.float64]
    equal: NDArray[np.bool_]
    known: NDArray[np.bool_]
    shared: NDArray[np.float64]


class Neighbours(NamedTuple):
    """A record's turn in its session, and the records beside it as (seq, turn), nearest first."""

    turn: int
    beside: tuple[tuple[int, int], ...]


@runtime_checkable
class Finder(Protocol):
    """An outside search engine, which finds the matching records of a scope."""

    def find(self, scope: str, probe: Probe) -> Found:
        """Finds the records of one scope that pass `probe.where` and have not expired at `probe.now`.

        Returns all of them if they are few, else the best `probe.depth` of each arm. Finds everything
        that the store acknowledged before the call.
        """

    def close(self) -> None:
        """Releases its resources; closing twice is harmless."""


@runtime_checkable
class ListsRecords(Protocol):
    """A finder that lists sessions and speakers faster than the store does."""

    def list_turns(self, scope: str, sessions: Sequence[str]) -> list[list[int]]:
        """Lists the seqs of each session in order of time; leaves out sessions without records."""

    def list_voices(self, scope: str) -> tuple[str, ...]:
        """Lists every `who` of a scope."""


@runtime_checkable
class Index(Protocol):
    """Searches the records of a store. A search finds everything acknowledged before it began.

    If the question gives a `head`, it finds everything acknowledged up to that head.
    """

    def search(self, probe: Probe) -> Candidates:
        """Returns candidates that pass `probe.where` and have not expired at `probe.now`."""

    def select(
        self, scope: Scope, where: Where | None, *, now: float, order: str, limit: int
    ) -> list[tuple[str, int]]:
        """Lists (scope, seq) of the records that pass, in one of `eidet.store.ORDERS` except `uses`."""

    def around(
        self, scope: str, seqs: Sequence[int], reach: int, where: Where | None, *, now: float
    ) -> dict[int, Neighbours]:
        """Returns, for each record with a session, its turn and up to `reach` records before and after it.

        Deleted or expired records and those that do not pass the filter are neither keys nor neighbours.
        """

    def match_values(
        self, scope: str, seqs: Seqs, wanted: Mapping[ValuePath, Json]
    ) -> dict[ValuePath, ValueMatch]:
        """Compares values of records, by ascending seq, with those wanted at paths as in `Condition`."""

    def voices(self, scope: Scope, head: Head | None = None) -> tuple[str, ...]:
        """Lists the speakers of a scope (or below it): every `who` of its records."""

    def follow(self, scope: str) -> None:
        """Applies the changes of a scope ahead of recalls, if the index has the scope loaded."""

    def cleanse(self, scope: str) -> list[str]:
        """Removes a scope's erased records from every place where the index keeps them, before it returns.

        Returns sentences on what could not be removed yet.
        """

    def rebuild(self, scope: str) -> int:
        """Rebuilds a scope's index from the store. Returns the number of records."""

    def check(self, scope: str) -> list[str]:
        """Lists the differences between index and store as sentences; empty if they agree."""

    def stats(self) -> dict[str, Any]: ...

    def close(self) -> None:
        """Saves cache files where they pay and releases all resources. Closing twice is harmless."""
