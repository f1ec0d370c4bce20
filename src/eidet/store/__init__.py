"""The store port: where records are kept. The store is the truth; every index follows it.

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
    """Keeps records. Every method is safe from many threads; once a write returns, it is durable.

    `seq` rises with every record that is inserted or removed, and is never reused. A reader that has
    seen seq n has seen everything below it.
    """

    @property
    def identity(self) -> str:
        """Differs between any two stores; the same each time this one is opened."""

    @property
    def writable(self) -> bool: ...

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        """Records by ids or by seqs: one answer per key, in the order asked; None where absent."""

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        """Matching records with a seq above `after`, as of one moment.

        `order` is one of ORDERS, a leading '-' reverses. Absent values come last; equal ones are
        ordered by seq, in the same direction.
        """

    def match(self, where: Where) -> list[int]:
        """The seqs of matching records, rising."""

    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        """Counts matching records by the values of columns (`scope`, `kind`, `tier`); omits empty groups.

        Without columns the one key is `()`, and it is always there.
        """

    def head(self) -> Head:
        """Returns how far the store has come, other processes' writes included. Must be cheap."""

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        """Returns what changed in a scope after seq `since`, as of one moment: at most `limit` entries.

        `head` says up to where this tells all; ask again from there until it is the store's head.
        `gone` names only seqs up to `since`; what came and went in between is left out.
        """

    def history(self, scope: str, id: str) -> list[Event]:
        """Lists a record's events, oldest first, also after it was forgotten.

        It begins with the creation, by the record's agent, whether the store keeps or derives that.
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

        `within` confines a table that belongs to scopes, `prefix` one whose keys are strings. With a
        `limit`, at most so many, whichever the store comes upon first.
        """

    def write(self, job: Callable[[Transaction], T]) -> T:
        """Runs a job alone, commits what it wrote and gives its answer. All or nothing: errors undo it.

        A store may run a job several times, in any thread, and commits only the last run. So a job
        depends on nothing but its transaction, and changes nothing else.
        """

    def close(self) -> None:
        """Releases everything; closing twice is fine."""


class Transaction(Protocol):
    """A job's view for reading and writing. It sees its own writes, and no other writer interferes.

    A `bare` record tells which it is: seq, scope, id, kind, tier, level, agent, version, created, its uses
    and its hold (`state.hold`). All else may be missing, so that a store can give one that is damaged or
    large unread.
    """

    def read(self, scope: str, ids: Sequence[str], *, bare: bool = False) -> list[Record | None]:
        """Returns one record per id, in the order asked; None where absent."""

    def same(self, scope: str, keys: Sequence[bytes]) -> list[Record]:
        """Returns the records of a scope whose exact key starts with one of these, by ascending seq.

        Whole keys (see `eidet.store.record_keys`) are looked up, and find facts and documents only. Keys
        of a content alone find records of all kinds; that may have to look at each record of the scope.
        """

    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        """Matching records by rising seq. Take them all before you write."""

    def insert(self, records: Sequence[Record]) -> list[Record]:
        """Inserts records whose (scope, id) is free. Returns them with their new, ascending seqs.

        A store that gives seqs when it commits uses provisional ones (from `PROVISIONAL` on) inside of
        the job, and puts the real ones into the records of its answer.
        """

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        """Deletes records as they were read here, and adds to the history of each what happened.

        Vectors that are staged for them go, too.
        """

    def update(self, changes: Iterable[Use | Derived]) -> None:
        """Adds uses and replaces derived bytes in place: no new seq, no new version.

        Records that are gone are passed over. The time of the last use never turns back.
        """

    def history(self, scope: str, id: str) -> list[Event]:
        """Works like `Store.history`."""

    def edit_history(self, edits: Mapping[tuple[str, str], Mapping[int, Mapping[str, Json]] | None]) -> int:
        """Replaces what events say was `before`, by (scope, id) and version; None removes it from all.

        Only of events that still say something; how many were changed. Changes no seq.
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
        """Sets small values; None removes one. With `clear`, nothing else stays in the table."""
