"""The reference store: plain dictionaries. Short enough to be read as the law."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TypeVar

from ..core.errors import Conflict
from ..core.event import Event
from ..core.record import Record
from ..core.scope import Scope
from ..core.state import NO_STATE
from ..core.validate import Json
from ..core.where import Where
from ..quality import Survey, Tally
from . import Changes, Derived, Entry, Erased, Erasure, Head, Look, Scrubbed, Uses, Watch
from .rules import (
    UNIQUE_KINDS,
    check_entombed,
    check_epoch,
    check_expected,
    check_order,
    lease_of,
    may_lease,
    recast_of,
    said_before,
    says_the_same,
    succeed,
)


@dataclass(slots=True)
class _Room:
    """One scope: live records by rising seq, where each id is, and which seqs are gone since when."""

    rows: dict[int, Record] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)
    contents: dict[str, list[int]] = field(default_factory=dict)
    gone: list[tuple[int, int]] = field(default_factory=list)
    events: dict[str, list[Event]] = field(default_factory=dict)

    def at(self, id: str) -> Record | None:
        seq = self.ids.get(id)
        return None if seq is None else self.rows[seq]

    def add(self, record: Record) -> None:
        self.rows[record.seq] = record
        self.ids[record.id] = record.seq
        if record.kind in UNIQUE_KINDS:
            self.contents.setdefault(record.digest, []).append(record.seq)

    def remove(self, record: Record, seq: int) -> None:
        del self.rows[record.seq], self.ids[record.id]
        if record.kind in UNIQUE_KINDS:
            self.contents[record.digest].remove(record.seq)
        self.gone.append((seq, record.seq))

    def log(self, event: Event) -> None:
        self.events.setdefault(event.id, []).append(event)

    def twin(self, record: Record, now: float) -> Record | None:
        """A living fact or document that says the same."""
        if record.kind not in UNIQUE_KINDS:
            return None
        found = (self.rows[seq] for seq in reversed(self.contents.get(record.digest, ())))
        return next((twin for twin in found if twin.expires is None or twin.expires > now), None)


_EMPTY = _Room()  # stands for a scope that was never written; read only


class RamStore:
    """Keeps records in this process; they end with it."""

    writable = True

    def __init__(self) -> None:
        self.identity = uuid.uuid4().hex
        self._lock = threading.RLock()
        self._rooms: dict[str, _Room] = {}
        self._settings: dict[str, str] = {}
        self._staged: tuple[str, dict[int, bytes]] = ("", {})
        self._tallies: dict[tuple[str, int, str], Counter[str]] = {}
        self._tombs: dict[tuple[str, bytes], float] = {}
        self._head = Head(0, 0)

    def put(
        self,
        records: Sequence[Record],
        *,
        now: float,
        unique: bool = True,
        expect: int | None = None,
        epoch: int | None = None,
        by: str | None = None,
        watch: Watch | None = None,
    ) -> list[Record]:
        with self._lock:
            check_epoch(epoch, self._head.epoch)
            if watch is not None and self._tombs:
                self._mind(records, watch)
            if expect is not None and len({(r.scope, r.id) for r in records}) < len(records):
                raise Conflict("a record cannot be changed twice from one version")
            for record in records:
                check_expected(expect, self._room(record.scope).at(record.id), record.id)
            return [_copy(self._put(_copy(record), now, unique, expect, by)) for record in records]

    def _put(self, record: Record, now: float, unique: bool, expect: int | None, by: str | None) -> Record:
        room = self._room(record.scope)
        old = room.at(record.id)
        if old is None:
            twin = room.twin(record, now) if unique else None
            if twin is not None:
                return self._use(room, twin, 1, now)
            fresh = record.but(seq=self._next())
            room.add(fresh)
            room.log(Event(what="created", id=fresh.id, scope=fresh.scope, at=fresh.created, by=fresh.agent))
            return fresh
        before = said_before(old, record)
        if says_the_same(old, record, before, expect):
            return old
        room.remove(old, self._next())
        new = succeed(old, record).but(seq=self._next())
        room.add(new)
        room.log(
            Event(
                what="revised", id=new.id, scope=new.scope, at=now, by=by, version=new.version, before=before
            )
        )
        return new

    def recast(
        self,
        forms: Sequence[tuple[Record, Record]],
        *,
        now: float,
        epoch: int | None = None,
        by: str | None = None,
    ) -> list[Record | None]:
        with self._lock:
            check_epoch(epoch, self._head.epoch)
            return [_copy(self._recast(given, _copy(form), now, by)) for given, form in forms]

    def _recast(self, given: Record, form: Record, now: float, by: str | None) -> Record | None:
        room = self._room(given.scope)
        old = room.at(given.id)
        new = recast_of(old, given, form)
        if old is None or new is None:
            return None
        room.remove(old, self._next())
        new = new.but(seq=self._next())
        room.add(new)
        room.log(Event(what="moved", id=new.id, scope=new.scope, at=now, by=by, version=new.version))
        return new

    def bury(self, records: Sequence[Record], *, now: float, by: str | None = None) -> list[str]:
        with self._lock:
            found = [(self._room(record.scope).at(record.id), record) for record in records]
            doomed = [old for old, record in found if old is not None and old.seq == record.seq]
            return self._bury(list({(r.scope, r.id): r for r in doomed}.values()), now, by)

    def get(self, scope: str, ids: Sequence[str]) -> list[Record | None]:
        with self._lock:
            room = self._rooms.get(scope, _EMPTY)
            return [_copy(room.at(id)) for id in ids]

    def fetch(self, scope: str, seqs: Sequence[int]) -> list[Record | None]:
        with self._lock:
            rows = self._rooms.get(scope, _EMPTY).rows
            return [_copy(rows.get(seq)) for seq in seqs]

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0
    ) -> list[Record]:
        name, descending = check_order(order)
        found = sorted(self._matching(where), key=lambda r: r.seq, reverse=descending)
        present = [r for r in found if getattr(r, name) is not None]
        present.sort(key=lambda r: getattr(r, name), reverse=descending)
        absent = [r for r in found if getattr(r, name) is None]
        chosen = (present + absent)[offset : None if limit is None else offset + limit]
        return [_copy(record) for record in chosen]

    def scan(self, where: Where, *, after: int = 0, batch: int = 1000) -> Iterator[Record]:
        del batch
        found = (record for record in self._matching(where) if record.seq > after)
        yield from map(_copy, sorted(found, key=lambda r: r.seq))

    def match(self, where: Where) -> list[int]:
        return sorted(record.seq for record in self._matching(where))

    def count(self, where: Where) -> int:
        return len(self._matching(where))

    def census(self, where: Where) -> dict[tuple[str, str], int]:
        return dict(Counter((str(r.kind), str(r.tier)) for r in self._matching(where)))

    def drop(self, where: Where, *, now: float, by: str | None = None) -> list[str]:
        with self._lock:
            gone = self._bury(sorted(self._matching(where), key=lambda r: r.seq), now, by)
            if where == Where(scope=where.scope):
                for key in [key for key in self._tallies if _in(where.scope, key[0])]:
                    del self._tallies[key]
            return gone

    def erase(self, plan: Callable[[Look], Erasure], *, now: float, by: str | None = None) -> Erased:
        with self._lock:
            wanted = plan(_Look(self))
            doomed = [self._room(r.scope).rows[r.seq] for r in wanted.gone]
            if wanted.where is not None:
                doomed += sorted(self._matching(wanted.where), key=lambda r: r.seq)
            anew = [old for old, _ in wanted.anew]
            told = sum(e.before is not None for r in (*doomed, *anew) for e in self.history(r.scope, r.id))
            if wanted.where is not None:
                self.drop(wanted.where, now=now, by=by)
            self._bury(doomed[: len(wanted.gone)], now, by)
            for old, new in wanted.anew:
                self._make_anew(old, _copy(new), now, by)
            self._tombs |= dict.fromkeys(((stone.scope, stone.mark) for stone in wanted.stones), now)
            self._settings |= wanted.settings
            return Erased([(record.scope, record.id) for record in doomed], told)

    def _make_anew(self, old: Record, record: Record, now: float, by: str | None) -> None:
        room = self._room(old.scope)
        room.remove(room.rows[old.seq], self._next())
        new = succeed(old, record).but(seq=self._next())
        room.add(new)
        room.events[new.id] = [replace(event, before=None) for event in room.events[new.id]]
        room.log(
            Event(what="revised", id=new.id, scope=new.scope, at=now, by=by, version=new.version, before=None)
        )

    def _mind(self, records: Sequence[Record], watch: Watch) -> None:
        claims = watch.claims()
        check_entombed(
            records,
            claims,
            watch,
            lambda scope, mark: self._tombs.get((scope, mark)),
            lambda scope, name: name in self._rooms.get(scope, _EMPTY).ids,
        )
        if watch.again:
            for record, claim in zip(records, claims, strict=True):
                self.exhume(record.scope, claim.says)

    def entombed(self, scope: str, marks: Sequence[bytes]) -> dict[bytes, float]:
        with self._lock:
            return {mark: self._tombs[scope, mark] for mark in marks if (scope, mark) in self._tombs}

    def exhume(self, scope: str, marks: Sequence[bytes]) -> int:
        with self._lock:
            return sum(self._tombs.pop((scope, mark), None) is not None for mark in marks)

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        del said
        return Scrubbed()

    def _bury(self, doomed: Sequence[Record], now: float, by: str | None) -> list[str]:
        for record in doomed:
            room = self._room(record.scope)
            room.remove(record, self._next())
            room.events[record.id] = [replace(e, before=None) for e in room.events[record.id]]
            room.log(
                Event(
                    what="forgotten",
                    id=record.id,
                    scope=record.scope,
                    at=now,
                    by=by,
                    version=record.version,
                )
            )
        return [record.id for record in doomed]

    def note(self, uses: Uses) -> None:
        with self._lock:
            for (scope, id), (count, when) in uses.items():
                room = self._rooms.get(scope, _EMPTY)
                if (record := room.at(id)) is not None:
                    self._use(room, record, count, when)

    def tally(self, rows: Sequence[Tally], *, since: int) -> None:
        with self._lock:
            for scope, day, what, counts in rows:
                self._tallies.setdefault((scope, day, what), Counter()).update(counts)
            scopes = {row.scope for row in rows}
            for key in [key for key in self._tallies if key[0] in scopes and key[1] < since]:
                del self._tallies[key]

    def tallies(self, scope: Scope | None, since: int) -> list[Tally]:
        with self._lock:
            return [
                Tally(*key, dict(counts))
                for key, counts in sorted(self._tallies.items())
                if _in(scope, key[0]) and key[1] >= since
            ]

    def survey(self, scope: Scope | None, *, now: float, fresh: float, ripe: float, stale: float) -> Survey:
        living = self._matching(Where(scope=scope, alive_at=now))
        said = Counter((r.scope, r.digest) for r in living if r.kind in UNIQUE_KINDS)
        old = [r for r in living if r.created < ripe]
        return Survey(
            records=len(living),
            used=sum(r.uses > 0 for r in living),
            fresh=sum(r.created >= fresh for r in living),
            oldest=min((r.created for r in living), default=None),
            ripe=len(old),
            never=sum(r.uses == 0 for r in old),
            stale=sum(r.created < stale and (r.last_used is None or r.last_used < stale) for r in living),
            distinct=len(said),
            duplicates=said.total() - len(said),
        )

    def history(self, scope: str, id: str) -> list[Event]:
        with self._lock:
            return list(self._rooms.get(scope, _EMPTY).events.get(id, ()))

    def retell(self, scope: str, id: str, before: Mapping[int, Mapping[str, Json]]) -> int:
        with self._lock:
            told = self._rooms.get(scope, _EMPTY).events.get(id, [])
            notes = [at for at, e in enumerate(told) if e.before is not None and e.version in before]
            for at in notes:
                told[at] = replace(told[at], before=dict(before[told[at].version]))
            return len(notes)

    def scopes(self, scope: Scope | None = None, *, alive_at: float | None = None) -> dict[str, int]:
        with self._lock:
            counts = {
                path: sum(alive_at is None or r.expires is None or r.expires > alive_at for r in rows)
                for path, rows in sorted((path, room.rows.values()) for path, room in self._rooms.items())
                if _in(scope, path)
            }
            return {path: count for path, count in counts.items() if count}

    def head(self) -> Head:
        return self._head

    def leap(self, seq: int) -> None:
        """No write gets a seq up to this one any more: for whoever counts over several stores."""
        with self._lock:
            self._head = Head(self._head.epoch, max(self._head.seq, seq))

    def twins(self, records: Sequence[Record], *, now: float) -> list[Record | None]:
        """A living fact or document of its scope that says what a record says; None where there is none."""
        with self._lock:
            return [_copy(self._rooms.get(r.scope, _EMPTY).twin(r, now)) for r in records]

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

    def witness(self, seq: int) -> str | None:
        with self._lock:
            found = (room.rows.get(seq) for room in self._rooms.values())
            return next((f"{record.id} {record.created}" for record in found if record), None)

    def setting(self, name: str) -> str | None:
        return self._settings.get(name)

    def settings(self, prefix: str) -> dict[str, str]:
        with self._lock:
            return {name: value for name, value in sorted(self._settings.items()) if name.startswith(prefix)}

    def configure(self, settings: Mapping[str, str], *, fresh: bool = False) -> None:
        with self._lock:
            self._settings = {**settings, **self._settings} if fresh else {**self._settings, **settings}

    def lease(self, name: str, owner: str, *, now: float, until: float) -> bool:
        with self._lock:
            mine = may_lease(self._settings.get(f"lease:{name}"), owner, now)
            if mine:
                self._settings[f"lease:{name}"] = lease_of(owner, until)
            return mine

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        with self._lock:
            pruned = 0
            for room in self._rooms.values():
                for id in list(room.events):
                    kept = [
                        e for e in room.events[id] if not _prunable(e, before, dead and id not in room.ids)
                    ]
                    if pruned + len(room.events[id]) - len(kept) <= most:
                        pruned += len(room.events[id]) - len(kept)
                        room.events[id] = kept
                room.events = {id: told for id, told in room.events.items() if told}
            return pruned

    def trim(self, most: int) -> int:
        del most
        return 0

    def rewrite(self, derived: Iterable[Derived]) -> None:
        with self._lock:
            wanted = {row.seq: row for row in derived}
            for room in self._rooms.values():
                for seq in wanted.keys() & room.rows.keys():
                    row = wanted[seq]
                    room.rows[seq] = room.rows[seq].but(vector=row.vector, terms=row.terms)
            self._head = Head(self._head.epoch + 1, self._head.seq)

    def stage(self, name: str, vectors: Sequence[tuple[int, bytes]]) -> None:
        with self._lock:
            kept = self._staged[1] if self._staged[0] == name else {}
            self._staged = (name, {**kept, **dict(vectors)})

    def staged(self, name: str) -> int:
        kept, vectors = self._staged
        return max(vectors, default=0) if kept == name else 0

    def adopt(self, name: str, settings: Mapping[str, str]) -> int:
        with self._lock:
            vectors = self._staged[1] if self._staged[0] == name else {}
            rooms = self._rooms.values()
            rows = [row for room in rooms for row in room.rows.values() if row.vector is not None]
            lacking = sum(row.seq not in vectors for row in rows)
            if not lacking:
                self.rewrite(Derived(row.seq, vectors[row.seq], row.terms) for row in rows)
                self._settings.update(settings)
                self._staged = ("", {})
            return lacking

    def size(self) -> int:
        with self._lock:
            return sum(
                len(r.text) + len(r.vector or b"") + len(r.terms) + len(r.original or b"")
                for room in self._rooms.values()
                for r in room.rows.values()
            )

    def close(self) -> None:
        """Nothing to release."""

    def _room(self, scope: str) -> _Room:
        return self._rooms.setdefault(scope, _Room())

    def _next(self) -> int:
        self._head = Head(self._head.epoch, self._head.seq + 1)
        return self._head.seq

    def _use(self, room: _Room, record: Record, count: int, when: float) -> Record:
        last = when if record.last_used is None else max(when, record.last_used)
        used = record.but(uses=record.uses + count, last_used=last)
        room.rows[record.seq] = used
        return used

    def _matching(self, where: Where) -> list[Record]:
        with self._lock:
            return [
                record
                for path, room in self._rooms.items()
                if where.scope is None or where.scope.holds(path)
                for record in room.rows.values()
                if where.matches(record)
            ]


class _Look:
    """Reads a store while its lock is held."""

    def __init__(self, store: RamStore) -> None:
        self._store = store

    def scan(self, where: Where) -> Iterator[Record]:
        return self._store.scan(where)

    def twins(self, records: Sequence[Record]) -> list[Record]:
        known = {record.seq for record in records}
        said = {(record.scope, record.digest) for record in records}
        texts = {(record.scope, record.text) for record in records}
        found = []
        for scope in {record.scope for record in records}:
            for record in self._store.scan(Where(scope=Scope(scope))):
                alike = (scope, record.text) in texts or record.original is not None
                if alike and record.seq not in known and (scope, record.digest) in said:
                    found.append(record)
        return found

    def derived(self, scope: Scope) -> list[Record]:
        return [record for record in self._store.scan(Where(scope=scope)) if record.derived_from]

    def history(self, scope: str, id: str) -> list[Event]:
        return self._store.history(scope, id)

    def setting(self, name: str) -> str | None:
        return self._store.setting(name)


def _prunable(event: Event, before: float, dead: bool) -> bool:
    return event.at < before and (event.what == "moved" or dead)


def _in(scope: Scope | None, path: str) -> bool:
    return scope is None or scope.holds(path)


R = TypeVar("R", Record, Record | None)
_PLAIN = frozenset((str, int, float, bool, type(None)))


def _copy(record: R) -> R:
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
