"""The reference store: plain dictionaries. Short enough to be read as the law."""

from __future__ import annotations

import threading
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import chain, islice
from typing import Any

from ..core.event import Event
from ..core.record import Record, record_digest
from ..core.scope import Scope
from ..core.validate import Json
from ..core.where import Where
from . import Transaction, answers
from .model import EPOCH, SETTINGS, Changes, Derived, Head, K, T, Table, Use, V
from .rules import UNIQUE_KINDS


@dataclass(slots=True)
class Room:
    """One scope. Rows are in the order of their seqs."""

    rows: dict[int, Record] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)  # where the record with an id is
    contents: dict[bytes, tuple[int, ...]] = field(default_factory=dict)  # facts and documents, by digest
    gone: dict[int, int] = field(default_factory=dict)  # by the seq at which it went: the one that it had
    events: dict[str, list[Event]] = field(default_factory=dict)

    def read(self, key: str | int) -> Record | None:
        """By id or by seq; the record itself, of which callers get copies."""
        return self.rows.get(self.ids.get(key, 0) if isinstance(key, str) else key)

    def walk(self, where: Where, after: int) -> Iterator[Record]:
        for seq, record in self.rows.items():
            if seq > after and where.matches(record):
                yield record


EMPTY = Room()  # stands for a scope that was never written; read only


class RamStore:
    """Keeps records in this process; they end with it."""

    writable = True

    def __init__(self) -> None:
        self.identity = uuid.uuid4().hex
        self._lock = threading.RLock()
        self._rooms: defaultdict[str, Room] = defaultdict(Room)
        self._tables: dict[str, dict[Any, Any]] = {}
        self._head = Head(0, 0)

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        with self._lock:
            room = self._rooms.get(scope, EMPTY)
            return [answers.copy_record(room.read(key)) for key in keys]

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        end = None if limit is None else offset + limit
        with self._lock:
            found = self._walk(where, after)
            if order != "seq":
                found = iter(answers.sort_records(found, order))
            return [answers.copy_record(record) for record in islice(found, offset, end)]

    def match(self, where: Where) -> list[int]:
        with self._lock:
            return [record.seq for record in self._walk(where)]

    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        with self._lock:
            return answers.count_records(self._walk(where), columns)

    def head(self) -> Head:
        return self._head

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        with self._lock:
            room = self._rooms.get(scope, EMPTY)
            return answers.list_changes(room.rows, room.gone, self._head, since, limit)

    def history(self, scope: str, id: str) -> list[Event]:
        with self._lock:
            return list(self._rooms.get(scope, EMPTY).events.get(id, ()))

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        with self._lock:
            return answers.choose_values(self._tables.get(table.name, {}), keys, within, prefix, limit)

    def write(self, job: Callable[[Transaction], T]) -> T:
        with self._lock:
            transaction = RamTransaction(self, self._rooms, self._tables)
            try:
                answer = job(transaction)
            except BaseException:
                transaction.undo()
                raise
            self._head = Head(int(self._tables.get(SETTINGS.name, {}).get(EPOCH, 0)), transaction.seq)
            return answer

    def close(self) -> None:
        """Nothing to release."""

    def _walk(self, where: Where, after: int = 0) -> Iterator[Record]:
        """Matching records by rising seq; the lock must be held."""
        rooms = [room for path, room in self._rooms.items() if where.scope is None or where.scope.holds(path)]
        return merge(*(room.walk(where, after) for room in rooms), key=lambda record: record.seq)

    def leap(self, seq: int) -> None:
        with self._lock:
            self._head = Head(self._head.epoch, max(self._head.seq, seq))

    def same(self, scope: str, digests: Sequence[bytes], *, every_kind: bool = False) -> list[Record]:
        wanted = set(digests)
        with self._lock:
            room = self._rooms.get(scope, EMPTY)
            rows: Iterable[Record] = room.rows.values()
            if not every_kind:
                seqs = chain.from_iterable(room.contents.get(digest, ()) for digest in wanted)
                rows = [room.rows[seq] for seq in sorted(seqs)]
            return [answers.copy_record(row) for row in rows if record_digest(row) in wanted]

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        with self._lock:
            pruned = 0
            for room in self._rooms.values():
                for id, events in list(room.events.items()):
                    kept = answers.prune_events(events, before, every=dead and id not in room.ids)
                    if pruned + len(events) - len(kept) <= most:
                        pruned += len(events) - len(kept)
                        answers.set_value(room.events, id, kept or None)
            return pruned

    def size(self) -> int:
        with self._lock:
            return sum(answers.measure_record(record) for record in self._walk(Where()))


class RamTransaction:
    """Writes in place and remembers what was there, to undo it. The store's lock is held."""

    def __init__(self, store: RamStore, rooms: defaultdict[str, Room], tables: dict[str, Any]) -> None:
        self.seq = store.head().seq
        self.same, self.history, self.values = store.same, store.history, store.values
        self._store, self._rooms, self._tables = store, rooms, tables
        self._undo: list[tuple[Callable[..., object], tuple[Any, ...]]] = []
        self._shuffled: set[str] = set()  # scopes whose rows lose their order when they are undone

    def leap(self, seq: int) -> None:
        self.seq = max(self.seq, seq)

    def undo(self) -> None:
        for function, arguments in reversed(self._undo):
            function(*arguments)
        for scope in self._shuffled:
            room = self._rooms[scope]
            room.rows = dict(sorted(room.rows.items()))

    def read(self, scope: str, ids: Sequence[str], *, bare: bool = False) -> list[Record | None]:
        del bare
        return self._store.read(scope, ids)

    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        del bare
        return iter(self._store.find(where))

    def insert(self, records: Sequence[Record]) -> list[Record]:
        stored = []
        for record in records:
            self.seq += 1
            new = record.but(seq=self.seq)
            room = self._rooms[record.scope]
            self._set(room.rows, self.seq, answers.copy_record(new))
            self._set(room.ids, record.id, self.seq)
            if record.kind in UNIQUE_KINDS:
                digest = record_digest(record)
                self._set(room.contents, digest, (*room.contents.get(digest, ()), self.seq))
            events = room.events.get(record.id)
            if not events or events[-1].what == "forgotten":
                self._log(room, answers.creation_of(record))
            stored.append(new)
        return stored

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        for record, event in zip(records, events, strict=True):
            self.seq += 1
            room = self._rooms[record.scope]
            kept = room.rows[record.seq]
            self._shuffled.add(record.scope)
            self._set(room.rows, record.seq, None)
            self._set(room.ids, record.id, None)
            self._set(room.gone, self.seq, record.seq)
            self._log(room, event)
            if kept.kind in UNIQUE_KINDS:
                digest = record_digest(kept)
                others = tuple([seq for seq in room.contents[digest] if seq != record.seq])
                self._set(room.contents, digest, others or None)

    def update(self, changes: Iterable[Use | Derived]) -> None:
        for change in changes:
            rooms: Iterable[Room] = self._rooms.values()
            if isinstance(change, Use):
                rooms = [self._rooms.get(change.scope, EMPTY)]
            for room in rooms:
                record = room.read(change.id if isinstance(change, Use) else change.seq)
                if record is not None:
                    self._set(room.rows, record.seq, answers.update_record(record, change))

    def edit_history(self, edits: Mapping[tuple[str, str], Mapping[int, Mapping[str, Json]] | None]) -> int:
        edited = 0
        for (scope, id), before in edits.items():
            room = self._rooms.get(scope, EMPTY)
            events, changed = answers.edit_events(room.events.get(id, ()), before)
            if changed:
                self._set(room.events, id, events)
                edited += changed
        return edited

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        if clear:
            self._set(self._tables, table.name, {})
        kept = self._tables.setdefault(table.name, {})
        for key, value in values.items():
            self._set(kept, key, value)

    def _set(self, mapping: dict[Any, Any], key: Any, value: Any) -> None:
        """Sets a value or, with None, removes it."""
        self._undo.append((answers.set_value, (mapping, key, mapping.get(key))))
        answers.set_value(mapping, key, value)

    def _log(self, room: Room, event: Event) -> None:
        events = room.events.setdefault(event.id, [])
        events.append(event)
        self._undo.append((events.pop, ()))
