"""One transaction over the transactions of all members.

A record that is there is read in the copy that counts. A new one goes to the member that its tier names, or
to the outbox while that member is away. What cannot wait for a member is refused (`CannotWait`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from ...core.event import Event
from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import Json
from ...core.where import Where
from .. import Derived, Store, Transaction, Use
from ..abilities import GivesSeqsLate
from ..model import PROVISIONAL
from ..verbs.erasing import TransactionReader
from .history import copy_life, join_histories
from .joint_values import JointValues
from .member import STEP, Member
from .member_transactions import CannotWait, MustMove, NeedsOutbox, Parts
from .moving import newest, note_arrival

Key = tuple[str, str]  # scope, id


class Moves(Enum):
    """Whether records may change their store in a write."""

    ASK = "ask"
    ALLOWED = "allowed"
    NEVER = "never"  # they stay where they are, and are moved later


class _Replaced(NamedTuple):
    """A record that was removed to be written anew; where, is only known when it is."""

    member: Member
    record: Record
    event: Event


@dataclass
class Written:
    """What a joint write did, for whoever carries it to its end."""

    inserted: dict[Member, list[Record]] = field(default_factory=dict)  # with their own seqs
    new: set[Key] = field(default_factory=set)  # those that replaced none
    removed: set[Member] = field(default_factory=set)
    moved: list[tuple[Member, Record, float]] = field(default_factory=list)  # from where, and when
    unknown_uses: list[Use] = field(default_factory=list)  # of records that no member has which is there


class JointTransaction:
    """What a job gets."""

    def __init__(self, parts: Parts, moves: Moves) -> None:
        self.written = Written()
        values = JointValues(parts)
        self.values, self.set_values = values.values, values.set_values
        self._parts, self._moves = parts, moves
        self._floor = parts.members.floor
        self._late: set[Member] = set()  # members that give seqs when they commit
        self._replaced: dict[Key, _Replaced] = {}
        self._gone: set[int] = set()  # seqs of copies that are still there, but count no more

    def finish(self) -> None:
        """Removes what was to be replaced and was not."""
        for member, record, event in self._replaced.values():
            self._remove(member, [record], [event])
        self._replaced = {}

    def _gather(self, job: Callable[[Transaction], Iterable[Record | None]]) -> list[Record]:
        found: list[Record] = []
        for records in self._parts.ask(lambda member, transaction: member.outer(job(transaction))):
            found += [record for record in records if record.seq not in self._gone]
        return found

    # Reading.

    def read(self, scope: str, ids: Sequence[str], *, bare: bool = False) -> list[Record | None]:
        """Who asks for bare records decides about them by what is there: absence must be certain."""
        there = newest(self._gather(lambda transaction: transaction.read(scope, ids, bare=bare)))
        found = [there.get((scope, id)) for id in ids]
        if bare and None in found:
            self._parts.need_all("a record that may be there")
        return found

    def same(self, scope: str, digests: Sequence[bytes], *, every_kind: bool = False) -> list[Record]:
        found = self._gather(lambda transaction: transaction.same(scope, digests, every_kind=every_kind))
        return sorted(found, key=_seq)

    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        self._parts.need_all("what goes through all records")
        found = newest(self._gather(lambda transaction: transaction.find(where, bare=bare)))
        return iter(sorted(found.values(), key=_seq))

    def derived(self, scope: Scope) -> list[Record]:
        self._parts.need_all("what goes through all records")
        found = newest(self._gather(lambda transaction: TransactionReader(transaction).derived(scope)))
        return sorted(found.values(), key=_seq)

    def history(self, scope: str, id: str) -> list[Event]:
        return join_histories(self._parts.ask(lambda _, transaction: transaction.history(scope, id)))

    # Writing.

    def insert(self, records: Sequence[Record]) -> list[Record]:
        stored: list[Record] = []
        run: list[Record] = []
        at: Member | None = None
        for record in records:
            target = self._make_place(record)
            if at is not None and target is not at:
                stored += self._insert(at, run)
                run = []
            at = target
            run.append(record)
        return stored if at is None else stored + self._insert(at, run)

    def _insert(self, member: Member, records: Sequence[Record]) -> list[Record]:
        stored: list[Record] = []
        with self._parts.using(member) as transaction:
            self._leap(member, transaction)
            stored += transaction.insert(records)
        if stored[-1].seq < PROVISIONAL:
            self._floor = max(self._floor, stored[-1].seq)
        else:
            self._late.add(member)
        self.written.inserted.setdefault(member, []).extend(stored)
        return member.outer(stored)

    def _leap(self, member: Member, transaction: Any) -> None:
        """Seqs rise in the order of writing, whoever writes."""
        for other in self._late - {member}:
            self._floor = max(self._floor, other.ask(_read_latest_seq))
        if member.leaps_inside:
            transaction.leap(self._floor)

    def _make_place(self, record: Record) -> Member:
        """Where a record is written; the one it replaces leaves its place."""
        old = self._replaced.pop((record.scope, record.id), None)
        home = self._parts.members.home(record)
        if old is None:
            self.written.new.add((record.scope, record.id))
            return home if home not in self._parts.away else self._outbox(home)
        staying = (
            home in self._parts.away or old.member is self._parts.members.outbox or self._moves is Moves.NEVER
        )
        if home is old.member or staying:
            self._remove(old.member, [old.record], [old.event])
            return old.member
        if self._moves is Moves.ASK:
            raise MustMove(f"record {record.id!r} moves to the {home.name} store")
        self._move(old, home)
        return home

    def _outbox(self, home: Member) -> Member:
        outbox = self._parts.members.outbox
        if outbox is not None:
            return outbox
        if self._parts.members.waiting.folder is not None:
            raise NeedsOutbox(f"the {home.name} store is down")
        raise CannotWait(
            f"the {home.name} store is down ({self._parts.away[home]}) and there is no outbox: "
            "name a folder for it, TieredStore(…, outbox=…)"
        )

    def _move(self, old: _Replaced, target: Member) -> None:
        """Copies a record with its history. The old copy is deleted once this one is there for good."""
        scope, id = old.record.scope, old.record.id
        with self._parts.using(old.member) as source:
            (whole,) = source.read(scope, [id])
            story = source.history(scope, id) if whole.version > 1 else []
        with self._parts.using(target) as transaction:
            self._floor = max(self._floor, old.record.seq)
            self._leap(target, transaction)
            (copy,) = transaction.read(scope, [id])
            transaction.remove([copy or copy_life(transaction, whole, story)], [old.event])
            note_arrival(transaction, old.record, old.event.at)
        self.written.moved.append((old.member, old.record, old.event.at))

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        """A record that is forgotten goes with all of its copies."""
        doomed: list[Record] = []
        ends: dict[Key, Event] = {}
        for record, event in zip(records, events, strict=True):
            member = self._member_of(record)
            if event.what == "forgotten":
                doomed.append(record)
                ends[record.scope, record.id] = event
            else:
                own = record.but(seq=record.seq // STEP)
                self._replaced[record.scope, record.id] = _Replaced(member, own, event)
                self._gone.add(record.seq)
        if doomed:
            self._remove_copies(doomed, ends)

    def _remove_copies(self, records: Sequence[Record], ends: Mapping[Key, Event]) -> None:
        by_scope: dict[str, list[str]] = {}
        for record in records:
            by_scope.setdefault(record.scope, []).append(record.id)
        for member in list(self._parts.transactions):
            copies: list[Record] = []
            for scope, ids in by_scope.items():
                with self._parts.using(member) as transaction:
                    copies += [copy for copy in transaction.read(scope, ids, bare=True) if copy is not None]
            if copies:
                self._remove(member, copies, [ends[copy.scope, copy.id] for copy in copies])

    def _member_of(self, record: Record) -> Member:
        return next(member for member in self._parts.transactions if member.owns(record.seq))

    def _remove(self, member: Member, records: Sequence[Record], events: Sequence[Event]) -> None:
        with self._parts.using(member) as transaction:
            self._leap(member, transaction)
            transaction.remove(records, events)
        self.written.removed.add(member)

    def update(self, changes: Iterable[Use | Derived]) -> None:
        rows = list(changes)
        if any(isinstance(row, Derived) for row in rows):
            self._parts.need_all_at_home()
        for member in self._parts.transactions:
            with self._parts.using(member) as transaction:
                transaction.update(_part_of(member, rows))
        if self._parts.away:
            self.written.unknown_uses += [row for row in rows if isinstance(row, Use) and self._lacks(row)]

    def _lacks(self, use: Use) -> bool:
        return self.read(use.scope, [use.id]) == [None]

    def edit_history(self, edits: Mapping[Key, Mapping[int, Mapping[str, Json]] | None]) -> int:
        self._parts.need_all("what history says")
        return sum(self._parts.ask(lambda _, transaction: transaction.edit_history(edits)))


def _seq(record: Record) -> int:
    return record.seq


def _part_of(member: Member, rows: Sequence[Use | Derived]) -> list[Use | Derived]:
    """Uses are counted by whoever has the record."""
    part: list[Use | Derived] = []
    for row in rows:
        if isinstance(row, Use):
            part.append(row)
        elif member.owns(row.seq):
            part.append(row._replace(seq=row.seq // STEP))
    return part


def _read_latest_seq(store: Store) -> int:
    if not isinstance(store, GivesSeqsLate):
        raise TypeError(
            f"{type(store).__name__} gives provisional seqs and does not say how far they may rise"
        )
    return store.latest_seq()
