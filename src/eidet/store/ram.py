"""The reference store: plain dictionaries. Short enough to be read as the law."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge
from itertools import islice, takewhile
from typing import Any, TypeVar, cast

from ..core.event import Event
from ..core.record import Record, record_digest
from ..core.scope import Scope
from ..core.validate import Json
from ..core.where import Where
from . import Transaction
from .model import EPOCH, SETTINGS, Changes, Derived, Entry, Head, K, Table, Use, V
from .rules import UNIQUE_KINDS, check_order

T = TypeVar("T")


@dataclass(slots=True)
class _Room:
    """One scope: live records by rising seq, where each id is, and which seqs are gone since when."""

    rows: dict[int, Record] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)
    contents: dict[bytes, list[int]] = field(default_factory=dict)
    gone: list[tuple[int, int]] = field(default_factory=list)
    events: dict[str, list[Event]] = field(default_factory=dict)

    def at(self, id: str) -> Record | None:
        seq = self.ids.get(id)
        return None if seq is None else self.rows[seq]

    def add(self, record: Record) -> None:
        self.rows[record.seq] = record
        self.ids[record.id] = record.seq
        if record.kind in UNIQUE_KINDS:
            self.contents.setdefault(record_digest(record), []).append(record.seq)

    def take(self, record: Record) -> None:
        del self.rows[record.seq], self.ids[record.id]
        if record.kind in UNIQUE_KINDS:
            self.contents[record_digest(record)].remove(record.seq)

    def restore(self, record: Record) -> None:
        """Puts back what was taken: rows stay in the order of their seqs."""
        self.add(record)
        self.rows = dict(sorted(self.rows.items()))


_EMPTY = _Room()  # stands for a scope that was never written; read only


class RamStore:
    """Keeps records in this process; they end with it."""

    writable = True

    def __init__(self) -> None:
        self.identity = uuid.uuid4().hex
        self._lock = threading.RLock()
        self._rooms: dict[str, _Room] = {}
        self._values: dict[str, dict[Any, Any]] = {}
        self._head = Head(0, 0)

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        with self._lock:
            room = self._rooms.get(scope, _EMPTY)
            if keys and isinstance(keys[0], int):
                return [_copy(room.rows.get(cast("int", seq))) for seq in keys]
            return [_copy(room.at(cast("str", id))) for id in keys]

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        name, descending = check_order(order)
        end = None if limit is None else offset + limit
        with self._lock:
            if order == "seq":
                return [_copy(record) for record in islice(self._walk(where, after), offset, end)]
            found = list(self._walk(where, after))
        found.sort(key=lambda record: record.seq, reverse=descending)
        present = [record for record in found if getattr(record, name) is not None]
        present.sort(key=lambda record: getattr(record, name), reverse=descending)
        absent = [record for record in found if getattr(record, name) is None]
        return [_copy(record) for record in (present + absent)[offset:end]]

    def match(self, where: Where) -> list[int]:
        with self._lock:
            return [record.seq for record in self._walk(where)]

    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        with self._lock:
            found = list(self._walk(where))
        if not columns:
            return {(): len(found)}
        return dict(Counter(tuple(str(getattr(record, name)) for name in columns) for record in found))

    def head(self) -> Head:
        return self._head

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        with self._lock:
            room = self._rooms.get(scope, _EMPTY)
            fresh = list(takewhile(lambda seq: seq > since, reversed(room.rows)))[::-1]
            seqs, head = fresh[:limit], self._head
            if len(seqs) == limit:
                head = Head(head.epoch, seqs[-1])
            late = takewhile(lambda death: death[0] > since, reversed(room.gone))
            gone = [seq for at, seq in late if at <= head.seq and seq <= since]
            return Changes(head, [entry_of(room.rows[seq]) for seq in seqs], gone)

    def history(self, scope: str, id: str) -> list[Event]:
        with self._lock:
            return list(self._rooms.get(scope, _EMPTY).events.get(id, ()))

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
            kept: dict[Any, V] = self._values.get(table.name, {})
            if keys is not None:
                return {key: kept[key] for key in keys if key in kept}
            if limit is not None and not kept:
                return {}
            chosen = iter(sorted(kept))
            if within is not None:
                chosen = (key for key in chosen if within.holds(key[0]))
            if prefix:
                chosen = (key for key in chosen if key.startswith(prefix))
            return {key: kept[key] for key in islice(chosen, limit)}

    def write(self, job: Callable[[Transaction], T]) -> T:
        with self._lock:
            transaction = _RamTransaction(self, self._rooms, self._values)
            try:
                answer = job(transaction)
            except BaseException:
                transaction.undo()
                raise
            settings = self._values.get(SETTINGS.name, {})
            self._head = Head(int(settings.get(EPOCH, 0)), transaction.seq)
            return answer

    def close(self) -> None:
        """Nothing to release."""

    # Abilities.

    def leap(self, seq: int) -> None:
        with self._lock:
            self._head = Head(self._head.epoch, max(self._head.seq, seq))

    def same(self, scope: str, digests: Sequence[bytes], *, every_kind: bool = False) -> list[Record]:
        with self._lock:
            room = self._rooms.get(scope, _EMPTY)
            if every_kind:
                wanted = set(digests)
                return [_copy(row) for row in room.rows.values() if record_digest(row) in wanted]
            seqs = [seq for digest in digests for seq in room.contents.get(digest, ())]
            return [_copy(room.rows[seq]) for seq in sorted(seqs)]

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        with self._lock:
            pruned = 0
            for room in self._rooms.values():
                for id, events in list(room.events.items()):
                    gone = dead and id not in room.ids
                    kept = [event for event in events if not _prunable(event, before, gone)]
                    if pruned + len(events) - len(kept) <= most:
                        pruned += len(events) - len(kept)
                        room.events[id] = kept
                room.events = {id: events for id, events in room.events.items() if events}
            return pruned

    def size(self) -> int:
        with self._lock:
            return sum(sum(map(_size, room.rows.values())) for room in self._rooms.values())

    def _walk(self, where: Where, after: int = 0) -> Iterator[Record]:
        """Matching records by rising seq; the lock must be held."""
        rooms = [room for path, room in self._rooms.items() if _holds(where.scope, path)]
        walks = [_walk_room(room, where, after) for room in rooms]
        if len(walks) == 1:
            return walks[0]
        return merge(*walks, key=lambda record: record.seq)


def _walk_room(room: _Room, where: Where, after: int) -> Iterator[Record]:
    matches = where.matches
    for seq, record in room.rows.items():
        if seq > after and matches(record):
            yield record


class _RamTransaction:
    """Writes in place and notes how to undo it. The store's lock is held."""

    def __init__(self, store: RamStore, rooms: dict[str, _Room], values: dict[str, dict[Any, Any]]) -> None:
        self.seq = store.head().seq
        self._store, self._rooms, self._values = store, rooms, values
        self._undo: list[tuple[Callable[..., object], tuple[Any, ...]]] = []
        self.same, self.history, self.values = store.same, store.history, store.values

    def undo(self) -> None:
        for function, arguments in reversed(self._undo):
            function(*arguments)

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
            own = _copy(new)
            room = self._room(record.scope)
            room.add(own)
            self._undo.append((room.take, (own,)))
            events = room.events.get(record.id)
            if not events or events[-1].what == "forgotten":
                self._log(room, _creation(record))
            stored.append(new)
        return stored

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        for record, event in zip(records, events, strict=True):
            self.seq += 1
            room = self._room(record.scope)
            kept = room.rows[record.seq]
            room.take(kept)
            room.gone.append((self.seq, record.seq))
            self._undo += [(room.restore, (kept,)), (room.gone.pop, ())]
            self._log(room, event)

    def update(self, changes: Iterable[Use | Derived]) -> None:
        for change in changes:
            if isinstance(change, Use):
                self._use(self._rooms.get(change.scope, _EMPTY), change)
                continue
            for room in self._rooms.values():
                if (record := room.rows.get(change.seq)) is not None:
                    self._replace(room, record, record.but(vector=change.vector, terms=change.terms))

    def _use(self, room: _Room, use: Use) -> None:
        record = room.at(use.id)
        if record is not None:
            last = use.when if record.last_used is None else max(use.when, record.last_used)
            self._replace(room, record, record.but(uses=record.uses + use.times, last_used=last))

    def _replace(self, room: _Room, old: Record, new: Record) -> None:
        room.rows[old.seq] = new
        self._undo.append((room.rows.__setitem__, (old.seq, old)))

    def edit_history(self, edits: Mapping[tuple[str, str], Mapping[int, Mapping[str, Json]] | None]) -> int:
        edited = 0
        for (scope, id), before in edits.items():
            room = self._rooms.get(scope, _EMPTY)
            events = room.events.get(id, [])
            new = [_edited(event, before) for event in events]
            if new != events:
                edited += sum(was is not now for was, now in zip(events, new, strict=True))
                room.events[id] = new
                self._undo.append((room.events.__setitem__, (id, events)))
        return edited

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        old = self._values.get(table.name, {})
        new: dict[Any, Any] = {} if clear else dict(old)
        for key, value in values.items():
            if value is None:
                new.pop(key, None)
            else:
                new[key] = value
        self._values[table.name] = new
        self._undo.append((self._values.__setitem__, (table.name, old)))

    def _room(self, scope: str) -> _Room:
        return self._rooms.setdefault(scope, _Room())

    def _log(self, room: _Room, event: Event) -> None:
        events = room.events.setdefault(event.id, [])
        events.append(event)
        self._undo.append((events.pop, ()))


def _creation(record: Record) -> Event:
    return Event(what="created", id=record.id, scope=record.scope, at=record.created, by=record.agent)


def _edited(event: Event, before: Mapping[int, Mapping[str, Json]] | None) -> Event:
    if event.before is None or (before is not None and event.version not in before):
        return event
    return replace(event, before=None if before is None else dict(before[event.version]))


def _prunable(event: Event, before: float, dead: bool) -> bool:
    return event.at < before and (event.what == "moved" or dead)


def _holds(scope: Scope | None, path: str) -> bool:
    return scope is None or scope.holds(path)


R = TypeVar("R", Record, Record | None)
_PLAIN = frozenset((str, int, float, bool, type(None)))


def _copy(record: R) -> R:
    """The same record with data and meta of its own: what a caller does to them stays with the caller."""
    if record is None or (record.data is None and not record.meta):
        return record
    return record.but(data=_own(record.data), meta=_own(record.meta))


def _own(value: Json) -> Json:
    """A copy of JSON: `deepcopy` would look for cycles and classes, and takes several times as long."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, dict):
        return {name: item if type(item) in _PLAIN else _own(item) for name, item in value.items()}
    return [item if type(item) in _PLAIN else _own(item) for item in value]


def entry_of(record: Record) -> Entry:
    x, y, z = (*(record.place or ()), None, None, None)[:3]
    return Entry(
        record.seq,
        record.kind,
        record.tier,
        record.trust,
        record.agent,
        record.session,
        record.who,
        record.source,
        record.occurred,
        record.created,
        record.step,
        x,
        y,
        z,
        record.importance,
        record.expires,
        record.level,
        record.vector,
        record.terms,
    )


def _size(record: Record) -> int:
    return len(record.text) + len(record.vector or b"") + len(record.terms) + len(record.original or b"")
