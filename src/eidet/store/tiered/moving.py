"""Moves records from one member to another: copies them, then deletes them where they were.

The copy and a note of it, the mark, are written in one transaction of the member that receives it. While the
mark names a record, readers look for copies of it and count only the one that holds. What breaks off between
copy and deletion is finished by the next process that writes or mends. What waits in the outbox goes the same
way. A record that its store rejects is set aside for a while, so that the rest does not wait for it.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, Final, NamedTuple, TypeVar

from ...core.errors import Corrupt, EidetError, Unavailable
from ...core.record import Event, Record, Tier
from ...core.validate import dump_json
from ...core.where import Where
from ...net.worker import BackgroundWorker
from .. import SETTINGS, STAGED, Transaction, verbs
from ..rules import Carry, Life, list_changes
from ..verbs.changing import Key, event_about, read_records
from ..verbs.lives import split_lives, write_lives
from .member import OUTBOX, STEP, LeapingStore, Member
from .members import Members

log: logging.Logger = logging.getLogger("eidet")

MOVED: Final = "eidet:moved"  # the actor of deletions whose record lives on in another member
_MARK: Final = "moving"  # the setting of a member that counts moves and names what arrived
_BATCH: Final = 200  # records that are moved at once
_MEND_SECONDS: Final = 15.0  # between checks for misplaced records, if none are known
_BACK_SECONDS: Final = 1.0  # the same while a store is down or something waits
_GOODBYE_SECONDS: Final = 1.0  # that closing waits for a delivery that is under way
ASIDE_SECONDS: Final = 60.0  # before what a store rejected is offered again
_TIERS: Final = {"short": (Tier.SHORT, Tier.MIDDLE), "long": (Tier.LONG,), "outbox": ()}  # what belongs there
_Source = LeapingStore | Transaction
T = TypeVar("T")


def key_of(record: Record) -> Key:
    return record.scope, record.id


# Which of several copies counts.


def _rank(record: Record) -> tuple[bool, int, int]:
    """Orders copies of a record; the highest counts. Their seqs are those of all members."""
    return record.seq % STEP == OUTBOX, record.version, record.seq


def newest(records: Iterable[Record]) -> dict[Key, Record]:
    """Returns the copy that counts of each record."""
    found: dict[Key, Record] = {}
    for record in records:
        key = key_of(record)
        if key not in found or _rank(found[key]) < _rank(record):
            found[key] = record
    return found


class Copies(NamedTuple):
    """The copies that do not count at this moment, by seq. `marks` show whether records moved meanwhile."""

    marks: tuple[tuple[str, str], ...]
    hidden: Mapping[int, Record]
    waiting: frozenset[Key] = frozenset()  # records in the outbox

    def list_marked(self) -> set[Key]:
        """Lists records whose move was interrupted or is under way."""
        return set[Key]().union(*(_parse_mark(mark)[1] for _, mark in self.marks))


def find_copies(ask: Callable[[Callable[[Member, _Source], Any]], list[tuple[Member, Any]]]) -> Copies:
    """Asks members for marks, and for copies only where a mark or the outbox names records."""
    marks = ask(lambda _, source: source.values(SETTINGS, (_MARK,)).get(_MARK, ""))
    copies = Copies(tuple((member.name, mark) for member, mark in marks), {})
    up = [tier for member, _ in marks for tier in _TIERS[member.name]]
    keys = copies.list_marked().union(*(waiting for _, waiting in ask(partial(_list_waiting, tiers=up))))
    if not keys:
        return copies
    read = ask(lambda member, source: member.outer(_read_all(source, keys)))
    found = [copy for _, some in read for copy in some]
    counted = {record.seq for record in newest(found).values()}
    waiting = frozenset(key_of(copy) for copy in found if copy.seq % STEP == OUTBOX)
    return Copies(copies.marks, {one.seq: one for one in found if one.seq not in counted}, waiting)


def _list_waiting(member: Member, source: _Source, tiers: Sequence[Tier]) -> set[Key]:
    """Lists what waits in the outbox for a store that is up, which may hold an earlier version."""
    if member.number != OUTBOX or not tiers:
        return set()
    where = Where(tiers=tuple(tiers))
    try:
        return set(map(key_of, source.find(where)))
    except Corrupt:  # a damaged outbox hides nothing
        return set()


# Marks.


def _parse_mark(mark: str) -> tuple[int, set[Key]]:
    """Returns the number of moves, and the records whose old copy may remain."""
    count, *keys = json.loads(mark or "[0]")
    return count, {(scope, id) for scope, id in keys}


def mark_arrivals(transaction: Transaction, arrived: Iterable[Key], *, done: Iterable[Key] = ()) -> None:
    """Notes records that arrived in this transaction, and those whose old copy is gone."""
    count, keys = _parse_mark(transaction.values(SETTINGS, (_MARK,)).get(_MARK, ""))
    left = sorted((keys | set(arrived)) - set(done))
    transaction.set_values(SETTINGS, {_MARK: dump_json([count + 1, *left])})


# Histories.


def join_histories(stories: Iterable[Sequence[Event]]) -> list[Event]:
    """Merges the histories of all members: a record that moved took its history along."""
    lives = [life for story in stories for life in split_lives(story) if life[-1].by != MOVED]
    ended = sorted((life for life in lives if life[-1].what == "forgotten"), key=lambda life: life[-1].at)
    living = max((life for life in lives if life[-1].what != "forgotten"), key=len, default=[])
    return [*chain.from_iterable(ended), *living]


# Moving.


def copy_lives(transaction: Transaction, lives: Sequence[Life]) -> list[Record]:
    """Writes records with their full history. Returns them as stored.

    Removes a copy that is there, so that a process that took it for an old one deletes nothing.
    """
    there = read_records(transaction, [record for record, _ in lives], bare=True)
    if there:
        old = [event_about("forgotten", record, record.created, MOVED) for record in there.values()]
        transaction.remove(list(there.values()), old)
    return write_lives(transaction, lives)


def leave(members: Members, source: Member, records: Sequence[Record], now: float) -> None:
    """Deletes copies that live on in another member, and removes them from its mark."""
    if not records:
        return
    source.ask(lambda store: verbs.delete_unchanged(store, records, now=now, by=MOVED, follows=True))
    members.note_head(source)
    for member in (members.short, members.long):
        if not member.down:
            _clear_mark(member, {key_of(record) for record in records})
    if not members.long.down:
        members.long.ask(partial(_drop_staged, seqs=[source.outer_seq(record.seq) for record in records]))


def _clear_mark(member: Member, keys: set[Key]) -> None:
    """Removes records from the mark of a member."""
    if keys & _parse_mark(member.ask(lambda store: verbs.get_setting(store, _MARK)) or "")[1]:
        member.ask(lambda store: store.write(partial(mark_arrivals, arrived=(), done=keys)))


def _drop_staged(store: LeapingStore, seqs: Sequence[int]) -> None:
    """Drops vectors of the next embedder that were kept for old copies."""
    if staged := store.values(STAGED, seqs):
        store.write(lambda transaction: transaction.set_values(STAGED, dict.fromkeys(staged)))


Write = Callable[[Callable[[Any], None], float], None]  # runs a job over all members, as of a time
Receive = Callable[[Transaction, Sequence[Life]], None]


class Mover:
    """The mover of records to the members where they belong, as far as these are up."""

    def __init__(
        self, members: Members, write: Write, clock: Callable[[], float], ticks: Callable[[], float]
    ) -> None:
        self._members, self._write, self._clock, self._ticks = members, write, clock, ticks
        self._refused: dict[tuple[str, int], tuple[str, float]] = {}  # (member, seq): why, until when
        self.carry: Carry | None = None  # writes what waited; None while the store is sealed and has no key
        self.lock = threading.RLock()  # held while writing or mending
        self._mended = -_MEND_SECONDS
        self._courier = BackgroundWorker(
            "eidet-courier",
            self._deliver,
            delay_seconds=_BACK_SECONDS,
            pause_seconds=_BACK_SECONDS,
            on_error=lambda error: log.debug("what waits is delivered later: %s", error),
        )

    def start_courier(self) -> None:
        """Starts delivering in the background, if something waits."""
        if self._members.count_waiting():
            self._courier.start()

    def stop(self) -> None:
        self._courier.stop(_GOODBYE_SECONDS)

    def _deliver(self) -> float | None:
        with suppress(Unavailable):
            self._members.ask(lambda _, store: store.head())
        self.mend()
        return _BACK_SECONDS if self._members.count_waiting() else None

    def mend_if_due(self) -> None:
        hasty = self._members.outbox is not None or self._members.missing()
        if self._ticks() - self._mended >= (_BACK_SECONDS if hasty else _MEND_SECONDS):
            self.mend()

    def mend(self) -> None:
        """Finishes interrupted moves, delivers what waits and moves records in the wrong store."""
        with self.lock:
            self._mended = self._ticks()
            self._mend()

    def _mend(self) -> None:
        short, long, box = self._members.short, self._members.long, self._members.outbox
        steps: list[Callable[[], None]] = [self._finish]
        if box is not None and self.carry is not None:
            receive = partial(_receive, self.carry, self._clock())
            steps += [partial(self._move_due, box, home, receive) for home in (short, long)]
        steps += [partial(self._move_due, *way, _take_in) for way in ((short, long), (long, short))]
        for step in steps:
            try:
                step()
            except Unavailable:
                log.debug("a store is down; what belongs there waits")

    def _finish(self) -> None:
        """Deletes the copies of marked records that do not count, except of records in the outbox."""
        copies = find_copies(self._members.ask_everyone)
        left = copies.list_marked() - copies.waiting
        if not left:
            return
        old = [copy for copy in copies.hidden.values() if key_of(copy) in left]
        for member in (self._members.short, self._members.long):
            own = [copy.but(seq=copy.seq // STEP) for copy in old if member.owns(copy.seq)]
            leave(self._members, member, own, self._clock())
        for member in (self._members.short, self._members.long):
            _clear_mark(member, left)

    def _move_due(self, source: Member, target: Member, receive: Receive) -> None:
        """Moves what belongs to the target, in the order of writing; one by one after a refusal."""
        where = Where(tiers=_TIERS[target.name])
        while not target.down and (due := self._list_due(source, where)):
            move = partial(self._move, source, target, where, receive)
            try:
                move(due, _BATCH)
            except Unavailable:
                raise
            except EidetError:
                for seq in due[:_BATCH]:
                    self._move_one(source, seq, move)

    def _list_due(self, source: Member, where: Where) -> list[int]:
        """Lists the seqs of what can be moved now."""
        now = self._ticks()
        aside = {
            seq for (name, seq), (_, until) in self._refused.items() if name == source.name and now < until
        }
        return [seq for seq in source.ask(lambda store: store.match(where)) if seq not in aside]

    def _move(
        self,
        source: Member,
        target: Member,
        where: Where,
        receive: Receive,
        due: Sequence[int],
        limit: int,
    ) -> None:
        """Moves records while no other process can write them; skips those changed since they were read."""
        found = source.ask(lambda store: store.find(where, limit=limit, after=due[0] - 1))
        if records := [record for record in found if record.seq in set(due)]:
            self._members.note_seq(source, records[-1].seq)
            now = self._clock()
            self._write(lambda joint: joint.bring(source, target, records, receive, now), now)

    def _move_one(self, source: Member, seq: int, move: Callable[[Sequence[int], int], None]) -> None:
        """Moves one record; if that fails, sets it aside for a while."""
        try:
            move([seq], 1)
        except Unavailable:
            raise
        except EidetError as error:
            if (source.name, seq) not in self._refused:
                log.warning("a record stays in the %s store for now: %s", source.name, error)
            self._refused[source.name, seq] = str(error), self._ticks() + ASIDE_SECONDS

    def list_stuck(self) -> list[str]:
        """Lists the reasons why records stay in the outbox although their store is up."""
        box = self._members.outbox
        if box is None or not self._refused:
            return []
        waiting = set(box.ask(lambda store: store.match(Where())))
        return [why for (name, seq), (why, _) in self._refused.items() if name == box.name and seq in waiting]


def _take_in(transaction: Transaction, lives: Sequence[Life]) -> None:
    copy_lives(transaction, lives)
    mark_arrivals(transaction, [key_of(record) for record, _ in lives])


def _receive(carry: Carry, now: float, transaction: Transaction, lives: Sequence[Life]) -> None:
    """Writes waiting records, as next versions of existing ones; skips those delivered before."""
    there = read_records(transaction, (record for record, _ in lives))
    carry(transaction, [one for one in lives if not _was_sent(there.get(key_of(one[0])), one[0])], now)
    mark_arrivals(transaction, [key_of(record) for record, _ in lives])


def _was_sent(there: Record | None, record: Record) -> bool:
    """Returns whether the stored record says the same, or was revised since."""
    if there is None:
        return False
    revised = there.created == record.created and there.version > record.version
    return revised or not list_changes(there, record)


def _read_all(source: _Source, keys: Iterable[Key]) -> list[Record]:
    ids: dict[str, list[str]] = {}
    for scope, id in keys:
        ids.setdefault(scope, []).append(id)
    return [record for scope, some in ids.items() for record in source.read(scope, some) if record]
