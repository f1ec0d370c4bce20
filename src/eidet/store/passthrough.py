"""Wrappers: a store around a store, and a transaction around a transaction, that pass every call on.

A wrapper inherits these and defines what it changes. `passes` names what it passes on as it is, and
`lacks` the abilities that it does not offer. A test compares all with the port, so that no call gets past
a wrapper that did not decide about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from ..core.record import Event, Record
from ..core.scope import Scope
from ..core.validate import Json
from ..core.where import Where
from ..quality import Survey, health_of
from . import Store, Transaction, verbs
from .abilities import GivesSeqsLate, Leaps, ListsTelling, TakesAuditLog
from .model import Changes, Derived, Entry, Head, K, Scrubbed, Table, Use, V
from .traits import StoreTraits, traits_of
from .verbs.changing import find_held

T = TypeVar("T")


class PassthroughStore:
    """A store around another one. It has an optional ability if the store inside has it."""

    passes: ClassVar[str] = ""
    lacks: ClassVar[str] = ""
    leap: Callable[[int], None]
    latest_seq: Callable[[], int]
    list_telling: Callable[[str, Head], list[Entry] | None]

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        if isinstance(inner, Leaps):
            self.leap = inner.leap
        if isinstance(inner, GivesSeqsLate):
            self.latest_seq = inner.latest_seq
        if isinstance(inner, ListsTelling) and "list_telling" not in self.lacks:
            self.list_telling = inner.list_telling

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

    # Abilities that every wrapper has: the verbs know what to do if the store inside lacks them.

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

    def describe(self) -> StoreTraits:
        return traits_of(self.inner)

    def health(self) -> dict[str, Any]:
        return dict(health_of(self.inner) or {})

    def note_in(self, log: Any) -> None:
        if isinstance(self.inner, TakesAuditLog):
            self.inner.note_in(log)


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

    def find_held(self, records: Sequence[Record]) -> list[Record]:
        return find_held(self.inner, records)
