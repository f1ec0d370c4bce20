"""Forgetting: what matches, what a plan says, and old notes of the history."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ...core.event import Event
from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import Json
from ...core.where import Where
from .. import Erased, Erasure, Look
from .client import Wire
from .codec import Light, creation, events_bytes, events_of, record_of
from .connection import script
from .keys import Keys
from .operations import alone, bury_lights, making_anew
from .reading import Reading
from .scripts import LOOK
from .transaction import Desk
from .writing import Writing

PAGE: Final = 1000


class Erasing:
    """The verbs that take something away, and history, which tells of it."""

    def __init__(self, wire: Wire, keys: Keys, reading: Reading, writing: Writing) -> None:
        self._wire, self._keys = wire, keys
        self._reading, self._writing = reading, writing
        self._cluster = wire.address.cluster

    def drop(self, where: Where, now: float, by: str | None) -> list[str]:
        if not self._cluster:
            found: list[str] = self._writing.run(alone(lambda desk: self._drop(desk, where, now, by)))
            return found
        gone: list[str] = []
        for scope in self._reading.scopes(where.scope):
            part = (
                where.within(Scope(scope)) if where != Where(scope=where.scope) else Where(scope=Scope(scope))
            )
            work = alone(lambda desk, part=part: self._drop(desk, part, now, by), scope)  # type: ignore[misc]
            gone += self._writing.run(work)
        return gone

    def _drop(self, desk: Desk, where: Where, now: float, by: str | None) -> list[str]:
        rows = sorted(self._reading.lights(where), key=lambda row: row.record.seq)
        bury_lights(desk, rows, self._told([row.record for row in rows]), now, by)
        self._drop_tallies(desk, where)
        return [row.record.id for row in rows]

    def _drop_tallies(self, desk: Desk, where: Where) -> None:
        if where == Where(scope=where.scope):
            for scope in self._reading.scopes(where.scope):
                desk.do(scope, "DEL", "y")

    def erase(self, plan: Callable[[Look], Erasure], now: float, by: str | None) -> Erased:
        """In a cluster, scopes follow one another: what was erased before another try counts, too."""
        before: dict[tuple[str, str], int] = {}
        last: dict[tuple[str, str], int] = {}

        def run(desk: Desk) -> Erased:
            last.clear()
            return self._erase(desk, plan, now, by, last)

        def landed(scopes: Sequence[str]) -> None:
            before.update({key: notes for key, notes in last.items() if key[0] in scopes})

        done: Erased = self._writing.run(alone(run, landed=landed))
        earlier = {key: notes for key, notes in before.items() if key not in last}
        return Erased([*earlier, *done.gone], done.histories + sum(earlier.values()))

    def _erase(
        self,
        desk: Desk,
        plan: Callable[[Look], Erasure],
        now: float,
        by: str | None,
        notes: dict[tuple[str, str], int],
    ) -> Erased:
        look = _Look(desk, self._reading, self._wire, self._keys.store, self.history)
        wanted = plan(look)
        rows = self._doomed(look, wanted)
        records = [row.record for row in rows]
        told = self._told([*records, *(old for old, _ in wanted.anew)])
        bury_lights(desk, rows, told, now, by)
        for old, new in wanted.anew:
            making_anew(desk, old, new, told.get((old.scope, old.id), b""), now, by)
        for stone in wanted.stones:
            desk.entomb(stone.scope, stone.mark, now)
        if wanted.where is not None:
            self._drop_tallies(desk, wanted.where)
        for name, value in wanted.settings.items():
            desk.do_after("HSET", "s", name, value)
        look.assume()
        notes.update({(r.scope, r.id): _lost(told, r) for r in records})
        histories = sum(_lost(told, r) for r in (*records, *(old for old, _ in wanted.anew)))
        return Erased([(r.scope, r.id) for r in records], histories)

    def _doomed(self, look: _Look, wanted: Erasure) -> list[Light]:
        named = {(r.scope, r.seq): Light(r, r.digest, r.vector is not None) for r in wanted.gone}
        if wanted.where is not None:
            found = sorted(self._reading.lights(wanted.where, look.versions), key=lambda row: row.record.seq)
            named.update({(row.record.scope, row.record.seq): row for row in found})
        return list(named.values())

    def history(self, scope: str, id: str) -> list[Event]:
        base = self._keys.base(scope)
        ((seq, found, told),) = [self._wire.ask(base, script(LOOK, base, "", 1, id))[2]]
        if told:
            return events_of(told, scope, id)
        return [creation(record_of(found, scope, int(seq)))] if found else []

    def retell(self, scope: str, id: str, before: Mapping[int, Mapping[str, Json]]) -> int:
        def run(desk: Desk) -> int:
            base = self._keys.base(scope)
            told = self._wire.ask(base, ("HGET", base + "e", id)) or b""
            events = events_of(told, scope, id) if told else []
            wanted = [n for n, e in enumerate(events) if e.before is not None and e.version in before]
            for n in wanted:
                events[n] = replace(events[n], before=dict(before[events[n].version]))
            if wanted:
                self._rewrite(desk, scope, id, told, events)
            return len(wanted)

        notes: int = self._writing.run(alone(run, scope))
        return notes

    def prune(self, before: float, dead: bool, most: int) -> int:
        pruned = 0
        for scope in self._reading.scopes(None):
            if pruned < most:
                work = alone(
                    lambda desk, scope=scope, left=most - pruned: self._prune(
                        desk, scope, before, dead, left
                    ),  # type: ignore[misc]
                    scope,
                )
                pruned += self._writing.run(work)
        return pruned

    def _prune(self, desk: Desk, scope: str, before: float, dead: bool, most: int) -> int:
        base = self._keys.base(scope)
        flat, ids = self._wire.read([(base, ("HGETALL", base + "e")), (base, ("HKEYS", base + "i"))])
        living, pruned = set(ids), 0
        for name, told in zip(flat[::2], flat[1::2], strict=True):
            gone = dead and name not in living
            events = events_of(told, scope, name.decode())
            kept = [e for e in events if not (e.at < before and (e.what == "moved" or gone))]
            lost = len(events) - len(kept)
            if lost and pruned + lost <= most:
                pruned += lost
                self._rewrite(desk, scope, name.decode(), told, kept)
        return pruned

    def _rewrite(self, desk: Desk, scope: str, id: str, told: bytes, events: Sequence[Event]) -> None:
        """What is told of an id, if it was told so until now."""
        desk.guard(self._keys.base(scope) + "e", id, told)
        if events:
            desk.do(scope, "HSET", "e", id, events_bytes(events))
        else:
            desk.do(scope, "HDEL", "e", id)

    def _told(self, records: Sequence[Record]) -> dict[tuple[str, str], bytes]:
        by_scope: dict[str, list[str]] = {}
        for record in records:
            by_scope.setdefault(record.scope, []).append(record.id)
        asked = [
            (scope, ids[start : start + PAGE])
            for scope, ids in by_scope.items()
            for start in range(0, len(ids), PAGE)
        ]
        bases = [(self._keys.base(scope), ids) for scope, ids in asked]
        answers = self._wire.read((base, ("HMGET", base + "e", *ids)) for base, ids in bases)
        return {
            (scope, id): told
            for (scope, ids), answer in zip(asked, answers, strict=True)
            for id, told in zip(ids, answer, strict=True)
            if told is not None
        }


def _lost(told: Mapping[tuple[str, str], bytes], record: Record) -> int:
    kept = told.get((record.scope, record.id))
    return sum(e.before is not None for e in events_of(kept, record.scope, record.id)) if kept else 0


class _Look:
    """Reads for a plan, and has the write assume that all of it is still so."""

    def __init__(
        self,
        desk: Desk,
        reading: Reading,
        wire: Wire,
        store: str,
        history: Callable[[str, str], list[Event]],
    ) -> None:
        self._desk, self._reading, self._wire = desk, reading, wire
        self._store, self._history = store, history
        self._known = self._hash("h", "scopes")
        self.versions: dict[str, bytes] = {}

    def scan(self, where: Where) -> Iterator[Record]:
        return iter(self._whole(self._reading.lights(where, self.versions)))

    def twins(self, records: Sequence[Record]) -> list[Record]:
        known = {record.seq for record in records}
        said = {(record.scope, record.digest) for record in records}
        found = []
        for scope in dict.fromkeys(record.scope for record in records):
            rows = self._reading.lights(Where(scope=Scope(scope)), self.versions)
            found += [row for row in rows if row.record.seq not in known and (scope, row.digest) in said]
        return self._whole(found)

    def derived(self, scope: Scope) -> list[Record]:
        rows = self._reading.lights(Where(scope=scope), self.versions)
        return self._whole(row for row in rows if row.record.derived_from)

    def history(self, scope: str, id: str) -> list[Event]:
        return self._history(scope, id)

    def setting(self, name: str) -> str | None:
        found = self._hash("s", name)
        self._desk.guard(self._store + "s", name, found)
        return found.decode() if found else None

    def assume(self) -> None:
        for scope, version in self.versions.items():
            self._desk.expect(scope, version)
        self._desk.guard(self._store + "h", "scopes", self._known)

    def _whole(self, rows: Any) -> list[Record]:
        keys = [(row.record.scope, row.record.seq) for row in rows]
        found = self._reading.fetch_all(sorted(keys, key=lambda key: key[1]))
        return [record for record in found if record is not None]

    def _hash(self, key: str, field: str) -> bytes:
        return self._wire.ask(self._store, ("HGET", self._store + key, field)) or b""
