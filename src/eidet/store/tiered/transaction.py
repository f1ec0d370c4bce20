"""The transaction of a tiered store: one transaction of each member that is up.

A record that is there is read in the copy that counts. Its next version goes where its tier belongs: to
another member by a copy that the commit there makes, after which the old one is deleted (see `moving`). What
belongs to a member that is away waits in the outbox, or stays where it is. What cannot wait is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby, islice
from typing import Any, NamedTuple, TypeVar, cast

from ...core.errors import EidetError, Unavailable
from ...core.record import Event, Record
from ...core.scope import Scope
from ...core.validate import Json
from ...core.where import Where
from .. import EPOCH, STAGED, TOMBSTONES, Derived, Store, Table, Transaction, Use
from ..abilities import GivesSeqsLate, Leaps
from ..model import PROVISIONAL, K, V
from ..verbs.changing import Key, event_about, read_records
from ..verbs.lives import read_lives
from .member import STEP, Member
from .members import Members
from .moving import (
    MOVED,
    Receive,
    copy_lives,
    find_copies,
    join_histories,
    key_of,
    mark_arrivals,
    newest,
)

T = TypeVar("T")


class MemberFailed(EidetError):
    """Raised if a member was unavailable inside a write. Not `Unavailable`: the other members are fine."""

    def __init__(self, member: Member, error: Unavailable) -> None:
        super().__init__(str(error))
        self.member, self.error = member, error


class CannotWait(EidetError):
    """Raised if a write needs a member that is away."""


class RunAgain(EidetError):
    """Raised to undo the members' writes and run the job again."""


@contextmanager
def as_failure_of(member: Member) -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        raise MemberFailed(member, error) from error


class _Replaced(NamedTuple):
    """A version that the next one replaces: its member, the record with its own seq, and the event."""

    member: Member
    old: Record
    event: Event


class JointTransaction:
    """A job's transaction over several members. `away` lists members that take no part, and why.

    With `stay`, next versions are written where the ones before are, and are moved later.
    """

    def __init__(self, members: Members, away: Mapping[Member, Unavailable], stay: bool) -> None:
        self._members, self._away, self._stay = members, away, stay
        self._parts: dict[Member, Transaction] = {}
        self._floor = members.floor
        self._late: set[Member] = set()  # members that give seqs when they commit
        self._replaced: dict[Key, _Replaced] = {}  # removed for a next version
        self._gone: set[int] = set()  # the seqs of what was removed
        self.left: list[_Replaced] = []  # whose next version is in another member
        self.inserted: dict[Member, list[Record]] = {}  # with their own seqs
        self.removed: set[Member] = set()  # members whose last seq went to a removal

    # The members.

    def open(self, member: Member, transaction: Transaction) -> None:
        if member in self._parts:
            raise RunAgain(f"the {member.name} store ran its part again")
        self._parts[member] = transaction
        if not member.leaps_inside:
            member.leaps_inside = isinstance(transaction, Leaps)

    @contextmanager
    def _using(self, member: Member) -> Iterator[Any]:
        if member in self._away:
            raise MemberFailed(member, self._away[member])
        with as_failure_of(member):
            yield self._parts[member]

    def _ask(self, job: Callable[[Member, Transaction], T]) -> list[T]:
        """Runs a job on each member's transaction."""
        answers = []
        for member in self._parts:
            with self._using(member) as transaction:
                answers.append(job(member, transaction))
        return answers

    def _need_all(self, what: str) -> None:
        for member, error in self._away.items():
            raise CannotWait(f"the {member.name} store is down, and {what} cannot wait for it: {error}")

    # Reading.

    def _gather(self, job: Callable[[Transaction], Iterable[Record | None]]) -> dict[Key, Record]:
        """Returns the copy that counts of each record that is found."""
        found = self._ask(lambda member, transaction: member.outer(job(transaction)))
        return newest(record for some in found for record in some if record.seq not in self._gone)

    def _sort(self, job: Callable[[Transaction], Iterable[Record | None]]) -> list[Record]:
        """Collects records by seq; drops old copies that match although the one that counts does not."""
        copies = find_copies(lambda ask: list(zip(self._parts, self._ask(ask), strict=True)))
        found = [one for one in self._gather(job).values() if one.seq not in copies.hidden]
        return sorted(found, key=lambda record: record.seq)

    def read(self, scope: str, ids: Sequence[str], *, bare: bool = False) -> list[Record | None]:
        """Reads records. Callers that ask for bare ones need certain absence, so all members must be up."""
        there = self._gather(lambda transaction: transaction.read(scope, ids, bare=bare))
        found = [there.get((scope, id)) for id in ids]
        if bare and None in found:
            self._need_all("a record that may be there")
        return found

    def same(self, scope: str, keys: Sequence[bytes]) -> list[Record]:
        return self._sort(lambda transaction: transaction.same(scope, keys))

    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        self._need_all("what goes through all records")
        return iter(self._sort(lambda transaction: transaction.find(where, bare=bare)))

    def history(self, scope: str, id: str) -> list[Event]:
        return join_histories(self._ask(lambda _, transaction: transaction.history(scope, id)))

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
            return cast("dict[K, V]", {EPOCH: str(self._members.epoch)})  # as it was last read
        if table.name == TOMBSTONES.name:
            parts = self._ask(lambda _, part: part.values(table, asked, within=within, limit=limit))
            return join_values(parts, limit)
        with self._using(self._members.long) as part:
            return cast("dict[K, V]", part.values(table, asked, within=within, prefix=prefix, limit=limit))

    # Writing.

    def insert(self, records: Sequence[Record]) -> list[Record]:
        stored: list[Record] = []
        for (place, source), some in groupby(records, key=self._choose_place):
            if source is None or source is place:
                new = self._insert(place, list(some))
            else:
                new = self._move(source, place, list(some))
            if new[-1].seq < PROVISIONAL:
                self._floor = max(self._floor, new[-1].seq)
            else:
                self._late.add(place)
            self.inserted.setdefault(place, []).extend(new)
            self.removed.discard(place)
            stored += place.outer(new)
        return stored

    def _choose_place(self, record: Record) -> tuple[Member, Member | None]:
        """Chooses where to write a record, and finds where its previous version is."""
        home, box = self._members.home(record), self._members.outbox
        old = self._replaced.get(key_of(record))
        if old is not None and (old.member is box or home in self._away or self._stay):
            return old.member, old.member
        if home not in self._away:
            return home, old.member if old else None
        if box is None:
            try:
                self._members.make_outbox()
            except Unavailable as error:
                raise CannotWait(f"the {home.name} store is down ({self._away[home]}) and {error}") from error
            raise RunAgain("the outbox takes part from now on")
        return box, None

    def _insert(self, member: Member, records: Sequence[Record]) -> list[Record]:
        replaced = [old for record in records if (old := self._replaced.pop(key_of(record), None))]
        with self._using(member) as transaction:
            self._leap(member, transaction)
            if replaced:
                transaction.remove([one.old for one in replaced], [one.event for one in replaced])
            return transaction.insert(records)  # type: ignore[no-any-return]

    def _move(self, source: Member, target: Member, records: Sequence[Record]) -> list[Record]:
        """Copies replaced records to another member with their history and writes the next versions there."""
        replaced = [self._replaced.pop(key_of(record)) for record in records]
        self.left += replaced
        with self._using(source) as transaction:
            there = read_records(transaction, records)
            lives = read_lives(transaction, [there[key_of(record)] for record in records])
        self._floor = max([self._floor, *(one.old.seq for one in replaced if one.old.seq < PROVISIONAL)])
        with self._using(target) as transaction:
            self._leap(target, transaction)
            copies = copy_lives(transaction, lives)
            transaction.remove(copies, [one.event for one in replaced])
            mark_arrivals(transaction, map(key_of, records))
            return transaction.insert(records)  # type: ignore[no-any-return]

    def bring(
        self, source: Member, target: Member, records: Sequence[Record], receive: Receive, now: float
    ) -> None:
        """Copies records to where they belong, unless they were changed since they were read."""
        with self._using(source) as transaction:
            there = read_records(transaction, records)
            same = [one for one in records if key_of(one) in there and there[key_of(one)].seq == one.seq]
            lives = read_lives(transaction, [there[key_of(one)] for one in same])
        if lives:
            with self._using(target) as transaction:
                self._leap(target, transaction)
                receive(transaction, lives)
            self.removed.add(target)
            self.left += [_Replaced(source, one, event_about("moved", one, now, None)) for one in same]

    def _leap(self, member: Member, transaction: Any) -> None:
        """Makes seqs ascend in the order of writing, across members."""
        for other in self._late - {member}:
            self._floor = max(self._floor, other.ask(_read_latest_seq))
        if member.leaps_inside:
            transaction.leap(self._floor)

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        """Removes all copies of forgotten records; a replaced record goes when its successor comes."""
        doomed: dict[Key, Event] = {}
        for record, event in zip(records, events, strict=True):
            if event.what == "forgotten":
                doomed[key_of(record)] = event
                continue
            member = next(one for one in self._parts if one.owns(record.seq))
            self._replaced[key_of(record)] = _Replaced(member, record.but(seq=record.seq // STEP), event)
            self._gone.add(record.seq)
        gone = [record for record in records if key_of(record) in doomed]
        for member in self._parts if gone else ():
            with self._using(member) as transaction:
                copies = read_records(transaction, gone, bare=True)
            seqs = [member.outer_seq(copy.seq) for copy in copies.values()]
            told = [doomed[key] for key in copies]
            counted = {record.seq for record in gone}
            ends = [
                one if seq in counted else replace(one, by=MOVED) for seq, one in zip(seqs, told, strict=True)
            ]
            self._remove(member, list(copies.values()), ends)
            self._gone.update(seqs)

    def finish(self) -> None:
        """Removes what no next version replaced, and the staged vectors of deleted records."""
        for one in self._replaced.values():
            self._remove(one.member, [one.old], [one.event])
        if self._gone and self._members.long not in self._away:
            self.set_values(STAGED, {seq: None for seq in self._gone if seq < PROVISIONAL})

    def _remove(self, member: Member, records: Sequence[Record], events: Sequence[Event]) -> None:
        if not records:
            return
        with self._using(member) as transaction:
            self._leap(member, transaction)
            transaction.remove(records, events)
        self.removed.add(member)

    def update(self, changes: Iterable[Use | Derived]) -> None:
        rows = list(changes)
        self._ask(lambda member, transaction: transaction.update(_part_of(member, rows)))

    def edit_history(self, edits: Mapping[Key, Mapping[int, Mapping[str, Json]] | None]) -> int:
        self._need_all("what history says")
        return sum(self._ask(lambda _, transaction: transaction.edit_history(edits)))

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        """Sets tombstones in all members, all else in the long store. No new epoch while records wait."""
        if table.name == TOMBSTONES.name and (values or clear):
            self._need_all("a tombstone")
            self._ask(lambda _, part: part.set_values(table, values, clear=clear))
        elif values or clear:
            if EPOCH in cast("Mapping[Any, object]", values):
                self._need_all("new vectors")
                if waiting := self._members.count_waiting():
                    raise CannotWait(
                        f"{waiting:,} records still wait in the outbox: try again or forget them"
                    )
            with self._using(self._members.long) as transaction:
                transaction.set_values(table, values, clear=clear)


def _part_of(member: Member, rows: Sequence[Use | Derived]) -> list[Use | Derived]:
    """Returns the changes for one member: all uses, which only a holder counts, and its derived bytes."""
    uses: list[Use | Derived] = [row for row in rows if isinstance(row, Use)]
    own = [row for row in rows if isinstance(row, Derived) and member.owns(row.seq)]
    return uses + [row._replace(seq=row.seq // STEP) for row in own]


def join_values(parts: Iterable[Mapping[K, V]], limit: int | None) -> dict[K, V]:
    """Joins the values of a table that several members keep, by ascending key."""
    found: dict[Any, V] = {}
    for part in parts:
        found |= part
    return {key: found[key] for key in islice(sorted(found), limit)}


def _read_latest_seq(store: Store) -> int:
    return cast("GivesSeqsLate", store).latest_seq()
