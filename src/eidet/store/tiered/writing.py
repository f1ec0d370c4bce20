"""Writing to all members at once: each is held by the one before it, the long one outermost.

The innermost commits first. If a later one fails, what was new is taken back. A member that does not answer
takes no part: the job runs again, and what belongs to that member waits in the outbox. What is out of place
by its tier after the commit is moved at once. That gives it a later seq: where something else was written
after it, it is moved first instead, and the job runs again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, Final, TypeVar, cast

from ...core.errors import Conflict, Unavailable
from ...core.record import Record
from .. import Transaction, Use, verbs
from ..model import CarefulJob
from .joint import (
    CannotWait,
    JointTransaction,
    MemberFailed,
    MemberTransactions,
    MovedFirst,
    MustMove,
    RunAgain,
    as_failure_of,
)
from .member import Member
from .members import Members
from .moving import move

T = TypeVar("T")
Job = Callable[[Transaction], T]

RERUNS: Final = 100  # of a write whose members are changed by others all the time


def write(members: Members, job: Job[T], now: float) -> tuple[T, list[Use]]:
    """The job's answer, and the uses of records that may be in a member that is away."""
    away = {member: _why(member) for member in (members.long, members.short) if not member.answers()}
    first: MovedFirst | None = None
    for _ in range(RERUNS):
        if len(away) == 2:
            raise away[members.long]
        attempt = _Attempt(members, away, now, first)
        try:
            return attempt.run(job), attempt.joint.unknown_uses
        except MemberFailed as failed:
            _give_up_on(failed, members, away)
        except CannotWait as refused:
            raise Unavailable(str(refused), retry_after=1.0) from refused
        except MustMove:
            first = attempt.move_first()
        except RunAgain:
            continue
    raise Unavailable(f"the stores kept changing; gave up after {RERUNS} attempts", retry_after=1.0)


def _why(member: Member) -> Unavailable:
    return Unavailable(f"the {member.name} store is down: {member.error}", retry_after=1.0)


def _give_up_on(failed: MemberFailed, members: Members, away: dict[Member, Unavailable]) -> None:
    """The next attempt does without this member; raises if it cannot."""
    member, error = failed.member, failed.error
    if member not in away:
        member.note_failure(error)
        members.notice()
    if away or member is members.outbox:
        raise error
    away[member] = error


class _Attempt:
    """One run of a job, with the members that are there."""

    def __init__(
        self,
        members: Members,
        away: Mapping[Member, Unavailable],
        now: float,
        first: MovedFirst | None,
    ) -> None:
        self._members, self._away, self._now = members, away, now
        self._first, self._may_move_first = first or MovedFirst({}, {}), first is None
        self._committed: list[Member] = []
        self._parts = MemberTransactions(members, away)
        self.joint = JointTransaction(self._parts, self._first)

    def run(self, job: Job[T]) -> T:
        present = [member for member in self._members.all if member not in self._away]
        for member in present:
            self._leap(member)
        self._members.writer = threading.get_ident()
        try:
            answer = self._run_inside(present, job)
        except BaseException:
            self._take_back()
            raise
        finally:
            self._members.writer = None
        self._note_seqs()
        return cast("T", _renumber(answer, {**self._first.seqs, **self._move_strays()}))

    def move_first(self) -> MovedFirst:
        """Moves what was to be moved later."""
        new = self.joint.new
        homes = {key: stray.home for key, stray in self.joint.strays.items() if key in new}
        return MovedFirst(self._move_strays(), homes)

    def _move_strays(self) -> dict[int, int]:
        """By the seqs that records had, those they have now."""
        given: dict[int, int] = {}
        strays = self.joint.strays
        for (member, _, at), keys in groupby(strays, key=strays.__getitem__):
            with suppress(Unavailable):
                given |= move(self._members, member, list(keys), at)
        return given

    def _leap(self, member: Member) -> None:
        """For a member whose transactions cannot leap."""
        floor = self._members.floor
        if not member.leaps_inside and member.came < floor:
            with as_failure_of(member):
                member.ask(lambda store: store.leap(floor))
            member.came = floor

    def _run_inside(self, pending: Sequence[Member], job: Job[T]) -> T:
        if not pending:
            return self._run_job(job)
        member, *others = pending

        def run_part(transaction: Transaction) -> list[Any]:
            self._parts.open(member, transaction)
            answer = _Answer(self._run_inside(others, job))
            return [answer, self.joint.inserted.get(member, [])]

        with as_failure_of(member):
            answer, stored = member.ask(lambda store: store.write(CarefulJob(run_part)))
        self._committed.append(member)
        return cast("T", self._number(member, answer.value, stored))

    def _number(self, member: Member, answer: Any, stored: list[Record]) -> Any:
        """The answer with the seqs that a commit gave, in place of provisional ones."""
        given = {}
        for old, new in zip(self.joint.inserted.get(member, ()), stored, strict=True):
            if old.seq != new.seq:
                given[member.outer_seq(old.seq)] = member.outer_seq(new.seq)
        if given:
            self.joint.inserted[member] = stored
        return _renumber(answer, given)

    def _run_job(self, job: Job[T]) -> T:
        try:
            answer = job(self.joint)
        except Conflict as error:
            if self._away and error.current is None:
                raise CannotWait(f"whether that is so is not known while a store is down: {error}") from error
            raise
        if self.joint.out_of_order and self._may_move_first:
            raise MustMove("seqs would not rise in the order of writing")
        return answer

    def _take_back(self) -> None:
        """What was new of a write that cannot be done as a whole."""
        for member in self._committed:
            inserted = self.joint.inserted.get(member, ())
            new = [record for record in inserted if (record.scope, record.id) in self.joint.new]
            member.ask(partial(verbs.delete_unchanged, records=new, now=self._now, follows=True))

    def _note_seqs(self) -> None:
        for member, records in self.joint.inserted.items():
            self._members.note_seq(member, records[-1].seq)
        for member in self.joint.removed:
            with suppress(Unavailable):
                self._members.note_seq(member, member.read_seq())


@dataclass(frozen=True, slots=True)
class _Answer:
    """Keeps the answer of a job from a member that would give its records seqs of its own."""

    value: Any


def _renumber(answer: Any, given: Mapping[int, int]) -> Any:
    if not given:
        return answer
    if isinstance(answer, Record):
        return answer.but(seq=given.get(answer.seq, answer.seq))
    if isinstance(answer, list):
        return [_renumber(one, given) for one in answer]
    return answer
