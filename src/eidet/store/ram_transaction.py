"""How a `RamStore` is written: its rooms, and a transaction that can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from ..core.event import Event
from ..core.record import Record, record_digest
from ..core.scope import Scope
from ..core.state import NO_STATE
from ..core.validate import Json
from ..core.where import Where
from .model import Derived, Head, K, Table, Use, V
from .rules import UNIQUE_KINDS


@dataclass(slots=True)
class Room:
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


EMPTY = Room()  # stands for a scope that was never written; read only


class Holder(Protocol):
    """What a transaction reads by: its store, whose lock is held."""

    def head(self) -> Head: ...
    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]: ...
    def find(self, where: Where) -> list[Record]: ...
    def same(self, scope: str, digests: Sequence[bytes], *, every_kind: bool = False) -> list[Record]: ...
    def history(self, scope: str, id: str) -> list[Event]: ...
    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]: ...


class RamTransaction:
    """Writes in place and notes how to undo it. The store's lock is held."""

    def __init__(self, store: Holder, rooms: dict[str, Room], values: dict[str, dict[Any, Any]]) -> None:
        self.seq = store.head().seq
        self._store, self._rooms, self._values = store, rooms, values
        self._undo: list[tuple[Callable[..., object], tuple[Any, ...]]] = []
        self.same, self.history, self.values = store.same, store.history, store.values

    def leap(self, seq: int) -> None:
        self.seq = max(self.seq, seq)

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
            own = copy_record(new)
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
                self._use(self._rooms.get(change.scope, EMPTY), change)
                continue
            for room in self._rooms.values():
                if (record := room.rows.get(change.seq)) is not None:
                    self._replace(room, record, record.but(vector=change.vector, terms=change.terms))

    def _use(self, room: Room, use: Use) -> None:
        record = room.at(use.id)
        if record is not None:
            last = use.when if record.last_used is None else max(use.when, record.last_used)
            self._replace(room, record, record.but(uses=record.uses + use.times, last_used=last))

    def _replace(self, room: Room, old: Record, new: Record) -> None:
        room.rows[old.seq] = new
        self._undo.append((room.rows.__setitem__, (old.seq, old)))

    def edit_history(self, edits: Mapping[tuple[str, str], Mapping[int, Mapping[str, Json]] | None]) -> int:
        edited = 0
        for (scope, id), before in edits.items():
            room = self._rooms.get(scope, EMPTY)
            events = room.events.get(id, [])
            new = [_edited(event, before) for event in events]
            if new != events:
                edited += sum(was is not now for was, now in zip(events, new, strict=True))
                room.events[id] = new
                self._undo.append((room.events.__setitem__, (id, events)))
        return edited

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        kept: dict[Any, Any] = self._values.setdefault(table.name, {})
        if clear:
            self._undo.append((self._values.__setitem__, (table.name, kept)))
            kept = self._values[table.name] = {}
        for key, value in values.items():
            self._undo.append((_set_value, (kept, key, kept.get(key))))
            _set_value(kept, key, value)

    def _room(self, scope: str) -> Room:
        return self._rooms.setdefault(scope, Room())

    def _log(self, room: Room, event: Event) -> None:
        events = room.events.setdefault(event.id, [])
        events.append(event)
        self._undo.append((events.pop, ()))


def _set_value(kept: dict[Any, Any], key: Any, value: Any) -> None:
    if value is None:
        kept.pop(key, None)
    else:
        kept[key] = value


def _creation(record: Record) -> Event:
    return Event(what="created", id=record.id, scope=record.scope, at=record.created, by=record.agent)


def _edited(event: Event, before: Mapping[int, Mapping[str, Json]] | None) -> Event:
    if event.before is None or (before is not None and event.version not in before):
        return event
    return replace(event, before=None if before is None else dict(before[event.version]))


R = TypeVar("R", Record, Record | None)
_PLAIN = frozenset((str, int, float, bool, type(None)))


def copy_record(record: R) -> R:
    """The same record with data and meta of its own: what a caller does to them stays with the caller."""
    if record is None or (record.data is None and not record.meta and record.state is NO_STATE):
        return record
    return record.but(data=_own(record.data), meta=_own(record.meta), state=record.state.own())


def _own(value: Json) -> Json:
    """A copy of JSON: `deepcopy` would look for cycles and classes, and takes several times as long."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, dict):
        return {name: item if type(item) in _PLAIN else _own(item) for name, item in value.items()}
    return [item if type(item) in _PLAIN else _own(item) for item in value]
