"""Records on their way from one store to another.

A write that moves a record copies it, and notes in the same transaction that it arrived. Then the old copy
is deleted, and later the note. A record that cannot be moved at once stays where it is, as it shall be:
everybody sees by its tier that it is out of place. Whatever breaks off, whoever looks next finishes.
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
from .. import SETTINGS, Store, Transaction, verbs
from ..rules import said_before
from .history import MOVED, copy_life
from .member import LONG, OUTBOX, STEP, LeapingStore, Member
from .members import Members
from .outbox import TIERS

log = logging.getLogger("eidet")

BATCH: Final = 500
AT_ONCE: Final = 4  # batches that one mending moves
ARRIVED: Final = "arrived "  # a setting of the store where a record arrived: the seq it had before
Key = tuple[str, str]  # scope, id


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


# What a write moves.


def note_arrival(transaction: Transaction, old: Record, at: float) -> None:
    transaction.set_values(SETTINGS, {f"{ARRIVED}{old.scope}\n{old.id}": f"{old.seq} {at!r}"})


def delete_moved(members: Members, moved: Sequence[tuple[Member, Record, float]]) -> None:
    """Deletes old copies. The notes stay until the next mending: a seq is never used again."""
    groups: dict[tuple[Member, float], list[Record]] = {}
    for member, record, at in moved:
        groups.setdefault((member, at), []).append(record)
    for (member, at), records in groups.items():
        _delete_copies(members, member, records, at)


def finish_moves(members: Members) -> None:
    _finish_arrivals(members, members.short, members.long)
    _finish_arrivals(members, members.long, members.short)


def _finish_arrivals(members: Members, source: Member, target: Member) -> None:
    """Deletes what arrived elsewhere, as of then."""
    notes = target.ask(lambda store: store.values(SETTINGS, prefix=ARRIVED))
    if not notes:
        return
    moved: dict[float, list[Record]] = {}
    for note, told in notes.items():
        scope, _, _ = note.removeprefix(ARRIVED).partition("\n")
        seq, when = told.split()
        found = source.ask(partial(_read, scope=scope, keys=[int(seq)]))
        moved.setdefault(float(when), []).extend(record for record in found if record is not None)
    for at, records in moved.items():
        _delete_copies(members, source, records, at)
    target.ask(lambda store: store.write(partial(_clear_notes, notes=list(notes))))


def _clear_notes(transaction: Transaction, notes: Sequence[str]) -> None:
    transaction.set_values(SETTINGS, dict.fromkeys(notes))


def _delete_copies(members: Members, source: Member, records: Sequence[Record], now: float) -> None:
    """Deletes what lives on in another store."""
    source.ask(lambda store: verbs.delete_unchanged(store, records, now=now, by=MOVED))
    members.note_seq(source, source.ask(lambda store: store.head()).seq)


# What was left behind.


def mend(members: Members, now: float) -> None:
    """Brings everything to where it belongs, as far as those stores are there."""
    ways = ((members.short, members.long), (members.long, members.short))
    work = [partial(finish_moves, members)]
    work += [partial(_deliver, members, target, now) for target, _ in ways]
    work += [partial(_straighten, members, source, target, now) for source, target in ways]
    for step in work:
        try:
            step()
        except Unavailable:
            log.debug("a store is down; what belongs there waits")
    members.put_box_away()


def _deliver(members: Members, target: Member, now: float) -> None:
    """What waits in the outbox for a store, in the order it was written."""
    while (box := members.outbox) is not None and (records := members.waiting.due(target)):
        _halve_if_refused(members, box, records, partial(_hand_over, members, box, target, now))


def _hand_over(members: Members, box: Member, target: Member, now: float, records: Sequence[Record]) -> None:
    with members.gate.moving():
        _send(members, box, target, records, now)
        _delete_delivered(box, records, now)


def _delete_delivered(box: Member, records: Sequence[Record], now: float) -> None:
    box.ask(lambda store: verbs.delete_unchanged(store, records, now=now, by=MOVED))


def _send(members: Members, box: Member, target: Member, records: Sequence[Record], now: float) -> None:
    """As if they were written now, one version after the other.

    What was sent before by whoever broke off is not sent again.
    """
    there = _read_copies(target, records)
    lives = []
    for record in records:
        if not _was_sent(there.get((record.scope, record.id)), record):
            lives.append((record, _read_story(box, record)))
    _write_above(members, target, lambda store: members.carry(store, lives, now))


def _was_sent(there: Record | None, record: Record) -> bool:
    """It says the same, or was revised since."""
    if there is None:
        return False
    revised = there.created == record.created and there.version > record.version
    return revised or not said_before(there, record)


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


def _straighten(members: Members, source: Member, target: Member, now: float) -> None:
    """Records that are out of place: their store was down, or would not take them."""
    stray = Where(tiers=TIERS[target.name])
    for _ in range(AT_ONCE):
        passed = members.aside.seqs(source)
        found = source.ask(partial(_find_first, where=stray, limit=BATCH + len(passed)))
        strays = [record for record in found if record.seq not in passed][:BATCH]
        if not strays:
            return
        _halve_if_refused(members, source, strays, partial(_move, members, source, target, now))


def _move(members: Members, source: Member, target: Member, now: float, records: Sequence[Record]) -> None:
    lives = [(record, _read_story(source, record)) for record in records]
    with members.gate.moving():
        _write_above(members, target, lambda store: store.write(partial(_copy_lives, lives=lives)))
        _delete_copies(members, source, records, now)


def _copy_lives(transaction: Transaction, lives: Sequence[tuple[Record, Sequence[Event]]]) -> None:
    """What is there in this version or a later one was copied before, by whoever broke off."""
    for record, story in lives:
        (there,) = transaction.read(record.scope, [record.id])
        if there is None:
            copy_life(transaction, record, story)
        elif there.version < record.version:
            event = Event(what="revised", id=record.id, scope=record.scope, at=0.0, version=record.version)
            transaction.remove([there], [_last_revision(story) or event])
            transaction.insert([record])


def _last_revision(story: Sequence[Event]) -> Event | None:
    revisions = [event for event in story if event.what == "revised"]
    return revisions[-1] if revisions else None


def _write_above(members: Members, member: Member, job: Callable[[LeapingStore], object]) -> None:
    """A write whose seqs come after all that this process has seen."""
    if member.came < members.floor:
        member.ask(lambda store: store.leap(members.floor))
    member.ask(job)
    members.note_seq(member, member.ask(lambda store: store.head()).seq)


def _find_first(store: Store, where: Where, limit: int) -> list[Record]:
    return store.find(where, limit=limit)


def _read_copies(member: Member, records: Sequence[Record]) -> dict[Key, Record]:
    """Those of the same scope and id in a store, with its own seqs."""
    ids: dict[str, dict[str, None]] = {}
    for record in records:
        ids.setdefault(record.scope, {})[record.id] = None
    found: list[Record | None] = []
    for scope, some in ids.items():
        found += member.ask(partial(_read, scope=scope, keys=list(some)))
    return {(record.scope, record.id): record for record in found if record is not None}


def _read(store: Store, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
    return store.read(scope, keys)


def _read_story(source: Member, record: Record) -> list[Event]:
    """What is told of a record that was ever revised."""
    if record.version == 1:
        return []
    return source.ask(lambda store: store.history(record.scope, record.id))
