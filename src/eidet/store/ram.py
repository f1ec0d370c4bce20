"""The reference store: plain dictionaries. Short enough to be read as the law."""

from __future__ import annotations

import threading
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice
from typing import Any

from ..core.event import Event
from ..core.record import EXACT_KEY_BYTES, Record
from ..core.scope import Scope
from ..core.validate import Json
from ..core.where import Where
from . import Transaction, answers
from .model import EPOCH, SETTINGS, STAGED, Changes, Derived, Head, K, T, Table, Use, V
from .record_keys import key_of
from .rules import UNIQUE_KINDS


@dataclass(slots=True)
class _Room:
    """One scope. Rows are in the order of their seqs."""

    rows: dict[int, Record] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)  # where the record with an id is
    gone: dict[int, int] = field(default_factory=dict)  # by the seq at which it went: the one that it had
    events: dict[str, list[Event]] = field(default_factory=dict)
    keys: dict[bytes, tuple[int, ...]] = field(default_factory=dict)  # seqs of facts and documents

    def read(self, key: str | int) -> Record | None:
        """By id or by seq; the record itself, of which callers get copies."""
        return self.rows.get(self.ids.get(key, 0) if isinstance(key, str) else key)

    def add(self, record: Record) -> None:
        self.rows[record.seq] = record
        self.ids[record.id] = record.seq
        if record.kind in UNIQUE_KINDS:
            key = key_of(record)
            self.keys[key] = (*self.keys.get(key, ()), record.seq)

    def drop(self, record: Record) -> None:
        del self.rows[record.seq], self.ids[record.id]
        if record.kind in UNIQUE_KINDS:
            key = key_of(record)
            left = tuple(seq for seq in self.keys[key] if seq != record.seq)
            answers.set_value(self.keys, key, left or None)

    def find_same(self, keys: Sequence[bytes]) -> list[Record]:
        """As `Transaction.same`."""
        if all(len(key) == EXACT_KEY_BYTES for key in keys):
            seqs = sorted(seq for key in set(keys) for seq in self.keys.get(key, ()))
            return [self.rows[seq] for seq in seqs]
        return [record for record in self.rows.values() if key_of(record).startswith(tuple(keys))]

    def walk(self, where: Where, after: int) -> Iterator[Record]:
        for seq, record in self.rows.items():
            if seq > after and where.matches(record):
                yield record


EMPTY = _Room()  # stands for a scope that was never written; read only


class RamStore:
    """Keeps records in this process; they end with it."""

    writable = True

    def __init__(self) -> None:
        self.identity: str = uuid.uuid4().hex
        self._lock = threading.RLock()
        self._rooms: defaultdict[str, _Room] = defaultdict(_Room)
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
            transaction = _RamTransaction(self, self._rooms, self._tables)
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

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        pruned = 0
        with self._lock:
            for room in self._rooms.values():
                pruned += answers.prune_histories(room.events, room.ids, before, dead, most - pruned)
        return pruned

    def size(self) -> int:
        with self._lock:
            return sum(answers.measure_record(record) for record in self._walk(Where()))


class _RamTransaction:
    """Writes in place and remembers what was there, to undo it. The store's lock is held."""

    def __init__(self, store: RamStore, rooms: defaultdict[str, _Room], tables: dict[str, Any]) -> None:
        self.seq: int = store.head().seq
        self.history, self.values = store.history, store.values
        self._store, self._rooms, self._tables = store, rooms, tables
        self._undo: list[tuple[Callable[..., object], tuple[Any, ...]]] = []
        self._shuffled: dict[str, _Room] = {}  # their rows lose their order when they are undone

    def leap(self, seq: int) -> None:
        self.seq = max(self.seq, seq)

    def undo(self) -> None:
        for function, arguments in reversed(self._undo):
            function(*arguments)
        for room in self._shuffled.values():
            room.rows = dict(sorted(room.rows.items()))

    def read(self, scope: str, ids: Sequence[str], *, bare: bool = False) -> list[Record | None]:
        if bare:
            return list(map(self._rooms.get(scope, EMPTY).read, ids))
        return self._store.read(scope, ids)

    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        del bare
        return iter(self._store.find(where))

    def same(self, scope: str, keys: Sequence[bytes]) -> list[Record]:
        return list(map(answers.copy_record, self._rooms.get(scope, EMPTY).find_same(keys)))

    def insert(self, records: Sequence[Record]) -> list[Record]:
        return [self._insert(record) for record in records]

    def _insert(self, record: Record) -> Record:
        self.seq += 1
        new = record.but(seq=self.seq)
        kept, room = answers.copy_record(new), self._rooms[record.scope]
        room.add(kept)
        self._undo.append((room.drop, (kept,)))
        events = room.events.get(record.id)
        if not events or events[-1].what == "forgotten":
            self._log(room, answers.creation_of(record))
        return new

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        for record, event in zip(records, events, strict=True):
            self.seq += 1
            room = self._rooms[record.scope]
            kept = room.rows[record.seq]
            room.drop(kept)
            self.set_values(STAGED, {record.seq: None})
            room.gone[self.seq] = record.seq
            self._shuffled[record.scope] = room
            self._undo += ((room.add, (kept,)), (room.gone.pop, (self.seq,)))
            self._log(room, event)

    def update(self, changes: Iterable[Use | Derived]) -> None:
        for change in changes:
            rooms: Iterable[_Room] = self._rooms.values()
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

    def _log(self, room: _Room, event: Event) -> None:
        events = room.events.setdefault(event.id, [])
        events.append(event)
        self._undo.append((events.pop, ()))
