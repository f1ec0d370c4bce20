"""Putting records where they belong, as one store would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple

from ...core.errors import Conflict, EidetError, Unavailable
from ...core.record import Record
from .. import Claim, Erasure, Look, Watch, verbs
from ..rules import UNIQUE_KINDS, Entombed, check_entombed, check_expected
from .member import STEP, Leaping, Side
from .members import Together
from .moving import located, moved_home, newest

GRAVES: Final = "graves"  # of the long store: set once anything was forgotten for good
Key = tuple[str, str]


class _Asked(NamedTuple):
    """How a put was asked for."""

    now: float
    unique: bool
    expect: int | None
    by: str | None


def put(
    stores: Together,
    records: Sequence[Record],
    *,
    now: float,
    unique: bool,
    expect: int | None,
    by: str | None,
    watch: Watch | None,
) -> list[Record]:
    """See `Store.put`. What belongs to a store that is down goes to the outbox."""
    asked = _Asked(now, unique, expect, by)
    there = whereabouts(stores, records)
    _check_versions(stores, records, there, expect)
    _check_graves(stores, records, watch)
    twins = _twins(stores, [r for r in records if (r.scope, r.id) not in there], asked)
    sides = {stores.side(_number(stores, record, there)) for record in records}
    if len(sides) == 1 and not twins and {stores.home(record) for record in records} == sides:
        stored = _written(stores, records, list(range(len(records))), there, asked, watch)
    else:
        stored = _one_by_one(stores, records, there, asked, watch)
    if watch is not None and watch.again:
        _exhume(stores, records, watch)
    return stored


def _one_by_one(
    stores: Together, records: Sequence[Record], before: dict[Key, Record], asked: _Asked, watch: Watch | None
) -> list[Record]:
    """Where the stores have to take turns. If one fails, what was new is taken back."""
    stored: list[Record] = []
    for at, record in enumerate(records):
        there = whereabouts(stores, [record])
        twin = None if there else _twins(stores, [record], asked).get((record.scope, record.id))
        try:
            if twin is None:
                stored += _written(stores, records, [at], there, asked, watch)
            else:
                stored.append(_used(stores, *twin, asked.now))
        except EidetError:
            _take_back(stores, stored, before, asked.now)
            raise
    return stored


def _number(stores: Together, record: Record, there: dict[Key, Record]) -> int:
    """Of the store that writes a record: that which has it, or else its home."""
    old = there.get((record.scope, record.id))
    return stores.home(record).number if old is None else old.seq % STEP


def whereabouts(stores: Together, records: Sequence[Record]) -> dict[Key, Record]:
    """Where each record is now (by its seq), in the copy that counts."""
    found = stores.asked(lambda side, _: [side.told(r) for r in located(side, records).values()])
    return newest(record for _, told in found for record in told)


def _check_versions(
    stores: Together, records: Sequence[Record], there: dict[Key, Record], expect: int | None
) -> None:
    if expect is None:
        return
    if len({(record.scope, record.id) for record in records}) < len(records):
        raise Conflict("a record cannot be changed twice from one version")
    for record in records:
        old = there.get((record.scope, record.id))
        if old is None and (missing := stores.missing()):
            raise Unavailable(
                f"the {missing[0]} store is down: whether {record.id!r} is at version {expect} is unknown",
                retry_after=1.0,
            )
        check_expected(expect, old, record.id)


def _twins(stores: Together, records: Sequence[Record], asked: _Asked) -> dict[Key, tuple[Side, Record]]:
    """Where the newest that says what a new record says is in a store other than its own."""
    new = [record for record in records if record.kind in UNIQUE_KINDS] if asked.unique else []
    if not new:
        return {}
    best: dict[Key, tuple[int, Side, Record]] = {}
    for side, twins in stores.asked(lambda _, store: twins_in(store, new, asked.now)):
        for record, twin in zip(new, twins, strict=True):
            key = record.scope, record.id
            if twin is not None and (key not in best or best[key][0] < side.outside(twin.seq)):
                best[key] = side.outside(twin.seq), side, twin
    homes = {(record.scope, record.id): stores.home(record) for record in new}
    return {key: (side, twin) for key, (_, side, twin) in best.items() if side is not homes[key]}


class _Seen(EidetError):
    """Ends a look that shall change nothing."""


def twins_in(store: Leaping, records: Sequence[Record], now: float) -> list[Record | None]:
    """A living fact or document for each record that says the same; the newest, None where there is none."""
    ask: Callable[..., list[Record | None]] | None = getattr(store, "twins", None)
    if ask is not None:
        return ask(records, now=now)
    seen: list[Record] = []

    def plan(look: Look) -> Erasure:
        seen.extend(look.twins([record.but(seq=-1) for record in records]))
        raise _Seen

    with suppress(_Seen):
        verbs.erase(store, plan, now=now)
    alive = [r for r in seen if r.kind in UNIQUE_KINDS and (r.expires is None or r.expires > now)]
    by_content: dict[Any, Record] = {(r.scope, r.digest): r for r in sorted(alive, key=lambda r: r.seq)}
    return [by_content.get((record.scope, record.digest)) for record in records]


def _used(stores: Together, side: Side, twin: Record, now: float) -> Record:
    stores.write(side, lambda store: verbs.add_uses(store, {(twin.scope, twin.id): (1, now)}))
    (record,) = side.ask(lambda store: store.read(twin.scope, [twin.id]))
    return side.told(record or twin)


def _written(
    stores: Together,
    records: Sequence[Record],
    places: list[int],
    there: dict[Key, Record],
    asked: _Asked,
    watch: Watch | None,
) -> list[Record]:
    """Some of the records of a call, which one store writes; then they are taken home."""
    side = stores.side(_number(stores, records[places[0]], there))
    assert side is not None
    try:
        stored = _put_in(stores, side, records, places, asked, watch)
    except Unavailable:
        if asked.expect is not None or side is stores.outbox:
            raise
        side = stores.box()
        stored = _put_in(stores, side, records, places, asked, watch)
    moved = moved_home(stores, side, stored, asked.now)
    return [moved.get((record.scope, record.id), side.told(record)) for record in stored]


def _put_in(
    stores: Together,
    side: Side,
    records: Sequence[Record],
    places: list[int],
    asked: _Asked,
    watch: Watch | None,
) -> list[Record]:
    own = [records[at] for at in places]
    minded = None if watch is None else _part(stores, side, own, places, watch)
    try:
        return stores.stored(
            side,
            lambda store: verbs.put(
                store, own, now=asked.now, unique=asked.unique, expect=asked.expect, by=asked.by, watch=minded
            ),
        )
    except Entombed as error:
        raise Entombed(error.scope, {places[at]: since for at, since in error.found.items()}) from error


def _take_back(stores: Together, stored: list[Record], there: dict[Key, Record], now: float) -> None:
    """What was new of a call that cannot be done as a whole."""
    for side in stores.sides:
        new = [
            side.own(record)
            for record in stored
            if record.seq % STEP == side.number and (record.scope, record.id) not in there
        ]
        if new:
            stores.write(side, partial(verbs.delete_unchanged, records=new, now=now))


# What was forgotten for good.


def _part(stores: Together, side: Side, own: Sequence[Record], places: list[int], watch: Watch) -> Watch:
    """The watch over some of the records; what they were made of may be in another store."""

    def claims() -> list[Claim]:
        told = watch.claims()
        return [_elsewhere(stores, side, record, told[at]) for record, at in zip(own, places, strict=True)]

    return watch._replace(claims=claims)


def _elsewhere(stores: Together, side: Side, record: Record, claim: Claim) -> Claim:
    there = {id for id, _ in claim.made_of if _is_there(stores, record.scope, id, but=side)}
    return claim._replace(made_of=[pair for pair in claim.made_of if pair[0] not in there])


def _is_there(stores: Together, scope: str, id: str, but: Side | None = None) -> bool:
    others = [side for side in stores.sides if side is not but and not side.down]
    return any(side.ask(lambda store: store.read(scope, [id]))[0] is not None for side in others)


def _check_graves(stores: Together, records: Sequence[Record], watch: Watch | None) -> None:
    """By the tombstones of all stores: one of them may have lost its own."""
    if watch is None or not stores.has_graves():
        return

    def since(scope: str, mark: bytes) -> float | None:
        found = stores.asked(lambda _, store: verbs.tombstones_in(store, scope, [mark]))
        return next((told[mark] for _, told in found if mark in told), None)

    check_entombed(records, watch.claims(), watch, since, partial(_is_there, stores))


def _exhume(stores: Together, records: Sequence[Record], watch: Watch) -> None:
    if stores.has_graves():
        for record, claim in zip(records, watch.claims(), strict=True):
            stores.everyone(lambda _, store, r=record, c=claim: verbs.lift_tombstones(store, r.scope, c.says))  # type: ignore[misc]
