"""Writing to all members at once: each is held by the one before it, the long one outermost.

The innermost commits first. If a later one fails, what was new is taken back. A member that does not answer
takes no part: the job runs again, and what belongs to that member waits in the outbox.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar, cast

from ...core.errors import Conflict, EidetError, Unavailable
from ...core.record import Record
from .. import Head, Store, Transaction, Use, verbs
from ..model import CarefulJob
from .joint import JointTransaction, Moves, Written
from .member import Member
from .member_transactions import (
    CannotWait,
    MemberFailed,
    MustMove,
    NeedsOutbox,
    Parts,
    RanAgain,
    as_failure_of,
)
from .members import Members
from .moving import delete_moved

T = TypeVar("T")
Job = Callable[[Transaction], T]

RERUNS: Final = 100  # of a write whose members are changed by others all the time


def write(members: Members, job: Job[T], now: float) -> tuple[T, list[Use]]:
    """The job's answer, and the uses of records that may be in a member that is away."""
    away = {member: _why(member) for member in (members.long, members.short) if not member.answers()}
    moves = Moves.ASK
    for _ in range(RERUNS):
        try:
            return _attempt(members, job, away, moves, now)
        except MemberFailed as failed:
            _give_up_on(failed, members, away)
        except MustMove:
            moves = Moves.ALLOWED
        except NeedsOutbox:
            members.open_outbox()
        except CannotWait as refused:
            raise Unavailable(str(refused), retry_after=1.0) from refused
        except RanAgain:
            continue
        except EidetError:
            if moves is not Moves.ALLOWED:
                raise
            moves = Moves.NEVER  # a store would not take what moves: that is tried again by whoever mends
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


def _attempt(
    members: Members, job: Job[T], away: dict[Member, Unavailable], moves: Moves, now: float
) -> tuple[T, list[Use]]:
    if len(away) == 2:
        raise away[members.long]
    write = _Write(Parts(members, away), moves, now)
    quiet: AbstractContextManager[None] = nullcontext()
    if moves is Moves.ALLOWED:
        quiet = members.gate.moving()
    with quiet:
        answer = write.run(job)
    return answer, write.written.unknown_uses


class _Write:
    """One attempt."""

    def __init__(self, parts: Parts, moves: Moves, now: float) -> None:
        self._parts, self._moves, self._now = parts, moves, now
        self._members = parts.members
        self._committed: list[Member] = []
        self.written = Written()

    def run(self, job: Job[T]) -> T:
        present = [member for member in self._members.all if member not in self._parts.away]
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
        self._finish()
        return answer

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
            return [answer, self.written.inserted.get(member, [])]

        with as_failure_of(member):
            answer, stored = member.ask(lambda store: store.write(CarefulJob(run_part)))
        self._committed.append(member)
        return cast("T", self._number(member, answer.value, stored))

    def _number(self, member: Member, answer: Any, stored: list[Record]) -> Any:
        """The answer with the seqs that a commit gave, in place of provisional ones."""
        provisional = self.written.inserted.get(member, [])
        given = {}
        for old, new in zip(provisional, stored, strict=True):
            if old.seq != new.seq:
                given[member.outer_seq(old.seq)] = member.outer_seq(new.seq)
        if not given:
            return answer
        self.written.inserted[member] = stored
        return _renumber(answer, given)

    def _run_job(self, job: Job[T]) -> T:
        joint = JointTransaction(self._parts, self._moves)
        self.written = joint.written
        try:
            answer = job(joint)
        except Conflict as error:
            if self._parts.away and error.current is None:
                raise CannotWait(f"whether that is so is not known while a store is down: {error}") from error
            raise
        joint.finish()
        return answer

    def _take_back(self) -> None:
        """What was new of a write that cannot be done as a whole."""
        for member in self._committed:
            inserted = self.written.inserted.get(member, ())
            new = [record for record in inserted if (record.scope, record.id) in self.written.new]
            member.ask(partial(verbs.delete_unchanged, records=new, now=self._now, follows=True))

    def _finish(self) -> None:
        for member, records in self.written.inserted.items():
            self._members.note_seq(member, records[-1].seq)
        for member in self.written.removed:
            with suppress(Unavailable):
                self._members.note_seq(member, member.ask(read_head).seq)
        if self.written.moved:
            with suppress(Unavailable):
                delete_moved(self._members, self.written.moved)


@dataclass(frozen=True, slots=True)
class _Answer:
    """Keeps the answer of a job from a member that would give its records seqs of its own."""

    value: Any


def _renumber(answer: Any, given: Mapping[int, int]) -> Any:
    if isinstance(answer, Record):
        return answer.but(seq=given.get(answer.seq, answer.seq))
    if isinstance(answer, list):
        return [_renumber(one, given) for one in answer]
    return answer


def read_head(store: Store) -> Head:
    return store.head()
