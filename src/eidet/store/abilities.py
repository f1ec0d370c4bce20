"""Abilities that only some stores have, each a protocol of its own; `isinstance` shows which a store has.

The verbs ask for these where a store can do better than the port alone, or where only it knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..core.record import Record
from ..core.scope import Scope
from ..core.where import Where
from .model import Changes, NewRecord, Scrubbed

if TYPE_CHECKING:
    from ..quality import Survey
    from . import Transaction
    from .traits import StoreTraits


@runtime_checkable
class DescribesItself(Protocol):
    def describe(self) -> StoreTraits:
        """Describes where the store is and how it is kept. Cheap; asks no server."""


@runtime_checkable
class MaintainsStorage(Protocol):
    """A store whose history, files and size need maintenance. It may implement only some of these."""

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        """Removes up to `most` events of moves older than `before`. Returns how many.

        With `dead`, also removes all older events of records that no longer exist.
        """

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        """Removes every trace of deleted content from the store's files.

        `said` lists bytes that must no longer be found there; None if they are unknown.
        """

    def trim(self, most: int) -> int:
        """Releases up to `most` unused bytes to the disk, and overwrites the rest.

        Returns how many were released; 0 means that none are left.
        """

    def size(self) -> int:
        """Returns the bytes that the store takes where it lives."""


@runtime_checkable
class AnswersVerbs(Protocol):
    """A store that carries out verbs itself, without reading each record. It may have only some of these."""

    def scan(self, where: Where, *, after: int = 0, batch: int = 1000) -> Iterator[Record]:
        """Works like `verbs.scan`, for a store whose `find` may answer from a part of what it keeps."""

    def survey(self, scope: Scope | None, *, now: float, fresh: float, ripe: float, stale: float) -> Survey:
        """Works like `verbs.quality_counts`."""

    def fingerprint(self, seq: int) -> str | None:
        """Works like `verbs.fingerprint`, also for a write that removed something."""

    def switch_vectors(self, name: str, settings: Mapping[str, str]) -> int:
        """Works like `verbs.switch_vectors`."""


@runtime_checkable
class PutsNew(Protocol):
    def put_new(self, new: NewRecord, job: Callable[[Transaction], list[Record]]) -> list[Record]:
        """Inserts a record in fewer steps than a transaction takes, if nothing conflicts.

        There is no conflict if its id is free, the epoch is the one given, none of the marks that
        `new.watch` asks for is a tombstone, and no living fact or document of its scope has one of the keys
        `new.repeats`. Otherwise runs `job`, as `write` does. Either way returns what is now stored.
        """


@runtime_checkable
class ListsTelling(Protocol):
    def list_telling(self, scope: str) -> Changes:
        """Returns all entries of a scope that state or decide something, by seq, without vectors."""


@runtime_checkable
class Leaps(Protocol):
    """A store or a transaction that can reserve seqs."""

    def leap(self, seq: int) -> None:
        """Reserves all seqs up to this one, for a caller that counts across several stores."""


@runtime_checkable
class GivesSeqsLate(Protocol):
    def latest_seq(self) -> int:
        """Returns a seq that no write under way can exceed when it is committed."""


@runtime_checkable
class TakesAuditLog(Protocol):
    def note_in(self, log: Any) -> None:
        """Takes the audit log, to log what only this store sees, such as the use of keys."""


@runtime_checkable
class FindsHeld(Protocol):
    """A transaction whose bare records may not show whether they are under a legal hold."""

    def find_held(self, records: Sequence[Record]) -> list[Record]:
        """Returns those of the records that are under a legal hold."""
