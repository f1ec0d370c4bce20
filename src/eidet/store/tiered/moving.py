"""Moves records to the member where they belong: copies them, then deletes them where they were.

A mark in a member names a record that the other one may have, too. Readers look for copies of marked records
and count only one. The mark is written along with the copy, and goes when the old copy is gone: whatever
breaks off in between is finished by the next process that writes or mends. What was written while a member
was down has the time as its mark: it counts before what that member may have, and becomes its next version.
A record that a member rejects stays where it is and is offered again later, so that the rest does not wait.
"""

from __future__ import annotations

import json
import logging
import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeVar

from ...core.errors import Corrupt, EidetError, Unavailable
from ...core.record import Event, Record, Tier
from ...core.scope import Scope
from ...core.validate import dump_json
from ...core.where import Where
from ...net.worker import BackgroundWorker
from .. import SETTINGS, STAGED, Transaction
from ..rules import Carry, Life, list_changes
from ..verbs.changing import Key, delete_records, event_about, read_records, split_lives, write_lives
from .members import STEP, LeapingStore, Member, Members

log: logging.Logger = logging.getLogger("eidet")

MOVED: Final = "eidet:moved"  # the actor of deletions whose record lives on in another member
WAITS: Final = " waits"  # the end of the mark of a record whose own store was down; before it, the time
COPIED: Final = "copied"  # the mark of a record whose old copy may remain in the other member
_MARKS: Final = (
    "moving"  # the setting that counts changes of marks, and marks; also the prefix of their names
)
_BATCH: Final = 200  # records that are moved at once
_MEND_SECONDS: Final = 15.0  # between checks for misplaced records, if none are known
_BACK_SECONDS: Final = 1.0  # the same while a store is down or something waits
_GOODBYE_SECONDS: Final = 1.0  # that closing waits for a delivery that is under way
_TIERS: Final = {"short": (Tier.SHORT, Tier.MIDDLE), "long": (Tier.LONG,)}  # what belongs there
_Source = LeapingStore | Transaction
_Marks = Mapping[tuple[int, Key], str]  # by the number of the member and the record
T = TypeVar("T")
_by_seq: Final = attrgetter("seq")


def key_of(record: Record) -> Key:
    return record.scope, record.id


# Which of several copies counts.


def newest(records: Iterable[Record], marks: _Marks) -> dict[Key, Record]:
    """Returns the copy that counts of each record. Their seqs are those of all members."""
    found: dict[Key, Record] = {}
    for record in records:
        other = found.setdefault(key_of(record), record)
        if _rank(other, marks) < _rank(record, marks):
            found[key_of(record)] = record
    return found


def _rank(record: Record, marks: _Marks) -> tuple[float, int, int]:
    """Orders copies of a record; the highest counts. Versions are comparable unless a member was down."""
    mark = marks.get((record.seq % STEP, key_of(record)), COPIED)
    if mark == COPIED:
        return -math.inf, record.version, record.seq
    return float(mark.removesuffix(WAITS)), 0, record.seq


class Copies(NamedTuple):
    """The copies of marked records at this moment. `turns` show whether marks changed meanwhile."""

    turns: tuple[tuple[str, str], ...]
    marks: _Marks
    counted: Mapping[Key, Record]
    hidden: Mapping[int, Record]  # those that do not count, by seq

    def list_hidden(self, member: Member) -> list[tuple[Key, Record]]:
        """Lists those of a member, with its own seqs."""
        own = (one for one in self.hidden.values() if member.owns(one.seq))
        return [(key_of(one), one.but(seq=one.seq // STEP)) for one in own]


def find_copies(ask: Callable[[Callable[[Member, _Source], Any]], list[tuple[Member, Any]]]) -> Copies:
    """Asks members for marks, and for copies only of marked records."""
    counts = ask(lambda _, source: source.values(SETTINGS, (_MARKS,)).get(_MARKS, ""))
    turns = tuple((member.name, count) for member, count in counts)
    if not any(_parse_counts(count)[1] for _, count in turns):
        return Copies(turns, {}, {}, {})
    marks = {(member.number, key): mark for member, found in ask(_list_marks) for key, mark in found.items()}
    keys = {key for _, key in marks}
    read = ask(lambda member, source: member.outer(_read_all(source, keys)))
    found = [copy for _, some in read for copy in some]
    counted = newest(found, marks)
    hidden = {one.seq: one for one in found if counted[key_of(one)].seq != one.seq}
    return Copies(turns, marks, counted, hidden)


# Marks.


def _parse_counts(counts: str) -> tuple[int, int]:
    """Returns how often marks changed, and how many there are."""
    turns, _, left = counts.partition(" ")
    return int(turns or 0), int(left or 0)


def _name_mark(key: Key) -> str:
    return f"{_MARKS}:{dump_json(list(key))}"


def _list_marks(_: Member, source: _Source) -> dict[Key, str]:
    if not _parse_counts(source.values(SETTINGS, (_MARKS,)).get(_MARKS, ""))[1]:
        return {}
    found = source.values(SETTINGS, prefix=f"{_MARKS}:")
    keys = (json.loads(name.removeprefix(f"{_MARKS}:")) for name in found)
    return {(scope, id): mark for (scope, id), mark in zip(keys, found.values(), strict=True)}


def read_marks(transaction: Transaction, keys: Iterable[Key]) -> dict[Key, str]:
    """Returns the marks of a member for these records."""
    names = {_name_mark(key): key for key in keys}
    return {names[name]: mark for name, mark in transaction.values(SETTINGS, names).items()}


def set_marks(transaction: Transaction, keys: Iterable[Key], mark: str | None) -> None:
    """Sets the marks of records in a member; None removes them."""
    wanted = {_name_mark(key): mark for key in keys}
    there = transaction.values(SETTINGS, [_MARKS, *wanted])
    turns, left = _parse_counts(there.pop(_MARKS, ""))
    if mark is None:
        wanted = dict.fromkeys(there)
    if wanted:
        left += -len(there) if mark is None else len(wanted) - len(there)
        transaction.set_values(SETTINGS, {**wanted, _MARKS: f"{turns + 1} {left}"})


# Histories.


def join_histories(stories: Iterable[Sequence[Event]]) -> list[Event]:
    """Merges the histories of all members: a record that moved took its history along."""
    lives = [life for story in stories for life in split_lives(story) if life[-1].by != MOVED]
    ended = sorted((life for life in lives if life[-1].what == "forgotten"), key=lambda life: life[-1].at)
    living = max((life for life in lives if life[-1].what != "forgotten"), key=len, default=[])
    return [*chain.from_iterable(ended), *living]


# Moving.


def copy_lives(transaction: Transaction, lives: Sequence[Life]) -> list[Record]:
    """Writes records with their full history, and marks them. Returns them as stored.

    Removes a copy that is there, so that a process that took it for an old one deletes nothing.
    """
    there = read_records(transaction, [record for record, _ in lives], bare=True)
    if there:
        old = [event_about("forgotten", record, record.created, MOVED) for record in there.values()]
        transaction.remove(list(there.values()), old)
    set_marks(transaction, [key_of(record) for record, _ in lives], COPIED)
    return write_lives(transaction, lives)


def carry_lives(transaction: Transaction, lives: Sequence[Life], carry: Carry, now: float) -> None:
    """Writes records as next versions of those that are there; skips those carried before."""
    there = read_records(transaction, (record for record, _ in lives))
    carry(transaction, [life for life in lives if list_changes(there[key_of(life[0])], life[0])], now)
    set_marks(transaction, there, COPIED)


def _leave(transaction: Transaction, records: Sequence[Record], now: float) -> set[Key]:
    """Deletes copies that live on in another member, unless they changed. Returns which are gone."""
    there = read_records(transaction, records, bare=True)
    old = {key_of(one): one for one in records if key_of(one) in there and there[key_of(one)].seq == one.seq}
    delete_records(transaction, [there[key] for key in old], now, MOVED, held=())
    gone = {key_of(record) for record in records} - (there.keys() - old.keys())
    set_marks(transaction, gone, None)
    return gone


def _drop_staged(store: LeapingStore, keys: Iterable[int]) -> None:
    """Drops vectors of the next embedder that were kept for old copies."""
    if staged := store.values(STAGED, keys):
        store.write(lambda transaction: transaction.set_values(STAGED, dict.fromkeys(staged)))


Write = Callable[[Callable[[Any], T]], T]  # runs a job over all members


class Written(NamedTuple):
    """What a write left behind: whether records wait, and those that lie in the wrong member, by member."""

    waits: bool
    misplaced: Mapping[Member, Sequence[Record]]


class Mover:
    """The mover of records to the members where they belong, as far as these are up."""

    def __init__(
        self,
        members: Members,
        write: Write[list[list[Record]]],
        clock: Callable[[], float],
        ticks: Callable[[], float],
    ) -> None:
        self._members, self._write, self._clock, self._ticks = members, write, clock, ticks
        self.stuck: dict[tuple[str, int], str] = {}  # (member, seq) of records that a store rejects: why
        self.carry: Carry | None = None  # writes what waited; None while the store is sealed and has no key
        self.waiting = 0  # records that wait for their store, as last seen
        self.lock = threading.RLock()  # held while writing or mending
        self._mended = -_MEND_SECONDS
        self._courier = BackgroundWorker(
            "eidet-courier",
            self._deliver,
            delay_seconds=_BACK_SECONDS,
            pause_seconds=_BACK_SECONDS,
            on_error=lambda error: log.debug("what waits is delivered later: %s", error),
        )
        for member in members.all:
            member.on_down = self._courier.start

    def stop(self) -> None:
        self._courier.stop(_GOODBYE_SECONDS)

    def _deliver(self) -> float | None:
        self._members.probe()
        if self._members.writable:
            self.mend_if_due()
        return _BACK_SECONDS if self._is_hasty else None

    @property
    def _is_hasty(self) -> bool:
        """Returns whether a store is down, or something waits that no store rejected."""
        return self.waiting > len(self.stuck) or bool(self._members.missing())

    def count_waiting(self) -> None:
        """Counts what waits, and starts to deliver it in the background."""
        with suppress(Unavailable):
            found = self._members.ask(_list_marks)
            self.waiting = sum(mark.endswith(WAITS) for _, marks in found for mark in marks.values())
        if self._is_hasty:
            self._courier.start()

    def mend_if_due(self) -> None:
        if self._ticks() - self._mended >= (_BACK_SECONDS if self._is_hasty else _MEND_SECONDS):
            self.mend()

    def mend(self) -> None:
        """Finishes interrupted moves, delivers what waits and moves records in the wrong store."""
        short, long = self._members.short, self._members.long
        with self.lock:
            self._mended = self._ticks()
            before, self.stuck = self.stuck, {}
            steps = [self._finish]
            if self.carry is not None:
                steps += [partial(self._move_due, *way) for way in ((short, long), (long, short))]
            for step in steps:
                try:
                    step()
                except Unavailable:
                    log.debug("a store is down; what belongs there waits")
            self.count_waiting()
            for name, seq in self.stuck.keys() - before.keys():
                log.warning("a record stays in the %s store for now: %s", name, self.stuck[name, seq])

    def _finish(self) -> None:
        """Delivers what was written while a member was down, and deletes other copies that do not count."""
        copies = find_copies(self._members.ask_everyone)
        twice = {key_of(copy) for copy in copies.hidden.values()}
        waiting = {
            key: record
            for key, record in copies.counted.items()
            if copies.marks.get((record.seq % STEP, key), COPIED) != COPIED
            and (key in twice or not self._members.home(record).owns(record.seq))
        }
        for member in self._members.all:
            due = sorted((one for one in waiting.values() if member.owns(one.seq)), key=_by_seq)
            for start in range(0, len(due) if self.carry else 0, _BATCH):
                some = due[start : start + _BATCH]
                self._move_each(member, [one.but(seq=one.seq // STEP) for one in some])
            old = [one for key, one in copies.list_hidden(member) if key not in waiting]
            self._depart(member, old)
        unread = {key for _, key in copies.marks} - copies.counted.keys()
        left = copies.counted.keys() - waiting.keys() | {key for key in unread if not self._is_damaged(key)}
        for member in self._members.all:
            self._unmark(member, left)

    def _is_damaged(self, key: Key) -> bool:
        """Returns whether a record that could not be read is there."""
        where = Where(scope=Scope(key[0]), ids=(key[1],))
        return any(seqs for _, seqs in self._members.ask_everyone(lambda _, store: store.match(where)))

    def _move_due(self, source: Member, target: Member) -> None:
        """Moves what belongs to the target, in the order of writing."""
        where = Where(tiers=_TIERS[target.name])
        due = source.ask(lambda store: store.match(where))
        for start in range(0, len(due), _BATCH):
            some = due[start : start + _BATCH]
            try:
                found = source.ask(partial(_find_from, where=where, seqs=some))
            except Corrupt:
                found = [one for seq in some for one in self._find_one(source, where, seq)]
            self._move_each(source, found)

    def _find_one(self, source: Member, where: Where, seq: int) -> list[Record]:
        try:
            return source.ask(partial(_find_from, where=where, seqs=[seq]))
        except Corrupt as error:
            self.stuck[source.name, seq] = str(error)
            return []

    def _move_each(self, source: Member, records: Sequence[Record]) -> None:
        """Moves records; one by one after a refusal."""
        try:
            self.move(source, records)
        except Unavailable:
            raise
        except EidetError as error:
            if len(records) == 1:
                self.stuck[source.name, records[0].seq] = str(error)
            else:
                for record in records:
                    self._move_each(source, [record])

    def follow_up(self, written: Written) -> dict[int, int]:
        """Moves what a write left in the wrong member, if possible. Returns new seqs, as `move` does."""
        if written.waits:
            self.count_waiting()
        seqs: dict[int, int] = {}
        for source, records in written.misplaced.items():
            if not written.waits and self.carry is not None:
                with suppress(EidetError):  # the next mend tries again
                    seqs |= self.move(source, records)
        return seqs

    def move(self, source: Member, records: Sequence[Record]) -> dict[int, int]:
        """Moves records from a member to the other one; skips those changed since they were read.

        Returns the seqs of those that were copied: before -> now.
        """
        if not records:
            return {}
        self._members.note_seq(source, records[-1].seq)
        now, target = self._clock(), self._members.other(source)
        old, copied = self._write(lambda joint: joint.bring(source, target, records, self.carry, now))
        with suppress(Unavailable):  # the next mend goes on
            self._depart(source, old)
        there = {key_of(record): record.seq for record in copied}
        return {source.outer_seq(one.seq): there[key_of(one)] for one in old if key_of(one) in there}

    def _depart(self, source: Member, records: Sequence[Record]) -> None:
        """Deletes copies that live on in the other member, and removes its marks."""
        if not records:
            return
        gone = source.ask(lambda store: store.write(partial(_leave, records=records, now=self._clock())))
        self._members.note_head(source)
        self._unmark(self._members.other(source), gone)
        seqs = [source.outer_seq(record.seq) for record in records]
        staged = self._members.place_values(STAGED, dict.fromkeys(seqs))
        self._members.long.ask(partial(_drop_staged, keys=staged))

    def _unmark(self, member: Member, keys: set[Key]) -> None:
        if keys and not member.down:
            member.ask(lambda store: store.write(partial(set_marks, keys=keys, mark=None)))


def _find_from(store: LeapingStore, where: Where, seqs: Sequence[int]) -> list[Record]:
    """Finds those of some matching records that are still there."""
    found = store.find(where, limit=len(seqs), after=seqs[0] - 1)
    return [record for record in found if record.seq in seqs]


def _read_all(source: _Source, keys: Iterable[Key]) -> list[Record]:
    ids: dict[str, list[str]] = {}
    for scope, id in keys:
        ids.setdefault(scope, []).append(id)
    found: list[Record | None] = []
    for scope, some in ids.items():
        try:
            found += source.read(scope, some)
        except Corrupt:  # a damaged copy hides no other
            for id in some:
                with suppress(Corrupt):
                    found += source.read(scope, [id])
    return [record for record in found if record is not None]
