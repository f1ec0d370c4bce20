"""What each verb writes: the rules of all stores, applied on a desk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...core.errors import Conflict
from ...core.event import Event
from ...core.record import Record, record_digest
from .. import Watch
from ..rules import UNIQUE_KINDS, check_expected, recast_of, said_before, says_the_same, succeed
from .codec import Light
from .scope_view import Need
from .transaction import Desk
from .writing import Work


def putting(
    records: Sequence[Record],
    *,
    now: float,
    unique: bool,
    expect: int | None,
    epoch: int | None,
    by: str | None,
    watch: Watch | None,
) -> Work:
    def run(desk: Desk) -> list[Record]:
        desk.check_epoch(epoch)
        if watch is not None:
            desk.mind(records, watch)
        for record in records if expect is not None else ():
            check_expected(expect, desk.at(record.scope, record.id), record.id)
        return [_put(desk, record, now, unique, expect, by) for record in records]

    if expect is not None and len({(r.scope, r.id) for r in records}) < len(records):
        raise Conflict("a record cannot be changed twice from one version")
    return Work(run, lambda: _needs(records, twins=unique), blind=expect is None)


def _put(desk: Desk, record: Record, now: float, unique: bool, expect: int | None, by: str | None) -> Record:
    old = desk.at(record.scope, record.id)
    if old is None:
        twin = desk.twin(record, now) if unique else None
        if twin is not None:
            return desk.use(twin, 1, now)
        created = Event(what="created", id=record.id, scope=record.scope, at=record.created, by=record.agent)
        return desk.add(record, created, now)
    before = said_before(old, record)
    if says_the_same(old, record, before, expect):
        return old
    new = succeed(old, record)
    told = Event(
        what="revised", id=new.id, scope=new.scope, at=now, by=by, version=new.version, before=before
    )
    return replaced(desk, old, new, [*desk.events(old), told], now)


def replaced(desk: Desk, old: Record, new: Record, events: Sequence[Event], now: float) -> Record:
    desk.remove(old, events)
    return desk.add(new, None, now, carry=True)


def recasting(
    forms: Sequence[tuple[Record, Record]], *, now: float, epoch: int | None, by: str | None
) -> Work:
    def run(desk: Desk) -> list[Record | None]:
        desk.check_epoch(epoch)
        return [_recast(desk, given, form, now, by) for given, form in forms]

    return Work(run, lambda: _needs((given for given, _ in forms), twins=False))


def _recast(desk: Desk, given: Record, form: Record, now: float, by: str | None) -> Record | None:
    old = desk.at(given.scope, given.id)
    new = recast_of(old, given, form)
    if old is None or new is None:
        return None
    moved = Event(what="moved", id=new.id, scope=new.scope, at=now, by=by, version=new.version)
    return replaced(desk, old, new, [*desk.events(old), moved], now)


def burying(records: Sequence[Record], *, now: float, by: str | None) -> Work:
    def run(desk: Desk) -> list[str]:
        gone = []
        for record in records:
            old = desk.at(record.scope, record.id)
            if old is not None and old.seq == record.seq:
                bury(desk, old, now, by)
                gone.append(old.id)
        return gone

    return Work(run, lambda: _needs(records, twins=False))


def bury(desk: Desk, record: Record, now: float, by: str | None, digest: bytes | None = None) -> None:
    last = Event(what="forgotten", id=record.id, scope=record.scope, at=now, by=by, version=record.version)
    told = [replace(event, before=None) for event in desk.events(record)]
    desk.remove(record, [*told, last], digest)


def bury_lights(
    desk: Desk, rows: Sequence[Light], told: Mapping[tuple[str, str], bytes], now: float, by: str | None
) -> None:
    for row in rows:
        desk.suppose(row.record, told.get((row.record.scope, row.record.id), b""))
        bury(desk, row.record, now, by, bytes.fromhex(row.digest))


def making_anew(desk: Desk, old: Record, record: Record, told: bytes, now: float, by: str | None) -> None:
    """The next version, of which history tells nothing that was said before."""
    desk.suppose(old, told)
    new = succeed(old, record)
    kept = [replace(event, before=None) for event in desk.events(old)]
    last = Event(what="revised", id=new.id, scope=new.scope, at=now, by=by, version=new.version)
    replaced(desk, old, new, [*kept, last], now)


def noting(scope: str | None, uses: Iterable[tuple[tuple[str, str], tuple[int, float]]]) -> Work:
    rows = list(uses)

    def run(desk: Desk) -> None:
        for (path, id), (count, when) in rows:
            desk.note(path, id, count, when)

    return Work(run, blind=True, scope=scope or "")


def alone(
    run: Callable[[Desk], Any], scope: str = "", landed: Callable[[Sequence[str]], None] | None = None
) -> Work:
    """Work that reads for itself."""
    return Work(run, alone=True, scope=scope, landed=landed)


def _needs(records: Iterable[Record], *, twins: bool) -> dict[str, Need]:
    ids: dict[str, set[str]] = {}
    digests: dict[str, set[bytes]] = {}
    for record in records:
        ids.setdefault(record.scope, set()).add(record.id)
        if twins and record.kind in UNIQUE_KINDS:
            digests.setdefault(record.scope, set()).add(record_digest(record))
    return {scope: Need(frozenset(found), frozenset(digests.get(scope, ()))) for scope, found in ids.items()}
