"""Records on their way from one store to another.

A record whose tier changes is first written where it is, as it shall be: by its tier, everybody sees that it
is out of place. Then it is copied to the other store, and the old copy is deleted. What breaks off on the way
is finished by whoever looks next. What waits in the outbox is delivered likewise.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from ...core.errors import EidetError, Unavailable
from ...core.event import Event
from ...core.record import Record, Tier
from ...core.where import Where
from .. import Transaction, verbs
from ..lives import Carry
from ..rules import list_changes
from ..verbs.lookups import read_records
from .history import MOVED, copy_life
from .member import LONG, OUTBOX, STEP, LeapingStore, Member
from .members import Members
from .outbox import TIERS

log: logging.Logger = logging.getLogger("eidet")

BATCH: Final = 500
AT_ONCE: Final = 4  # batches that one mending moves
Key = tuple[str, str]  # scope, id
Lives = Sequence[tuple[Record, Sequence[Event]]]  # with what history tells
T = TypeVar("T")


def rank(record: Record) -> tuple[bool, int, bool, int]:
    """Which of two copies of a record counts: the higher. Their seqs are those of all stores."""
    number = record.seq % STEP
    placed = (record.tier == Tier.LONG) == (number == LONG)
    return number == OUTBOX, record.version, placed, record.seq


def newest(records: Iterable[Record]) -> dict[Key, Record]:
    """One copy of each record."""
    found: dict[Key, Record] = {}
    for record in records:
        key = record.scope, record.id
        if key not in found or rank(found[key]) < rank(record):
            found[key] = record
    return found


def mend(members: Members, now: float) -> None:
    """Brings everything to where it belongs, as far as those stores are there."""
    ways = ((members.short, members.long), (members.long, members.short))
    work = [partial(_deliver, members, target, now) for target, _ in ways]
    work += [partial(_straighten, members, source, target, now) for source, target in ways]
    for step in work:
        try:
            step()
        except Unavailable:
            log.debug("a store is down; what belongs there waits")
    members.put_box_away()


# What waits in the outbox.


def _deliver(members: Members, target: Member, now: float) -> None:
    """What waits for a store, in the order it was written."""
    while (box := members.outbox) is not None and (records := members.waiting.due(target)):
        _halve_if_refused(members, box, records, partial(_hand_over, members, box, target, now))


def _hand_over(members: Members, box: Member, target: Member, now: float, records: Sequence[Record]) -> None:
    lives = _read_lives(box, records)
    with members.gate.moving():
        _write_above(members, target, partial(_send, carry=members.carry, lives=lives, now=now))
        members.note_seq(target, target.read_seq())
        _delete_delivered(box, records, now)


def _delete_delivered(box: Member, records: Sequence[Record], now: float) -> None:
    box.ask(lambda store: verbs.delete_unchanged(store, records, now=now, by=MOVED, follows=True))


def _send(transaction: Transaction, carry: Carry, lives: Lives, now: float) -> None:
    """As if they were written now, one version after the other.

    What was sent before by whoever broke off is not sent again.
    """
    there = read_records(transaction, (record for record, _ in lives))
    left: list[tuple[Record, Sequence[Event]]] = []
    for record, story in lives:
        if not _was_sent(there.get((record.scope, record.id)), record):
            left.append((record, story))
    carry(transaction, left, now)


def _was_sent(there: Record | None, record: Record) -> bool:
    """It says the same, or was revised since."""
    if there is None:
        return False
    revised = there.created == record.created and there.version > record.version
    return revised or not list_changes(there, record)


# What is out of place by its tier.


def move(members: Members, source: Member, keys: Sequence[Key], now: float) -> dict[int, int]:
    """Moves records to the other store, if it is there; by the seqs that they had, those they have now."""
    target = members.short if source is members.long else members.long
    given: dict[int, int] = {}
    if target.down:
        return given
    records = source.ask(partial(_read_all, keys=keys))
    if records:
        _halve_if_refused(members, source, records, partial(_move, members, source, target, now, given))
    return given


def _straighten(members: Members, source: Member, target: Member, now: float) -> None:
    """What was not moved when it was written: a store was down, would not take it, or somebody broke off."""
    stray = Where(tiers=TIERS[target.name])
    for _ in range(AT_ONCE):
        passed = members.aside.seqs(source)
        found = source.ask(partial(_find_first, where=stray, limit=BATCH + len(passed)))
        strays = [record for record in found if record.seq not in passed][:BATCH]
        if not strays:
            return
        _halve_if_refused(members, source, strays, partial(_move, members, source, target, now, {}))


def _move(
    members: Members,
    source: Member,
    target: Member,
    now: float,
    given: dict[int, int],
    records: Sequence[Record],
) -> None:
    lives = _read_lives(source, records)
    with members.gate.moving():
        copies = _write_above(members, target, partial(_copy_lives, lives=lives))
        members.note_seq(target, copies[-1].seq)
        _delete_copies(members, source, records, now)
    for record, copy in zip(records, copies, strict=True):
        given[source.outer_seq(record.seq)] = target.outer_seq(copy.seq)


def _copy_lives(transaction: Transaction, lives: Lives) -> list[Record]:
    """What is there in this version or a later one was copied before, by whoever broke off."""
    there = read_records(transaction, (record for record, _ in lives))
    if not there and not any(story for _, story in lives):
        return transaction.insert([record for record, _ in lives])
    copies: list[Record] = []
    for record, story in lives:
        copy = there.get((record.scope, record.id))
        if copy is None:
            copy = copy_life(transaction, record, story)
        elif copy.version < record.version:
            event = Event(what="revised", id=record.id, scope=record.scope, at=0.0, version=record.version)
            transaction.remove([copy], [_last_revision(story) or event])
            (copy,) = transaction.insert([record])
        copies.append(copy)
    return copies


def _last_revision(story: Sequence[Event]) -> Event | None:
    revisions = [event for event in story if event.what == "revised"]
    return revisions[-1] if revisions else None


def _delete_copies(members: Members, source: Member, records: Sequence[Record], now: float) -> None:
    """Deletes what lives on in another store."""
    source.ask(lambda store: verbs.delete_unchanged(store, records, now=now, by=MOVED, follows=True))
    members.note_seq(source, source.read_seq())


# Both.


def _read_lives(source: Member, records: Sequence[Record]) -> Lives:
    return [(record, _read_story(source, record)) for record in records]


def _read_story(source: Member, record: Record) -> list[Event]:
    """What is told of a record that was ever revised."""
    if record.version == 1:
        return []
    return source.ask(lambda store: store.history(record.scope, record.id))


def _halve_if_refused(
    members: Members, source: Member, records: Sequence[Record], move: Callable[[Sequence[Record]], object]
) -> None:
    """What a store will not take is set aside for a while: the rest does not wait for it."""
    try:
        move(records)
    except Unavailable:
        raise
    except EidetError as error:
        if len(records) == 1:
            members.aside.put(source, records[0].seq, f"record {records[0].id!r}", error)
            return
        half = len(records) // 2
        for some in (records[:half], records[half:]):
            _halve_if_refused(members, source, some, move)


def _write_above(members: Members, member: Member, job: Callable[[Transaction], T]) -> T:
    """A write whose seqs come after all that this process has seen."""
    floor = members.floor

    def run(transaction: Any) -> T:
        if member.leaps_inside:
            transaction.leap(floor)
        return job(transaction)

    if not member.leaps_inside and member.came < floor:
        member.ask(lambda store: store.leap(floor))
    return member.ask(lambda store: store.write(run))


def _find_first(store: LeapingStore, where: Where, limit: int) -> list[Record]:
    return store.find(where, limit=limit)


def _read_all(store: LeapingStore, keys: Sequence[Key]) -> list[Record]:
    by_scope: dict[str, dict[str, None]] = {}
    for scope, id in keys:
        by_scope.setdefault(scope, {})[id] = None
    found: list[Record | None] = []
    for scope, ids in by_scope.items():
        found += store.read(scope, list(ids))
    return [record for record in found if record is not None]
