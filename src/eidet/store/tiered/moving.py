"""Records on their way from one store to another.

A record that shall be kept elsewhere is first written, where it is, as it shall be: from then on it is out
of place, which everybody can see by its tier. Then it is copied to where it belongs, then the copy that is
out of place is deleted. Whatever breaks off in between, the record is there, and whoever looks next finishes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from ...core.errors import EidetError, Unavailable
from ...core.event import Event
from ...core.record import Record, Tier
from ...core.where import Where
from .. import verbs
from ..rules import said_before
from .history import MOVED, befores, versions
from .member import LONG, OUTBOX, Side
from .members import Together

log = logging.getLogger("eidet")

BATCH: Final = 500
AT_ONCE: Final = 4  # batches that one mending moves
BELONG: Final = {"short": (Tier.SHORT, Tier.MIDDLE), "long": (Tier.LONG,)}


def rank(record: Record) -> tuple[bool, int, bool, int]:
    """Which of two copies of a record counts: the higher. Their seqs are those of all stores."""
    side = record.seq % 4
    placed = (record.tier == Tier.LONG) == (side == LONG)
    return side == OUTBOX, record.version, placed, record.seq


def newest(records: Iterable[Record]) -> dict[tuple[str, str], Record]:
    """One copy of each record."""
    found: dict[tuple[str, str], Record] = {}
    for record in records:
        key = record.scope, record.id
        if key not in found or rank(found[key]) < rank(record):
            found[key] = record
    return found


def move(stores: Together, source: Side, target: Side, records: Sequence[Record], now: float) -> list[Record]:
    """Copies records (with the seqs of their store) and deletes them here; as they are there, in order."""
    with stores.gate.moving():
        there = _copied(stores, source, target, records, now)
        stores.write(source, lambda store: verbs.delete_unchanged(store, records, now=now, by=MOVED))
    return [target.told(there[record.scope, record.id]) for record in records]


def _copied(
    stores: Together, source: Side, target: Side, records: Sequence[Record], now: float
) -> dict[tuple[str, str], Record]:
    """What is there in this version or a later one was copied before, by whoever broke off."""
    there = located(target, records)
    fresh = [r for r in records if (r.scope, r.id) not in there or there[r.scope, r.id].version < r.version]
    stories = [_story(source, r) if (r.scope, r.id) not in there else [] for r in fresh]
    states = [s for record, story in zip(fresh, stories, strict=True) for s in versions(record, story)]
    stored = stores.stored(target, lambda store: verbs.put(store, states, now=now, unique=False))
    for record, story in zip(fresh, stories, strict=True):
        if told := befores(story):
            target.ask(partial(verbs.rewrite_history, scope=record.scope, id=record.id, before=told))
    return there | {(record.scope, record.id): record for record in stored}


def _story(source: Side, record: Record) -> list[Event]:
    """What is told of a record that was ever revised."""
    return [] if record.version == 1 else source.ask(lambda store: store.history(record.scope, record.id))


def located(side: Side, records: Sequence[Record]) -> dict[tuple[str, str], Record]:
    """Those of the same scope and id in a store, with its own seqs."""
    found: dict[tuple[str, str], Record] = {}
    for scope in dict.fromkeys(record.scope for record in records):
        ids = list(dict.fromkeys(record.id for record in records if record.scope == scope))
        there = side.ask(lambda store, scope=scope, ids=ids: store.read(scope, ids))  # type: ignore[misc]
        found |= {(scope, record.id): record for record in there if record is not None}
    return found


def mend(stores: Together, now: float) -> None:
    """Brings everything to where it belongs, as far as those stores are there."""
    ways = ((stores.short, stores.long), (stores.long, stores.short))
    work = [partial(_deliver, stores, target, now) for target, _ in ways]
    work += [partial(_straighten, stores, source, target, now) for source, target in ways]
    for one in work:
        try:
            one()
        except Unavailable:
            log.debug("a store is down; what belongs there waits")
    stores.put_box_away()


def _deliver(stores: Together, target: Side, now: float) -> None:
    """What waits in the outbox for a store, in the order it was written."""
    while (box := stores.outbox) is not None and (records := stores.waiting.due(BELONG[target.name])):
        _one_by_one_if_need_be(stores, box, records, partial(_handed_over, stores, box, target, now))


def _handed_over(stores: Together, box: Side, target: Side, now: float, records: Sequence[Record]) -> None:
    with stores.gate.moving():
        _send(stores, box, target, records, now)
        box.ask(lambda store: verbs.delete_unchanged(store, records, now=now, by=MOVED))


def _one_by_one_if_need_be(
    stores: Together, source: Side, records: Sequence[Record], move: Callable[[Sequence[Record]], object]
) -> None:
    """What a store will not take is set aside for a while: the rest does not wait for it."""
    try:
        move(records)
    except Unavailable:
        raise
    except EidetError as error:
        if len(records) == 1:
            stores.aside.put(source, records[0].seq, f"record {records[0].id!r}", error)
            return
        half = len(records) // 2
        for some in (records[:half], records[half:]):
            _one_by_one_if_need_be(stores, source, some, move)


def _send(stores: Together, box: Side, target: Side, records: Sequence[Record], now: float) -> None:
    """As if they were written now, one version after the other.

    What was sent before by whoever broke off is not sent again.
    """
    there = located(target, records)
    fresh = [r for r in records if not _was_sent(there.get((r.scope, r.id)), r)]
    states = [state for record in fresh for state in versions(record, _story(box, record))]
    stores.stored(target, lambda store: verbs.put(store, states, now=now, unique=False))


def _was_sent(there: Record | None, record: Record) -> bool:
    """It says the same, or was revised since."""
    if there is None:
        return False
    revised = there.created == record.created and there.version > record.version
    return revised or not said_before(there, record)


def _straighten(stores: Together, source: Side, target: Side, now: float) -> None:
    """Records that are out of place: somebody broke off, or a store was down."""
    stray = Where(tiers=BELONG[target.name])
    for _ in range(AT_ONCE):
        passed = stores.aside.seqs(source)
        most = BATCH + len(passed)
        found = source.ask(lambda store, most=most: store.find(stray, limit=most))  # type: ignore[misc]
        strays = [record for record in found if record.seq not in passed][:BATCH]
        if not strays:
            return
        _one_by_one_if_need_be(stores, source, strays, lambda some: move(stores, source, target, some, now))


def moved_home(
    stores: Together, side: Side, records: Sequence[Record], now: float
) -> dict[tuple[str, str], Record]:
    """Takes those to where they belong that are not there; later, if that store is down."""
    last = {(record.scope, record.id): record for record in records}
    strays = [record for record in last.values() if stores.home(record) is not side]
    if not strays or side is stores.outbox:
        return {}
    try:
        there = move(stores, side, stores.home(strays[0]), strays, now)
    except Unavailable:
        return {}
    except EidetError as error:  # it is kept, and offered again by whoever mends
        log.warning("%d records stay in the %s store for now: %s", len(strays), side.name, error)
        return {}
    return {(record.scope, record.id): record for record in there}
