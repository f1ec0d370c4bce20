"""A store around a store, and a transaction around a transaction, that pass every call on.

A wrapper inherits these and defines what it changes. `passes` names what it passes on as it is, and
`lacks` the abilities that it does not offer. A test compares all with the port, so that no call gets past
a wrapper that did not decide about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from ..core.event import Event
from ..core.record import Record
from ..core.scope import Scope
from ..core.validate import Json
from ..core.where import Where
from ..quality import Survey
from . import Store, Transaction, verbs
from .abilities import (
    GivesSeqsLate,
    IsSealed,
    KeepsSecrets,
    Leaps,
    ListsRevised,
    ListsTelling,
    LivesInFile,
    LivesInFiles,
    LivesOnServer,
    MadeOfSeveral,
    NamesArchive,
    OffersIndex,
    ReportsHealth,
    TakesAuditLog,
    TellsHome,
)
from .model import Changes, Derived, Entry, Head, K, Scrubbed, Table, Use, V
from .verbs.changing import find_held

T = TypeVar("T")


class PassthroughStore:
    """Has what every store has. What only some stores have, it has if the store inside has it."""

    passes: ClassVar[str] = ""
    lacks: ClassVar[str] = ""
    path: Path
    list_files: Callable[[], list[Path]]
    tell_home: Callable[[], str]
    leap: Callable[[int], None]
    latest_seq: Callable[[], int]
    list_revised: Callable[[Scope, int], list[tuple[str, str]] | None]
    list_telling: Callable[[str, Head], list[Entry] | None]
    secret: Callable[[str], bytes]
    health: Callable[[], dict[str, Any]]
    name_own_index: Callable[[], str | None]
    address: Any
    archive: str | None
    sealed: bool

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        if isinstance(inner, LivesInFile):
            self.path = inner.path
        _share_methods(self, inner)
        if isinstance(inner, KeepsSecrets):
            self.secret = inner.secret
        if isinstance(inner, ReportsHealth):
            self.health = inner.health
        if isinstance(inner, OffersIndex):
            self.name_own_index = inner.name_own_index
        if isinstance(inner, LivesOnServer):
            self.address = inner.address
        if isinstance(inner, NamesArchive):
            self.archive = inner.archive
        if isinstance(inner, IsSealed):
            self.sealed = inner.sealed
        self._several: MadeOfSeveral | None = inner if isinstance(inner, MadeOfSeveral) else None

    @property
    def identity(self) -> str:
        return self.inner.identity

    @property
    def writable(self) -> bool:
        return self.inner.writable

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        return self.inner.read(scope, keys)

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        return self.inner.find(where, order=order, limit=limit, offset=offset, after=after)

    def match(self, where: Where) -> list[int]:
        return self.inner.match(where)

    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        return self.inner.count_by(where, columns)

    def head(self) -> Head:
        return self.inner.head()

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        return self.inner.changes(scope, since, limit)

    def history(self, scope: str, id: str) -> list[Event]:
        return self.inner.history(scope, id)

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        return self.inner.values(table, keys, within=within, prefix=prefix, limit=limit)

    def write(self, job: Callable[[Transaction], T]) -> T:
        return self.inner.write(job)

    def close(self) -> None:
        self.inner.close()

    # Abilities that every wrapper has: the verbs know what to do where the store inside lacks them.

    def list_derived(self, scope: Scope) -> list[Record]:
        return verbs.find_derived(self.inner, scope)

    def scan(self, where: Where, *, after: int = 0, batch: int = 1000) -> Iterator[Record]:
        return verbs.scan(self.inner, where, after=after, batch=batch)

    def survey(self, scope: Scope | None, *, now: float, fresh: float, ripe: float, stale: float) -> Survey:
        return verbs.quality_counts(self.inner, scope, now=now, fresh=fresh, ripe=ripe, stale=stale)

    def fingerprint(self, seq: int) -> str | None:
        return verbs.fingerprint(self.inner, seq)

    def switch_vectors(self, name: str, settings: Mapping[str, str]) -> int:
        return verbs.switch_vectors(self.inner, name, settings)

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        return verbs.prune_history(self.inner, before, dead=dead, most=most)

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        return verbs.scrub_files(self.inner, said)

    def trim(self, most: int) -> int:
        return verbs.compact(self.inner, most)

    def size(self) -> int:
        return verbs.measure_size(self.inner)

    @property
    def missing(self) -> tuple[str, ...]:
        return () if self._several is None else self._several.missing

    def note_in(self, log: Any) -> None:
        if isinstance(self.inner, TakesAuditLog):
            self.inner.note_in(log)


def _share_methods(outer: PassthroughStore, inner: Store) -> None:
    if isinstance(inner, Leaps):
        outer.leap = inner.leap
    if isinstance(inner, GivesSeqsLate):
        outer.latest_seq = inner.latest_seq
    if isinstance(inner, ListsRevised):
        outer.list_revised = inner.list_revised
    if isinstance(inner, ListsTelling) and "list_telling" not in outer.lacks:
        outer.list_telling = inner.list_telling
    if isinstance(inner, LivesInFiles):
        outer.list_files = inner.list_files
    if isinstance(inner, TellsHome):
        outer.tell_home = inner.tell_home


class PassthroughTransaction:
    passes: ClassVar[str] = ""
    lacks: ClassVar[str] = ""

    def __init__(self, inner: Transaction) -> None:
        self.inner = inner

    def read(self, scope: str, ids: Sequence[str], *, bare: bool = False) -> list[Record | None]:
        return self.inner.read(scope, ids, bare=bare)

    def same(self, scope: str, keys: Sequence[bytes]) -> list[Record]:
        return self.inner.same(scope, keys)

    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        return self.inner.find(where, bare=bare)

    def insert(self, records: Sequence[Record]) -> list[Record]:
        return self.inner.insert(records)

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        self.inner.remove(records, events)

    def update(self, changes: Iterable[Use | Derived]) -> None:
        self.inner.update(changes)

    def history(self, scope: str, id: str) -> list[Event]:
        return self.inner.history(scope, id)

    def edit_history(self, edits: Mapping[tuple[str, str], Mapping[int, Mapping[str, Json]] | None]) -> int:
        return self.inner.edit_history(edits)

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        return self.inner.values(table, keys, within=within, prefix=prefix, limit=limit)

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        self.inner.set_values(table, values, clear=clear)

    # Abilities that every wrapper has.

    def list_derived(self, scope: Scope) -> list[Record]:
        return verbs.find_derived_in(self.inner, scope)

    def find_held(self, records: Sequence[Record]) -> list[Record]:
        return find_held(self.inner, records)
