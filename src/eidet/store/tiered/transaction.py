"""A write over all members: each is held by the one before it, the long store outermost.

A record that is there is read in the copy that counts. Its next version goes where its tier belongs: to
another member by a copy that the commit there makes, after which the old one is deleted (see `moving`). What
belongs to a member that is away waits in the outbox, or stays where it is. What cannot wait is refused.

The short store commits first. If a later commit fails, what was new is taken back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import groupby, islice
from typing import Any, Final, NamedTuple, TypeVar, cast

from ...core.errors import Conflict, EidetError, Unavailable
from ...core.event import Event
from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import Json
from ...core.where import Where
from .. import EPOCH, STAGED, TOMBSTONES, Derived, Store, Table, Transaction, Use, verbs
from ..abilities import GivesSeqsLate, Leaps
from ..model import PROVISIONAL, CarefulJob, K, V
from ..verbs.erasing import find_derived_in
from ..verbs.lookups import Key, read_records
from .member import STEP, Member
from .members import Members
from .moving import MOVED, copy_lives, join_histories, key_of, leave, mark_arrivals, newest, read_lives

T = TypeVar("T")

RERUNS: Final = 100  # of a write whose members are changed by others all the time


class MemberFailed(EidetError):
    """A member was unavailable inside of a write. Not `Unavailable`: the other members are fine."""

    def __init__(self, member: Member, error: Unavailable) -> None:
        super().__init__(str(error))
        self.member, self.error = member, error


class CannotWait(EidetError):
    """Needs a member that is away."""


class RunAgain(EidetError):
    """What the members wrote is undone, and the job begins anew."""


@contextmanager
def _as_failure_of(member: Member) -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        raise MemberFailed(member, error) from error


def write(members: Members, job: Callable[[Transaction], T], now: float, hidden: Iterable[int]) -> T:
    """Runs a job over all members that are there. `hidden` are the seqs of copies that do not count."""
    away = {member: member.down_error() for member in (members.long, members.short) if not member.answers()}
    for _ in range(RERUNS):
        if len(away) == 2:
            raise away[members.long]
        attempt = _Attempt(members, away, now, hidden)
        try:
            return attempt.run(job)
        except MemberFailed as failed:
            _give_up_on(failed.member, failed.error, members, away)
        except CannotWait as refused:
            raise Unavailable(str(refused), retry_after=1.0) from refused
        except RunAgain:
            continue
    raise Unavailable(f"the stores kept changing; gave up after {RERUNS} attempts", retry_after=1.0)


def _give_up_on(
    member: Member, error: Unavailable, members: Members, away: dict[Member, Unavailable]
) -> None:
    """The next attempt does without this member; raises if it cannot."""
    if member not in away:
        member.note_failure(error)
        members.notice()
    if away or member is members.outbox:
        raise error
    away[member] = error


class _Attempt:
    """One run of a job, with the members that are there."""

    def __init__(
        self, members: Members, away: Mapping[Member, Unavailable], now: float, hidden: Iterable[int]
    ) -> None:
        self._members, self._away, self._now = members, away, now
        self._committed: list[Member] = []
        self._seqs: dict[int, int] = {}  # those that commits gave, by provisional ones
        self.joint = JointTransaction(members, away, hidden)

    def run(self, job: Callable[[Transaction], T]) -> T:
        present = [member for member in self._members.all if member not in self._away]
        self._members.writer = threading.get_ident()
        try:
            answer = self._run_inside(present, job)
        except BaseException:
            self._take_back()
            raise
        finally:
            self._members.writer = None
        self._note_seqs()
        with suppress(Unavailable):  # whoever mends next goes on
            self._leave_behind()
        return cast("T", _renumber(answer, self._seqs))

    def _run_inside(self, pending: Sequence[Member], job: Callable[[Transaction], T]) -> T:
        if not pending:
            return self._run_job(job)
        member, *others = pending

        def run_part(transaction: Transaction) -> list[Any]:
            self.joint.open(member, transaction)
            answer = self._run_inside(others, job)
            return [lambda: answer, self.joint.inserted.get(member, [])]  # an answer keeps its own seqs

        with _as_failure_of(member):
            member.leap_outside(self._members.floor)
            answer, stored = member.ask(lambda store: store.write(CarefulJob(run_part)))
        self._committed.append(member)
        for old, new in zip(self.joint.inserted.get(member, ()), stored, strict=True):
            if old.seq != new.seq:
                self._seqs[member.outer_seq(old.seq)] = member.outer_seq(new.seq)
        if stored:
            self.joint.inserted[member] = stored
        return cast("T", answer())

    def _run_job(self, job: Callable[[Transaction], T]) -> T:
        try:
            answer = job(self.joint)
        except Conflict as error:
            if self._away and error.current is None:
                raise CannotWait(f"whether that is so is not known while a store is down: {error}") from error
            raise
        self.joint.finish()
        return answer

    def _take_back(self) -> None:
        """What was new of a write that cannot be done as a whole."""
        for member in self._committed:
            written = self.joint.inserted.get(member, ())
            for keys, by in ((self.joint.new, None), ({key_of(one.old) for one in self.joint.left}, MOVED)):
                new = [one for one in written if key_of(one) in keys]
                member.ask(partial(verbs.delete_unchanged, records=new, now=self._now, by=by, follows=True))

    def _note_seqs(self) -> None:
        for member, records in self.joint.inserted.items():
            self._members.note_seq(member, records[-1].seq)
        for member in self.joint.removed:
            with suppress(Unavailable):
                self._members.note_head(member)

    def _leave_behind(self) -> None:
        """Deletes the old copies of what moved."""
        for (member, at), some in groupby(self.joint.left, key=lambda one: (one.member, one.event.at)):
            old = [one.old for one in some]
            seqs = [self._seqs.get(member.outer_seq(one.seq), member.outer_seq(one.seq)) for one in old]
            copies = [one.but(seq=seq // STEP) for one, seq in zip(old, seqs, strict=True)]
            leave(self._members, member, copies, at)


def _renumber(answer: Any, given: Mapping[int, int]) -> Any:
    if not given:
        return answer
    if isinstance(answer, Record):
        return answer.but(seq=given.get(answer.seq, answer.seq))
    if isinstance(answer, list):
        return [_renumber(one, given) for one in answer]
    return answer


class _Replaced(NamedTuple):
    """A version that the next one replaces: in which member, with its own seq, and what happened."""

    member: Member
    old: Record
    event: Event


class JointTransaction:
    """What a job gets. `away` are members that take no part, and why."""

    def __init__(self, members: Members, away: Mapping[Member, Unavailable], hidden: Iterable[int]) -> None:
        self._members, self._away = members, away
        self._parts: dict[Member, Transaction] = {}
        self._hidden = set(hidden)  # the seqs of copies that do not count
        self._floor = members.floor
        self._late: set[Member] = set()  # members that give seqs when they commit
        self._replaced: dict[Key, _Replaced] = {}  # removed, to be written anew
        self._gone: list[int] = []  # the seqs of what was removed
        self.left: list[_Replaced] = []  # whose next version is in another member
        self.inserted: dict[Member, list[Record]] = {}  # with their own seqs
        self.new: set[Key] = set()  # those of them that replaced none
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
        with _as_failure_of(member):
            yield self._parts[member]

    def _ask(self, job: Callable[[Member, Transaction], T]) -> list[T]:
        """What each member answers."""
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
        """The copy that counts of each record that is found."""
        found = self._ask(lambda member, transaction: member.outer(job(transaction)))
        return newest(record for some in found for record in some if record.seq not in self._hidden)

    def _sort(self, job: Callable[[Transaction], Iterable[Record | None]]) -> list[Record]:
        return sorted(self._gather(job).values(), key=lambda record: record.seq)

    def read(self, scope: str, ids: Sequence[str], *, bare: bool = False) -> list[Record | None]:
        """Who asks for bare records decides about them by what is there: absence must be certain."""
        there = self._gather(lambda transaction: transaction.read(scope, ids, bare=bare))
        found = [there.get((scope, id)) for id in ids]
        if bare and None in found:
            self._need_all("a record that may be there")
        return found

    def same(self, scope: str, digests: Sequence[bytes], *, every_kind: bool = False) -> list[Record]:
        return self._sort(lambda transaction: transaction.same(scope, digests, every_kind=every_kind))

    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        self._need_all("what goes through all records")
        return iter(self._sort(lambda transaction: transaction.find(where, bare=bare)))

    def list_derived(self, scope: Scope) -> list[Record]:
        self._need_all("what goes through all records")
        return self._sort(lambda transaction: find_derived_in(transaction, scope))

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
        found: dict[K, V] = {}
        with self._using(self._members.long) as transaction:
            found |= transaction.values(table, asked, within=within, prefix=prefix, limit=limit)
        return found

    # Writing.

    def insert(self, records: Sequence[Record]) -> list[Record]:
        stored: list[Record] = []
        for (place, source), some in groupby(records, key=self._choose_place):
            if source is None or source is place:
                stored += self._insert(place, list(some))
            else:
                stored += self._move(source, place, list(some))
        return stored

    def _choose_place(self, record: Record) -> tuple[Member, Member | None]:
        """Where a record is written, and where the version is that it replaces."""
        home, box = self._members.home(record), self._members.outbox
        old = self._replaced.get(key_of(record))
        if old is not None and (old.member is box or home in self._away):
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
        self.new |= {key_of(record) for record in records} - {key_of(one.old) for one in replaced}
        with self._using(member) as transaction:
            self._leap(member, transaction)
            if replaced:
                transaction.remove([one.old for one in replaced], [one.event for one in replaced])
            stored = transaction.insert(records)
        return self._note_inserted(member, stored)

    def _move(self, source: Member, target: Member, records: Sequence[Record]) -> list[Record]:
        """Copies what is replaced to another member with its history, and writes the next versions there."""
        replaced = [self._replaced.pop(key_of(record)) for record in records]
        with self._using(source) as transaction:
            there = read_records(transaction, records)
            lives = read_lives(transaction, [there[key_of(record)] for record in records])
        self._floor = max([self._floor, *(one.old.seq for one in replaced if one.old.seq < PROVISIONAL)])
        with self._using(target) as transaction:
            self._leap(target, transaction)
            copies = copy_lives(transaction, lives)
            transaction.remove(copies, [one.event for one in replaced])
            stored = transaction.insert(records)
            mark_arrivals(transaction, map(key_of, records))
        self.left += replaced
        return self._note_inserted(target, stored)

    def _note_inserted(self, member: Member, stored: Sequence[Record]) -> list[Record]:
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
        """Removes all copies of what is forgotten; what is replaced goes when its successor comes."""
        doomed: dict[Key, Event] = {}
        for record, event in zip(records, events, strict=True):
            if event.what == "forgotten":
                doomed[key_of(record)] = event
                continue
            member = next(one for one in self._parts if one.owns(record.seq))
            self._replaced[key_of(record)] = _Replaced(member, record.but(seq=record.seq // STEP), event)
            self._hidden.add(record.seq)
            self._gone.append(record.seq)
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
            self._gone += seqs

    def finish(self) -> None:
        """Removes what no next version replaced, and the vectors that are staged for what is gone."""
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
        """Tombstones are in all members, all else in the long store. No epoch begins while records wait."""
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
    """Uses are counted by whoever has the record."""
    uses: list[Use | Derived] = [row for row in rows if isinstance(row, Use)]
    own = [row for row in rows if isinstance(row, Derived) and member.owns(row.seq)]
    return uses + [row._replace(seq=row.seq // STEP) for row in own]


def join_values(parts: Iterable[Mapping[K, V]], limit: int | None) -> dict[K, V]:
    """The values of a table that several members keep, by rising key."""
    found: dict[Any, V] = {}
    for part in parts:
        found |= part
    return {key: found[key] for key in islice(sorted(found), limit)}


def _read_latest_seq(store: Store) -> int:
    return cast("GivesSeqsLate", store).latest_seq()
