"""Runs a write over all members: each transaction is nested in the one before, the long store outermost.

The short store commits first. A record is in one member, so a commit that fails leaves none in halves; what
the other member has taken of the same call stays.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any, Final, TypeVar, cast

from ...core.errors import Conflict, EidetError, Unavailable
from ...core.record import Record
from .. import Transaction
from .member import STEP, Member
from .members import Members
from .moving import leave
from .transaction import CannotWait, JointTransaction, MemberFailed, RunAgain, as_failure_of

T = TypeVar("T")

_RERUNS: Final = 100  # of a write whose members are changed by others all the time


def write(members: Members, job: Callable[[Transaction], T], now: float) -> T:
    """Runs a job over all members that are up."""
    stay = False
    away = {member: member.down_error() for member in (members.long, members.short) if not member.answers()}
    for _ in range(_RERUNS):
        if len(away) == 2:
            raise away[members.long]
        attempt = _Attempt(members, away, now, stay)
        try:
            return attempt.run(job)
        except MemberFailed as failed:
            _give_up_on(failed.member, failed.error, members, away)
        except CannotWait as refused:
            raise Unavailable(str(refused), retry_after=1.0) from refused
        except RunAgain:
            continue
        except EidetError:
            if stay or not attempt.joint.left:
                raise
            stay = True  # a member rejects what is to move there
    raise Unavailable(f"the stores kept changing; gave up after {_RERUNS} attempts", retry_after=1.0)


def _give_up_on(
    member: Member, error: Unavailable, members: Members, away: dict[Member, Unavailable]
) -> None:
    """Leaves this member out of the next attempt; raises if that is impossible."""
    if member not in away:
        member.note_failure(error)
        members.notice()
    if away or member is members.outbox:
        raise error
    away[member] = error


class _Attempt:
    """One run of a job, with the members that are up."""

    def __init__(self, members: Members, away: Mapping[Member, Unavailable], now: float, stay: bool) -> None:
        self._members, self._away, self._now = members, away, now
        self._seqs: dict[int, int] = {}  # provisional seq -> assigned seq
        self.joint = JointTransaction(members, away, stay)

    def run(self, job: Callable[[Transaction], T]) -> T:
        present = [member for member in self._members.all if member not in self._away]
        self._members.writer = threading.get_ident()
        try:
            answer = self._run_inside(present, job)
        finally:
            self._members.writer = None
        self._note_seqs()
        with suppress(Unavailable):  # the next mend goes on
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

        with as_failure_of(member):
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

    def _leave_behind(self) -> None:
        """Deletes the old copies of moved records."""
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
