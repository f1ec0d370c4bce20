"""The reference store: plain dictionaries. Short enough to be read as the law."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import islice, takewhile
from typing import Any, TypeVar, cast

from ..core.event import Event
from ..core.record import Record, record_digest
from ..core.scope import Scope
from ..core.where import Where
from . import Transaction
from .model import EPOCH, SETTINGS, Changes, Head, K, Table, V, entry_of
from .ram_transaction import EMPTY, RamTransaction, Room, copy_record
from .rules import check_order

T = TypeVar("T")


class RamStore:
    """Keeps records in this process; they end with it."""

    writable = True

    def __init__(self) -> None:
        self.identity = uuid.uuid4().hex
        self._lock = threading.RLock()
        self._rooms: dict[str, Room] = {}
        self._values: dict[str, dict[Any, Any]] = {}
        self._head = Head(0, 0)

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        with self._lock:
            room = self._rooms.get(scope, EMPTY)
            if keys and isinstance(keys[0], int):
                return [copy_record(room.rows.get(cast("int", seq))) for seq in keys]
            return [copy_record(room.at(cast("str", id))) for id in keys]

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        name, descending = check_order(order)
        end = None if limit is None else offset + limit
        with self._lock:
            if order == "seq":
                return [copy_record(record) for record in islice(self._walk(where, after), offset, end)]
            found = list(self._walk(where, after))
        found.sort(key=lambda record: record.seq, reverse=descending)
        present = [record for record in found if getattr(record, name) is not None]
        present.sort(key=lambda record: getattr(record, name), reverse=descending)
        absent = [record for record in found if getattr(record, name) is None]
        return [copy_record(record) for record in (present + absent)[offset:end]]

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
            room = self._rooms.get(scope, EMPTY)
            fresh = list(takewhile(lambda seq: seq > since, reversed(room.rows)))[::-1]
            seqs, head = fresh[:limit], self._head
            if len(seqs) == limit:
                head = Head(head.epoch, seqs[-1])
            late = takewhile(lambda death: death[0] > since, reversed(room.gone))
            gone = [seq for at, seq in late if at <= head.seq and seq <= since]
            return Changes(head, [entry_of(room.rows[seq]) for seq in seqs], gone)

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
            transaction = RamTransaction(self, self._rooms, self._values)
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
            room = self._rooms.get(scope, EMPTY)
            if every_kind:
                wanted = set(digests)
                return [copy_record(row) for row in room.rows.values() if record_digest(row) in wanted]
            seqs = [seq for digest in digests for seq in room.contents.get(digest, ())]
            return [copy_record(room.rows[seq]) for seq in sorted(seqs)]

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


def _walk_room(room: Room, where: Where, after: int) -> Iterator[Record]:
    matches = where.matches
    for seq, record in room.rows.items():
        if seq > after and matches(record):
            yield record


def _prunable(event: Event, before: float, dead: bool) -> bool:
    return event.at < before and (event.what == "moved" or dead)


def _holds(scope: Scope | None, path: str) -> bool:
    return scope is None or scope.holds(path)


def _size(record: Record) -> int:
    return len(record.text) + len(record.vector or b"") + len(record.terms) + len(record.original or b"")
