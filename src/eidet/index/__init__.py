"""The index port: finds records of a store quickly. It follows the store and can always be rebuilt.

`Index` is what a memory asks. Whoever brings a search engine of their own need not write one: a `Finder`
says which records of a scope match and how well, and `index.outside.OutsideIndex` makes an `Index` of it.
Whoever brings a vector database writes `index.vectordb.Database`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..core.record import Place
from ..core.scope import Scope
from ..core.where import Where
from ..store import Head
from .turn_line import TurnLine

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]
Seqs = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What candidates are compared with beside their scores. Hints filter nothing.

    spelt    the terms as words: an index that knows vectors of words aligns similar ones, too
    names    the terms of each name that the question mentions
    sessions the names of sessions
    place    from where distances are measured
    """

    spelt: tuple[str, ...] = ()
    names: tuple[tuple[int, ...], ...] = ()
    sessions: tuple[str, ...] = ()
    place: Place | None = None


class WordStatistics(NamedTuple):
    """The term statistics that BM25 needs of one or several scopes.

    holding  in how many units each term of the question occurs
    units    how many units there are, and `terms` how many terms they have in all
    """

    holding: tuple[int, ...]
    units: int
    terms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A search: a vector, terms, both or neither, in one scope (or below it).

    `head` is the store's head when the question began, if that is known: the search covers everything up
    to there, and need not ask the store again. `statistics` are of all scopes that a question is about, for
    an index that can count them first: scores of words are comparable then. `floors` are the scores, by
    vector and by words, that `depth` records of other scopes reach: what has neither is no candidate.
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


@dataclass(frozen=True, slots=True)
class Span:
    """The lowest and highest score an arm gave to anything it looked at."""

    low: float = 0.0
    high: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """A `Finder`'s answer: records of one scope by seq, in any order, with their scores.

    dense       the cosine of the record's best unit; None: Eidet compares the vectors of the records
    words       BM25; None: Eidet counts with `statistics`, or not at all without them
    spans       by arm: the range of scores over all that was searched; by default, over the records given
    lowest      the lowest cosine of all that passed, where the records given are not all of them
    rarity      what all terms together weigh; 0 means that the best record counts as having all of them
    leading     seqs whose neighbours in the session are candidates, too
    searched    how many records there are, and `kept` how many pass; by default, the store counts them
    notes       what the answer lacks, in words
    """

    seq: Seqs
    dense: Floats | None = None
    words: Floats | None = None
    statistics: WordStatistics | None = None
    spans: Mapping[str, Span] = field(default_factory=dict)
    lowest: float | None = None
    rarity: float = 0.0
    leading: Sequence[int] = ()
    searched: int | None = None
    kept: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What ranks candidates beside their scores, one row each, made from columns of the records.

    aligned   the share of the terms' weight that the record's words cover, if the index can tell
    turn      the number of the record in its session, in the order it happened
    length    in terms; infinite for a record in several units
    who       the number of the speaker in `voices`
    days      (row, first day, last day) of the times the texts speak of
    mentions  by name: whether the record has all of its terms
    inside    whether it is of a session asked for
    away      how far it is from the place asked for; NaN without a place
    line      the turns in their order, if the index keeps that between questions
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
    away: NDArray[np.float64] | None = None
    aligned: Floats | None = None
    line: TurnLine | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Records by rising seq, one row each, with their scores in both arms and what ranks them further.

    All that passed where they are few, else the best `depth` of each arm and their neighbours in the
    session.

    scope     the number of its scope in `scopes`
    dense     the cosine of the record's best unit; exact for the best
    words     BM25
    spans     the ranges of those (and of `traits.aligned`) over all that was searched
    rarity    what all terms together weigh
    searched  how many records there were, and `kept` how many passed the filter
    damaged   how many records of a tier cannot be read and were not searched
    notes     what else the answer lacks, in words
    """

    scopes: list[str]
    scope: NDArray[np.int32]
    seq: Seqs
    dense: Floats
    words: Floats
    traits: Traits
    spans: dict[str, Span]
    rarity: float = 0.0
    searched: int = 0
    kept: int = 0
    damaged: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.seq)


class Neighbours(NamedTuple):
    """A record's turn in its session, and who stands beside it: (seq, turn), nearest first."""

    turn: int
    beside: tuple[tuple[int, int], ...]


@runtime_checkable
class Finder(Protocol):
    """An outside search engine: it says which records of a scope match, and how well."""

    def find(self, scope: str, probe: Probe) -> Scores:
        """Records of one scope that pass `probe.where` and have not expired at `probe.now`.

        All of them where they are few, else the best `probe.depth` of each arm. What the store
        acknowledged before is found.
        """

    def close(self) -> None:
        """Releases what it holds; closing twice is fine."""


@runtime_checkable
class ListsRecords(Protocol):
    """A finder that lists sessions and speakers sooner than the store does."""

    def list_turns(self, scope: str, sessions: Sequence[str]) -> list[list[int]]:
        """Lists the seqs of each session in order of time; leaves out sessions without records."""

    def list_voices(self, scope: str) -> tuple[str, ...]:
        """Lists every `who` of a scope."""


@runtime_checkable
class Index(Protocol):
    """Searches what a store holds. A search finds everything acknowledged before it began.

    Where a question says the `head` it knows, what was acknowledged up to there.
    """

    def search(self, probe: Probe) -> Candidates:
        """Candidates that pass `probe.where` and have not expired at `probe.now`."""

    def select(
        self, scope: Scope, where: Where | None, *, now: float, order: str, limit: int
    ) -> list[tuple[str, int]]:
        """(scope, seq) of the records that pass, by a column: see `eidet.store.ORDERS` (not `uses`)."""

    def around(
        self, scope: str, seqs: Sequence[int], reach: int, where: Where | None, *, now: float
    ) -> dict[int, Neighbours]:
        """Returns, for each record with a session, its turn and up to `reach` records before and after it.

        Only living ones that pass the filter; a record that is none of them is left out.
        """

    def voices(self, scope: Scope, head: Head | None = None) -> tuple[str, ...]:
        """Lists the speakers of a scope (or below it): every `who` of its records."""

    def follow(self, scope: str) -> None:
        """Learns what changed in a scope, if it is one that the index holds ready: recalls need not then."""

    def cleanse(self, scope: str) -> list[str]:
        """Removes a scope's erased records from all places where the index keeps them, before it returns.

        Says in words what could not be taken out yet.
        """

    def rebuild(self, scope: str) -> int:
        """Rebuilds a scope's index from the store. Returns the number of records."""

    def check(self, scope: str) -> list[str]:
        """Lists in words where index and store disagree; empty when they agree."""

    def stats(self) -> dict[str, Any]: ...

    def close(self) -> None:
        """Saves what is worth saving and releases the rest. Closing twice is harmless."""
