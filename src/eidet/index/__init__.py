"""The index port: finds records of a store quickly. It follows the store and can always be rebuilt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..core.record import Place
from ..core.scope import Scope
from ..core.where import Where
from ..store import Head

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What to look for: a vector, terms, or neither, in one scope (or below it).

    `spelt` are the terms themselves: an index that knows the vectors of words may then say how well a
    record's words align with them, similar ones included. `names` (the
    terms of each), `session` and `place` filter nothing: of each candidate it is told which names it
    has, whether it is of that session, and how far from there. `head` is what the store's was when the
    question began, if that is known: all up to there is searched, and the store need not be asked again.
    """

    scope: Scope
    now: float
    where: Where | None = None
    vector: Floats | None = None
    terms: tuple[int, ...] = ()
    spelt: tuple[str, ...] = ()
    names: tuple[tuple[int, ...], ...] = ()
    session: str | None = None
    place: Place | None = None
    depth: int = 400
    head: Head | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """The lowest and highest score an arm gave to anything it looked at."""

    low: float = 0.0
    high: float = 0.0


@dataclass(slots=True, kw_only=True)
class Found:
    """Candidates by rising seq, one row each, with their scores in every arm and what ranks them further.

    All that passed where they are few, else the best `depth` of each arm and their neighbours in the
    session.

    dense     the cosine of the record's best unit; exact for the best
    words     BM25
    aligned   the share of the terms' weight that the record's words cover, if the index can tell
    spans     the ranges of those over all that was searched
    rarity    what all terms together weigh
    turn      the number of the record in its session, in the order it happened
    length    in terms; infinite for a record in several units
    who       the number of the speaker in `voices`
    days      (row, first day, last day) of the times the texts speak of
    mentions  by name: whether the record has all of its terms
    damaged   how many records of a tier cannot be read and were not searched
    notes     what else the answer lacks, in words
    inside    whether it is of the session asked for
    away      how far it is from the place asked for; NaN without a place
    """

    scopes: list[str] = field(default_factory=list)
    scope: NDArray[np.int32]
    seq: NDArray[np.int64]
    dense: Floats
    words: Floats
    aligned: Floats | None = None
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
    away: NDArray[np.float64] | None = None
    spans: dict[str, Span]
    rarity: float = 0.0
    damaged: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    searched: int = 0
    kept: int = 0

    def __len__(self) -> int:
        return len(self.seq)


class Neighbours(NamedTuple):
    """A record's turn in its session, and who stands beside it: (seq, turn), nearest first."""

    turn: int
    beside: tuple[tuple[int, int], ...]


class Index(Protocol):
    """Searches what a store holds. What the store acknowledged before a search began is found by it.

    Where a question says the `head` it knows, what was acknowledged up to there.
    """

    def search(self, probe: Probe) -> Found:
        """Candidates that pass `probe.where` and have not expired at `probe.now`."""

    def select(
        self, scope: Scope, where: Where | None, *, now: float, order: str, limit: int
    ) -> list[tuple[str, int]]:
        """(scope, seq) of the records that pass, by a column: see `eidet.store.ORDERS` (not `uses`)."""

    def around(
        self, scope: str, seqs: Sequence[int], reach: int, where: Where | None, *, now: float
    ) -> dict[int, Neighbours]:
        """For each record that has a session: its turn, and up to `reach` records after and before it.

        Only living ones that pass the filter; a record that is none of them is left out.
        """

    def voices(self, scope: Scope, head: Head | None = None) -> tuple[str, ...]:
        """Who speaks in a scope (or below it): every `who` of its records."""

    def follow(self, scope: str) -> None:
        """Learns what changed in a scope, if it is one that the index holds ready: recalls need not then."""

    def cleanse(self, scope: str) -> list[str]:
        """Takes what is gone from a scope out of wherever the index keeps it, before it returns.

        What could not be taken out yet is told in words.
        """

    def rebuild(self, scope: str) -> int:
        """Builds a scope's index anew from the store; how many records it holds."""

    def check(self, scope: str) -> list[str]:
        """Where index and store disagree, in words; empty when they agree."""

    def stats(self) -> dict[str, Any]: ...

    def close(self) -> None:
        """Keeps what is worth keeping and releases the rest; closing twice is fine."""
