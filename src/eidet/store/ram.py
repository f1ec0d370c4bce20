"""The reference store: plain dictionaries. Short enough to serve as the specification."""

from __future__ import annotations

import threading
import uuid
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice, takewhile
from typing import Any, Final

from ..core.record import EXACT_KEY_BYTES, Event, Record
from ..core.scope import Scope
from ..core.state import NO_STATE
from ..core.validate import Json
from ..core.where import Where
from . import Transaction, answers
from .answers import R, prune_events
from .model import EPOCH, SETTINGS, STAGED, Changes, Derived, Head, K, T, Table, Use, V, entry_of
from .rules import UNIQUE_KINDS, key_of

_PLAIN: Final = frozenset((str, int, float, bool, type(None)))


@dataclass(slots=True)
class _Room:
    """One scope. Rows are in order of their seqs."""

    rows: dict[int, Record] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)  # id -> seq
    gone: dict[int, int] = field(default_factory=dict)  # seq of the deletion -> seq of the record
    events: dict[str, list[Event]] = field(default_factory=dict)
    keys: dict[bytes, tuple[int, ...]] = field(default_factory=dict)  # seqs of facts and documents

    def read(self, key: str | int) -> Record | None:
        """Returns a record by id or seq, uncopied; callers get copies."""
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
            _set_value(self.keys, key, left or None)

    def find_same(self, keys: Sequence[bytes]) -> list[Record]:
        """Works like `Transaction.same`."""
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
    """A store in the memory of this process; its records end with the process."""

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
            return [_copy_record(room.read(key)) for key in keys]

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        end = None if limit is None else offset + limit
        with self._lock:
            found = self._walk(where, after)
            if order != "seq":
                found = iter(answers.sort_records(found, order))
            return [_copy_record(record) for record in islice(found, offset, end)]

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
            return _list_changes(room.rows, room.gone, self._head, since, limit)

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
        """Does nothing: there is nothing to release."""

    def _walk(self, where: Where, after: int = 0) -> Iterator[Record]:
        """Yields matching records by ascending seq; the lock must be held."""
        rooms = [room for path, room in self._rooms.items() if where.scope is None or where.scope.holds(path)]
        return merge(*(room.walk(where, after) for room in rooms), key=lambda record: record.seq)

    def leap(self, seq: int) -> None:
        with self._lock:
            self._head = Head(self._head.epoch, max(self._head.seq, seq))

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        pruned = 0
        with self._lock:
            for room in self._rooms.values():
                pruned += _prune_histories(room.events, room.ids, before, dead, most - pruned)
        return pruned

    def size(self) -> int:
        with self._lock:
            return sum(_measure_record(record) for record in self._walk(Where()))


class _RamTransaction:
    """A transaction that writes in place and keeps an undo log. The caller holds the store's lock."""

    def __init__(self, store: RamStore, rooms: defaultdict[str, _Room], tables: dict[str, Any]) -> None:
        self.seq: int = store.head().seq
        self.history, self.values = store.history, store.values
        self._store, self._rooms, self._tables = store, rooms, tables
        self._undo: list[tuple[Callable[..., object], tuple[Any, ...]]] = []
        self._shuffled: dict[str, _Room] = {}  # undoing breaks the order of their rows

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
        return list(map(_copy_record, self._rooms.get(scope, EMPTY).find_same(keys)))

    def insert(self, records: Sequence[Record]) -> list[Record]:
        return [self._insert(record) for record in records]

    def _insert(self, record: Record) -> Record:
        self.seq += 1
        new = record.but(seq=self.seq)
        kept, room = _copy_record(new), self._rooms[record.scope]
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
        self._undo.append((_set_value, (mapping, key, mapping.get(key))))
        _set_value(mapping, key, value)

    def _log(self, room: _Room, event: Event) -> None:
        events = room.events.setdefault(event.id, [])
        events.append(event)
        self._undo.append((events.pop, ()))


def _copy_record(record: R) -> R:
    """Copies data, meta and state, so that a caller's changes do not reach the store."""
    if record is None or (record.data is None and not record.meta and record.state is NO_STATE):
        return record
    return record.but(data=_copy_json(record.data), meta=_copy_json(record.meta), state=record.state.own())


def _copy_json(value: Json) -> Json:
    """Copies JSON; `deepcopy` looks for cycles and classes, and takes several times as long."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, dict):
        return {name: item if type(item) in _PLAIN else _copy_json(item) for name, item in value.items()}
    return [item if type(item) in _PLAIN else _copy_json(item) for item in value]


def _list_changes(
    rows: dict[int, Record], gone: dict[int, int], head: Head, since: int, limit: int
) -> Changes:
    """Works like `Store.changes`, given a scope's rows and its deletions by seq."""
    fresh = list(islice(takewhile(lambda seq: seq > since, reversed(rows)), limit))
    seqs = fresh[::-1]
    if len(seqs) == limit:  # more may be older than these
        every = list(rows)
        start = bisect_right(every, since)
        seqs = every[start : start + limit]
    if len(seqs) == limit:
        head = Head(head.epoch, seqs[-1])
    late = takewhile(lambda at: at > since, reversed(gone))
    left = [gone[at] for at in late if at <= head.seq and gone[at] <= since]
    return Changes(head, [entry_of(rows[seq]) for seq in seqs], left)


def _set_value(kept: dict[K, V], key: K, value: V | None) -> None:
    """Sets a value; None removes it."""
    if value is None:
        kept.pop(key, None)
    else:
        kept[key] = value


def _prune_histories(
    histories: dict[str, list[Event]], living: Container[str], before: float, dead: bool, most: int
) -> int:
    """Works like `MaintainsStorage.prune`, on a scope's events by id; prunes a history as a whole."""
    pruned = 0
    for id, events in list(histories.items()):
        kept = prune_events(events, before, every=dead and id not in living)
        if pruned + len(events) - len(kept) <= most:
            pruned += len(events) - len(kept)
            _set_value(histories, id, kept or None)
    return pruned


def _measure_record(record: Record) -> int:
    """Estimates the bytes of a record."""
    return len(record.text) + len(record.vector or b"") + len(record.terms) + len(record.original or b"")
