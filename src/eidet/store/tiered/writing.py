"""Writes to a tiered store: a job runs in a transaction of each member that is up, one nested in the other.

The next version of a record is written where the record is; a new one goes where its tier belongs or, while
that store is down, to the other one, marked as waiting. What then lies in the wrong member is moved after the
commit (see `moving`). What cannot wait is refused.

The short store commits first. A record is in one member, so a commit that fails leaves none in halves; what
the other member has taken of the same call stays.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any, Final, TypeVar, cast

from ...core.errors import Conflict, EidetError, Unavailable
from ...core.record import Event, Record
from ...core.scope import Scope
from ...core.validate import Json
from ...core.where import Where
from .. import EPOCH, STAGED, TOMBSTONES, Derived, Table, Transaction, Use
from ..abilities import GivesSeqsLate, Leaps
from ..answers import renumber
from ..model import PROVISIONAL, K, V
from ..rules import Carry
from ..verbs.changing import Key, read_lives, read_records
from .members import STEP, Member, Members
from .moving import (
    COPIED,
    MOVED,
    WAITS,
    Written,
    carry_lives,
    copy_lives,
    find_copies,
    join_histories,
    key_of,
    newest,
    read_marks,
    set_marks,
)

T = TypeVar("T")


class MemberFailed(EidetError):
    """Raised if a member was unavailable inside a write. Not `Unavailable`: the other members are fine."""

    def __init__(self, member: Member, error: Unavailable) -> None:
        super().__init__(str(error))
        self.member, self.error = member, error


class CannotWait(EidetError):
    """Raised if a write needs a member that is away."""


class _RunAgain(EidetError):
    """Raised to undo the members' writes and run the job again."""


@contextmanager
def _as_failure_of(member: Member) -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        raise MemberFailed(member, error) from error


class JointTransaction:
    """A job's transaction over several members. `away` lists members that take no part, and why."""

    def __init__(self, members: Members, away: Mapping[Member, Unavailable], now: float) -> None:
        self._members, self._away, self._now = members, away, now
        self._parts: dict[Member, Transaction] = {}
        self._floor = members.floor
        self._late: set[Member] = set()  # members that give seqs when they commit
        self._places: dict[Key, Member] = {}  # where next versions go
        self._recast: set[Key] = set()  # of which only the form changes
        self._gone: set[int] = set()  # the seqs of what was removed
        self.inserted: dict[Member, list[Record]] = {}  # with their own seqs
        self.removed: set[Member] = set()  # members whose last seq went to a removal
        self.waits = False  # whether a record waits for a member that is away

    # The members.

    def open(self, member: Member, transaction: Transaction) -> None:
        if member in self._parts:
            raise _RunAgain(f"the {member.name} store ran its part again")
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
        answers = self._ask(lambda member, transaction: member.outer(job(transaction)))
        found = list(chain.from_iterable(answers))
        twice = [key for key, times in Counter(map(key_of, found)).items() if times > 1]
        marks = {
            (member.number, key): mark
            for member, part in (self._parts.items() if twice else ())
            for key, mark in read_marks(part, twice).items()
        }
        return newest(found, marks)

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
            return self._members.read_values(part, table, asked, within=within, prefix=prefix, limit=limit)

    # Writing.

    def insert(self, records: Sequence[Record]) -> list[Record]:
        stored: list[Record] = []
        placed = [(self._choose_place(record), record) for record in records]
        for place, some in groupby(placed, key=itemgetter(0)):
            with self._using(place) as transaction:
                self._leap(place, transaction)
                new = transaction.insert([record for _, record in some])
                if self._away:
                    self._mark(transaction, [one for one in new if key_of(one) not in self._recast])
            self._note_new(place, new)
            stored += place.outer(new)
        return stored

    def _choose_place(self, record: Record) -> Member:
        """Returns the member that has a record, or else its own, if that is up."""
        home = self._members.home(record)
        return self._places.pop(key_of(record), self._members.other(home) if home in self._away else home)

    def _mark(self, transaction: Transaction, new: Iterable[Record]) -> None:
        """Marks what the member that is away may have in another version, or waits for."""
        for waits, some in groupby(new, key=lambda record: self._members.home(record) in self._away):
            self.waits = self.waits or waits
            set_marks(transaction, map(key_of, some), f"{self._now!r}{WAITS if waits else ''}")

    def _note_new(self, place: Member, new: Sequence[Record]) -> None:
        if new[-1].seq < PROVISIONAL:
            self._floor = max(self._floor, new[-1].seq)
        else:
            self._late.add(place)
        self.inserted.setdefault(place, []).extend(new)
        self.removed.discard(place)

    def bring(
        self, source: Member, target: Member, records: Sequence[Record], carry: Carry, now: float
    ) -> list[list[Record]]:
        """Copies records to where they belong, unless they were changed since they were read.

        Returns them, and those of them that are new there, as stored.
        """
        with self._using(source) as transaction:
            there = read_records(transaction, records)
            same = [one for one in records if key_of(one) in there and there[key_of(one)].seq == one.seq]
            lives = read_lives(transaction, [there[key_of(one)] for one in same])
            marks = read_marks(transaction, map(key_of, same))
        copied: list[Record] = []
        with self._using(target) as transaction:
            self._leap(target, transaction)
            known = read_records(transaction, same, bare=True)
            fresh = {key for key, mark in marks.items() if mark != COPIED and key in known}
            for carried, some in groupby(lives, key=lambda life: key_of(life[0]) in fresh):
                if carried:
                    carry_lives(transaction, list(some), carry, now)
                else:
                    copied += copy_lives(transaction, list(some))
        if copied:
            self._note_new(target, copied)
        self.removed.add(target)
        return [same, target.outer(copied)]

    def _leap(self, member: Member, transaction: Any) -> None:
        """Makes seqs ascend in the order of writing, across members."""
        for other in self._late - {member}:
            self._floor = max(self._floor, other.ask(lambda store: cast("GivesSeqsLate", store).latest_seq()))
        if member.leaps_inside:
            transaction.leap(self._floor)

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        """Removes records, and all other copies of forgotten ones."""
        pairs = list(zip(records, events, strict=True))
        for member in self._parts:
            own = [pair for pair in pairs if member.owns(pair[0].seq)]
            self._places.update((key_of(record), member) for record, _ in own)
            self._recast.update(key_of(record) for record, event in own if event.what == "moved")
            self._remove(member, [(record.but(seq=record.seq // STEP), event) for record, event in own])
        ends = {key_of(old): replace(event, by=MOVED) for old, event in pairs if event.what == "forgotten"}
        for member in self._parts if ends else ():
            with self._using(member) as transaction:
                copies = read_records(transaction, records, bare=True)
            self._remove(member, [(copy, ends[key]) for key, copy in copies.items() if key in ends])

    def _remove(self, member: Member, pairs: Sequence[tuple[Record, Event]]) -> None:
        if not pairs:
            return
        with self._using(member) as transaction:
            self._leap(member, transaction)
            transaction.remove([old for old, _ in pairs], [event for _, event in pairs])
        self.removed.add(member)
        self._gone.update(member.outer_seq(old.seq) for old, _ in pairs)

    def finish(self) -> None:
        """Removes the staged vectors of deleted records."""
        if self._gone and self._members.long not in self._away:
            self.set_values(STAGED, {seq: None for seq in self._gone if seq < PROVISIONAL})

    def update(self, changes: Iterable[Use | Derived]) -> None:
        rows = list(changes)
        self._ask(lambda member, transaction: transaction.update(_part_of(member, rows)))

    def edit_history(self, edits: Mapping[Key, Mapping[int, Mapping[str, Json]] | None]) -> int:
        self._need_all("what history says")
        return sum(self._ask(lambda _, transaction: transaction.edit_history(edits)))

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        """Sets tombstones in all members, all else in the long store."""
        if table.name == TOMBSTONES.name and (values or clear):
            self._need_all("a tombstone")
            self._ask(lambda _, part: part.set_values(table, values, clear=clear))
        elif values or clear:
            if EPOCH in cast("Mapping[Any, object]", values):
                self._need_all("new vectors")
            with self._using(self._members.long) as transaction:
                transaction.set_values(table, self._members.place_values(table, values), clear=clear)


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


_RERUNS: Final = 100  # of a write whose members are changed by others all the time


def write(members: Members, job: Callable[[Transaction], T], now: float) -> tuple[T, Written]:
    """Runs a job over all members that are up."""
    away = {member: member.down_error() for member in members.all if member.down}
    for _ in range(_RERUNS):
        if len(away) == 2:
            raise away[members.long]
        try:
            return _Attempt(members, away, now).run(job)
        except MemberFailed as failed:
            if failed.member not in away:
                failed.member.note_failure(failed.error)
                members.notice()
            if away:
                raise failed.error from failed
            away[failed.member] = failed.error
        except CannotWait as refused:
            raise Unavailable(str(refused), retry_after=1.0) from refused
        except _RunAgain:
            continue
    raise Unavailable(f"the stores kept changing; gave up after {_RERUNS} attempts", retry_after=1.0)


class _Attempt:
    """One run of a job, with the members that are up."""

    def __init__(self, members: Members, away: Mapping[Member, Unavailable], now: float) -> None:
        self._members, self._away = members, away
        self._seqs: dict[int, int] = {}  # provisional seq -> assigned seq
        self.joint = JointTransaction(members, away, now)

    def run(self, job: Callable[[Transaction], T]) -> tuple[T, Written]:
        present = [member for member in self._members.all if member not in self._away]
        self._members.writer = threading.get_ident()
        try:
            answer = self._run_inside(present, job)
        finally:
            self._members.writer = None
        self._note_seqs()
        misplaced = {
            member: [record for record in records if self._members.home(record) is not member]
            for member, records in self.joint.inserted.items()
        }
        return cast("T", renumber(answer, self._seqs)), Written(self.joint.waits, misplaced)

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
            answer, stored = member.ask(lambda store: store.write(run_part))
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

    def _note_seqs(self) -> None:
        for member, records in self.joint.inserted.items():
            self._members.note_seq(member, records[-1].seq)
        for member in self.joint.removed:
            with suppress(Unavailable):
                self._members.note_head(member)
