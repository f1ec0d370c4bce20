"""The store port. The store is the source of truth for records; every index follows it.

A backend is a class with the methods of `Store`, whose `write` gives jobs a `Transaction`, and a test
class of four lines that inherits `eidet.store.contract.StoreContract`. What callers ask of a store
(`put`, `erase`, `take_lease` …) is written once over these two, in `eidet.store.verbs`. What only some
stores can do is declared in `eidet.store.abilities`; values are in `eidet.store.model`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from ..core.record import Event, Record
from ..core.scope import Scope
from ..core.validate import Json
from ..core.where import Where
from .model import (
    BELOW_MARK,
    EPOCH,
    ORDERS,
    SCOPE_MARK,
    SETTINGS,
    STAGED,
    TALLIES,
    TOMBSTONES,
    Changes,
    Claims,
    Derived,
    Entry,
    Erased,
    Erasure,
    Head,
    K,
    Reader,
    Scrubbed,
    T,
    Table,
    Tombstone,
    TombstoneGuard,
    Use,
    Uses,
    V,
)

__all__ = [
    "BELOW_MARK",
    "EPOCH",
    "ORDERS",
    "SCOPE_MARK",
    "SETTINGS",
    "STAGED",
    "TALLIES",
    "TOMBSTONES",
    "Changes",
    "Claims",
    "Derived",
    "Entry",
    "Erased",
    "Erasure",
    "Head",
    "Reader",
    "Scrubbed",
    "Store",
    "Table",
    "Tombstone",
    "TombstoneGuard",
    "Transaction",
    "Use",
    "Uses",
]


class Store(Protocol):
    """A place for records. All methods are thread-safe; once a write returns, it is durable.

    `seq` rises with every record that is inserted or removed, and is never reused. A reader that has
    seen seq n has seen everything below it.
    """

    @property
    def identity(self) -> str:
        """A fixed id, the same each time this store is opened, and different from that of any other store."""

    @property
    def writable(self) -> bool: ...

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        """Reads records by ids or by seqs: one answer per key, in the order asked; None where absent."""

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        """Returns matching records with a seq above `after`, as of one moment.

        `order` is one of ORDERS; a leading '-' reverses it. Absent values come last; equal ones are ordered
        by seq, in the same direction.
        """

    def match(self, where: Where) -> list[int]:
        """Returns the seqs of matching records, ascending."""

    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        """Counts matching records by the values of columns (`scope`, `kind`, `tier`); omits empty groups.

        Without columns the one key is `()`, and it is always there.
        """

    def head(self) -> Head:
        """Returns how far the store has come, other processes' writes included. Must be cheap."""

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        """Returns what changed in a scope after seq `since`, as of one moment: at most `limit` entries.

        The answer is complete up to its `head`; ask again from there until that is the store's head. `gone`
        lists only seqs up to `since`: records that came and went in between are left out.
        """

    def history(self, scope: str, id: str) -> list[Event]:
        """Lists a record's events, oldest first, also after it was forgotten.

        The first event is the creation by the record's agent, which a store may keep or derive.
        """

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        """Returns the small values of a table, for the `keys` that are set or for all, by ascending key.

        `within` confines a table that belongs to scopes, `prefix` one whose keys are strings. With a `limit`,
        returns at most so many, whichever the store finds first.
        """

    def write(self, job: Callable[[Transaction], T]) -> T:
        """Runs a job exclusively, commits its writes and returns its answer. An error undoes all of them.

        A store may run a job several times, in any thread, and commits only the last run. So a job must
        depend on nothing but its transaction, and change nothing else.
        """

    def close(self) -> None:
        """Releases everything; closing twice is fine."""


class Transaction(Protocol):
    """A job's view for reading and writing. It sees its own writes, and no other writer interferes.

    A `bare` record has at least seq, scope, id, kind, tier, level, agent, version, created, its uses and its
    hold (`state.hold`). All else may be missing, so that a store can return a damaged or large one without
    reading it.
    """

    def read(self, scope: str, ids: Sequence[str], *, bare: bool = False) -> list[Record | None]:
        """Returns one record per id, in the order asked; None where absent."""

    def same(self, scope: str, keys: Sequence[bytes]) -> list[Record]:
        """Returns the records of a scope whose exact key starts with one of these, by ascending seq.

        Whole keys (see `eidet.store.rules`) are looked up, and find facts and documents only. The content
        part of a key finds records of all kinds, and may have to read each record of the scope.
        """

    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        """Yields matching records by ascending seq. Read them all before you write."""

    def insert(self, records: Sequence[Record]) -> list[Record]:
        """Inserts records whose (scope, id) is free. Returns them with their new, ascending seqs.

        A store that assigns seqs at the commit uses provisional ones (from `PROVISIONAL` on) inside the job,
        and puts the real ones into the records of its answer.
        """

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        """Deletes records, given as they were read here, and adds one event to the history of each.

        Their staged vectors are deleted, too.
        """

    def update(self, changes: Iterable[Use | Derived]) -> None:
        """Adds uses and replaces derived bytes in place: no new seq, no new version.

        Records that are gone are skipped. The time of the last use never decreases.
        """

    def history(self, scope: str, id: str) -> list[Event]:
        """Works like `Store.history`."""

    def edit_history(self, edits: Mapping[tuple[str, str], Mapping[int, Mapping[str, Json]] | None]) -> int:
        """Replaces the `before` of events, by (scope, id) and version; None removes it from all of a record.

        Changes only events that still have a `before`. Returns how many were changed. Changes no seq.
        """

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        """Works like `Store.values`."""

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        """Sets small values; None removes one. With `clear`, all others are removed from the table."""
