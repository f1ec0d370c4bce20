"""One transaction over the transactions of all members.

A record that is there is read in the copy that counts. Its next version is written where it is, whatever its
tier, and moved after the commit (see `moving`). A new one goes to the member that its tier names, or to the
outbox while that member is away. What cannot wait for a member is refused (`CannotWait`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any, NamedTuple, TypeVar, cast

from ...core.errors import EidetError, Unavailable
from ...core.event import Event
from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import Json
from ...core.where import Where
from .. import EPOCH, SETTINGS, STAGED, TOMBSTONES, Derived, Store, Table, Transaction, Use
from ..abilities import GivesSeqsLate, Leaps
from ..model import PROVISIONAL, K, V
from ..verbs.erasing import find_derived_in
from ..verbs.lookups import read_records
from .history import join_histories
from .member import STEP, Member
from .member_values import STAGED_SETTINGS, belongs_to_long, join, part_of, read_member
from .members import Members
from .moving import newest

Key = tuple[str, str]  # scope, id
T = TypeVar("T")


class MemberFailed(EidetError):
    """A member was unavailable inside of a joint write. Not `Unavailable`: the other members are fine."""

    def __init__(self, member: Member, error: Unavailable) -> None:
        super().__init__(str(error))
        self.member, self.error = member, error


class CannotWait(EidetError):
    """Needs a member that is away."""


class MustMove(EidetError):
    """Records have to be moved before they are written."""


class RunAgain(EidetError):
    """What the members wrote is undone, and the job begins anew."""


@contextmanager
def as_failure_of(member: Member) -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        raise MemberFailed(member, error) from error


class Stray(NamedTuple):
    """A record that was written where it does not belong, for now."""

    place: Member
    home: Member
    at: float


class MovedFirst(NamedTuple):
    """What was moved before it is written: by the seqs that the job knows, those that records have now.

    `homes` says where records go that were not there yet, and whose tier changes in the same write.
    """

    seqs: Mapping[int, int]
    homes: Mapping[Key, Member]


class MemberTransactions:
    """The transactions of the members that take part. `away` are those that do not, and why."""

    def __init__(self, members: Members, away: Mapping[Member, Unavailable]) -> None:
        self.members, self.away = members, away
        self.transactions: dict[Member, Transaction] = {}

    def open(self, member: Member, transaction: Transaction) -> None:
        if member in self.transactions:
            raise RunAgain(f"the {member.name} store ran its part again")
        self.transactions[member] = transaction
        if not member.leaps_inside:
            member.leaps_inside = isinstance(transaction, Leaps)

    @contextmanager
    def using(self, member: Member) -> Iterator[Any]:
        if member in self.away:
            raise MemberFailed(member, self.away[member])
        with as_failure_of(member):
            yield self.transactions[member]

    def ask(self, job: Callable[[Member, Transaction], T]) -> list[T]:
        """What each member answers."""
        answers = []
        for member in self.transactions:
            with self.using(member) as transaction:
                answers.append(job(member, transaction))
        return answers

    def need_all(self, what: str) -> None:
        for member, error in self.away.items():
            raise CannotWait(f"the {member.name} store is down, and {what} cannot wait for it: {error}")

    def need_all_at_home(self) -> None:
        """Vectors are replaced only while nothing waits for a store."""
        self.need_all("new vectors")
        if (reason := self.members.waiting.reason_to_wait()) is not None:
            raise CannotWait(reason)


class JointTransaction:
    """What a job gets."""

    def __init__(self, parts: MemberTransactions, first: MovedFirst) -> None:
        self._parts, self._first = parts, first
        self._members, self._away = parts.members, parts.away
        self._known_seqs = {now: known for known, now in first.seqs.items()}
        self._floor = parts.members.floor
        self._late: set[Member] = set()  # members that give seqs when they commit
        self._replaced: dict[Key, tuple[Member, float]] = {}  # removed to be written anew: where, and when
        self.inserted: dict[Member, list[Record]] = {}  # with their own seqs
        self.new: set[Key] = set()  # those of them that replaced none
        self.removed: set[Member] = set()  # members whose last seq went to a removal
        self.strays: dict[Key, Stray] = {}  # in the order of writing
        self.out_of_order: bool = False  # whether something was written after a stray that will not move
        self.unknown_uses: list[Use] = []  # of records that no member has which is there

    # Reading.

    def _gather(self, job: Callable[[Transaction], Iterable[Record | None]]) -> dict[Key, Record]:
        """The copy that counts of each record that is found, with the seq that the job knows."""
        found: list[Record] = []
        for records in self._parts.ask(lambda member, transaction: member.outer(job(transaction))):
            found += records
        there = newest(found)
        if self._known_seqs:
            for key, record in there.items():
                there[key] = record.but(seq=self._known_seqs.get(record.seq, record.seq))
        return there

    def _sort(self, job: Callable[[Transaction], Iterable[Record | None]]) -> list[Record]:
        return sorted(self._gather(job).values(), key=lambda record: record.seq)

    def read(self, scope: str, ids: Sequence[str], *, bare: bool = False) -> list[Record | None]:
        """Who asks for bare records decides about them by what is there: absence must be certain."""
        there = self._gather(lambda transaction: transaction.read(scope, ids, bare=bare))
        found = [there.get((scope, id)) for id in ids]
        if bare and None in found:
            self._parts.need_all("a record that may be there")
        return found

    def same(self, scope: str, keys: Sequence[bytes]) -> list[Record]:
        """Of copies, the one that counts: an older one may say something else."""
        found = self._sort(lambda transaction: transaction.same(scope, keys))
        current = self.read(scope, [record.id for record in found])
        return [record for record, now in zip(found, current, strict=True) if now and now.seq == record.seq]

    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        self._parts.need_all("what goes through all records")
        return iter(self._sort(lambda transaction: transaction.find(where, bare=bare)))

    def list_derived(self, scope: Scope) -> list[Record]:
        self._parts.need_all("what goes through all records")
        return self._sort(lambda transaction: find_derived_in(transaction, scope))

    def history(self, scope: str, id: str) -> list[Event]:
        return join_histories(self._parts.ask(lambda _, transaction: transaction.history(scope, id)))

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        asked = None if keys is None else list(keys)
        if self._members.long in self._away and cast("list[object]", asked) == [EPOCH]:
            return cast("dict[K, V]", {EPOCH: str(self._members.epoch)})  # as it was last told
        if belongs_to_long(table):
            with self._parts.using(self._members.long) as transaction:
                found: dict[K, V] = transaction.values(
                    table, asked, within=within, prefix=prefix, limit=limit
                )
            return found
        parts = self._parts.ask(lambda member, part: read_member(member, part, table, asked, within, limit))
        return join(parts, limit)

    # Writing.

    def insert(self, records: Sequence[Record]) -> list[Record]:
        stored: list[Record] = []
        for member, some in groupby(records, key=self._choose_place):
            stored += self._insert(member, list(some))
        return stored

    def _choose_place(self, record: Record) -> Member:
        """The next version is written where the one before was."""
        key, home = (record.scope, record.id), self._members.home(record)
        place, at = self._replaced.pop(key, (None, 0.0))
        if place is None:
            self.new.add(key)
            place = self._first.homes.get(key, home)
            if place in self._away:
                place = self._open_outbox(place)
        self.strays.pop(key, None)
        if place is home or place is self._members.outbox or home in self._away:
            self.out_of_order = self.out_of_order or bool(self.strays)
        else:
            self.strays[key] = Stray(place, home, at)
        return place

    def _open_outbox(self, home: Member) -> Member:
        outbox = self._members.outbox
        if outbox is not None:
            return outbox
        if self._members.waiting.folder is None:
            raise CannotWait(
                f"the {home.name} store is down ({self._away[home]}) and there is no outbox: "
                "name a folder for it, TieredStore(…, outbox=…)"
            )
        self._members.open_outbox()
        raise RunAgain("the outbox takes part from now on")

    def _insert(self, member: Member, records: Sequence[Record]) -> list[Record]:
        stored: list[Record] = []
        with self._parts.using(member) as transaction:
            self._leap(member, transaction)
            stored += transaction.insert(records)
        if stored[-1].seq < PROVISIONAL:
            self._floor = max(self._floor, stored[-1].seq)
        else:
            self._late.add(member)
        self.inserted.setdefault(member, []).extend(stored)
        self.removed.discard(member)
        return member.outer(stored)

    def _leap(self, member: Member, transaction: Any) -> None:
        """Seqs rise in the order of writing, whoever writes."""
        for other in self._late - {member}:
            self._floor = max(self._floor, other.ask(_read_latest_seq))
        if member.leaps_inside:
            transaction.leap(self._floor)

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        """A record that is forgotten goes with all of its copies."""
        doomed: dict[Key, Event] = {}
        gone: list[Record] = []
        for record, event in zip(records, events, strict=True):
            if event.what == "forgotten":
                doomed[record.scope, record.id] = event
                gone.append(record)
                continue
            seq = self._first.seqs.get(record.seq, record.seq)
            member = next(one for one in self._parts.transactions if one.owns(seq))
            self._remove(member, [record.but(seq=seq // STEP)], [event])
            self._replaced[record.scope, record.id] = member, event.at
        if not gone:
            return
        for member in self._parts.transactions:
            with self._parts.using(member) as transaction:
                copies = read_records(transaction, gone, bare=True)
            if copies:
                self._remove(member, list(copies.values()), [doomed[key] for key in copies])

    def _remove(self, member: Member, records: Sequence[Record], events: Sequence[Event]) -> None:
        with self._parts.using(member) as transaction:
            self._leap(member, transaction)
            transaction.remove(records, events)
        self.removed.add(member)

    def update(self, changes: Iterable[Use | Derived]) -> None:
        rows = list(changes)
        if any(isinstance(row, Derived) for row in rows):
            self._parts.need_all_at_home()
        self._parts.ask(lambda member, transaction: transaction.update(_part_of(member, rows)))
        if self._away:
            self.unknown_uses += [row for row in rows if isinstance(row, Use) and self._lacks(row)]

    def _lacks(self, use: Use) -> bool:
        return self.read(use.scope, [use.id]) == [None]

    def edit_history(self, edits: Mapping[Key, Mapping[int, Mapping[str, Json]] | None]) -> int:
        self._parts.need_all("what history says")
        return sum(self._parts.ask(lambda _, transaction: transaction.edit_history(edits)))

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        if not values and not clear:
            return
        if table.name == SETTINGS.name:
            self._set_shared_settings(cast("Mapping[str, str | None]", values))
        if belongs_to_long(table):
            with self._parts.using(self._members.long) as transaction:
                transaction.set_values(table, values, clear=clear)
        else:
            self._set_in_all(table, values, clear)

    def _set_in_all(self, table: Table[K, V], values: Mapping[K, V | None], clear: bool) -> None:
        if table.name == STAGED.name:
            self._parts.need_all_at_home()
        if table.name == TOMBSTONES.name:
            self._parts.need_all("a tombstone")
        self._parts.ask(
            lambda member, part: part.set_values(table, part_of(member, table, values), clear=clear)
        )

    def _set_shared_settings(self, settings: Mapping[str, str | None]) -> None:
        """Each member knows whose vectors are staged, so that it can switch by itself."""
        if EPOCH in settings:
            self._parts.need_all_at_home()
        shared = {name: value for name, value in settings.items() if name in STAGED_SETTINGS}
        if shared:
            self._set_in_all(SETTINGS, shared, False)


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
