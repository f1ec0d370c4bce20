"""Writing: jobs of many threads share a transaction, which one script commits if nothing has changed."""

from __future__ import annotations

import os
import random
import time
import uuid
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Final, TypeVar, cast

from ...core.errors import EidetError
from ...net.retry import OutcomeUnknown
from ..group_commit import GroupCommit, Job, QueuedJob
from ..model import EPOCH, CarefulJob
from .client import script
from .codec import COMMIT
from .commit_plan import CommitPlan
from .known import EPOCH_PLACE, Known, LastKnown, Unforeseen
from .record_reader import Reading
from .transaction import RedisTransaction, renumber

T = TypeVar("T")
_ANSWERS_MS: Final = 600_000  # how long an answer is remembered for whoever asks again
PATIENT: Final = 3  # tries before a writer that others get ahead of pauses
BULK: Final = 5000  # derived bytes that are replaced at once; of more, the epoch rises first and last


Group = list[QueuedJob[Any]]  # jobs that share a transaction


class _Stale(Exception):
    """Raised if something changed since it was read. Holds the present values and records of those places."""


class Writing:
    """The way in for all that is written."""

    def __init__(self, reading: Reading, *, mortal: bool) -> None:
        self._reading, self._client, self._store = reading, reading.client, reading.keys.store
        self._linger, self._mortal = reading.client.address.linger_seconds, mortal
        self._turns = GroupCommit(self._commit)
        self._name, self._pid, self._numbers = "", 0, count(1)
        self.memo: LastKnown = LastKnown()

    def run(self, job: Callable[[RedisTransaction], T]) -> T:
        return cast("T", self._turns.run(cast("Job[Any]", job)))

    def peek(self) -> RedisTransaction:
        """Reads as jobs do, and is never committed."""
        return RedisTransaction(Known(self._reading, self.memo, silent=False), self._linger)

    # One turn.

    def _commit(self, tickets: list[QueuedJob[Any]]) -> None:
        careful = [one for one in tickets if _is_careful(one)]
        shared = [one for one in tickets if one not in careful]
        for group in ([shared] if shared else []) + [[one] for one in careful]:
            try:
                self._carry_out(group)
            except EidetError as error:
                for ticket in group:
                    ticket.error = ticket.error or error

    def _carry_out(self, group: Group) -> None:
        """Runs jobs on a guess and, if that is wrong, on what one round trip reads."""
        known = Known(self._reading, self.memo, silent=not _is_careful(group[0]))
        for tries in self._client.tries("other writers kept changing the data; nothing was stored"):
            if not known.silent:
                known.fetch()
            plan = self._run_jobs(group, known)
            if all(ticket.error is not None for ticket in group):
                return
            try:
                if plan is not None:
                    given = self._send(plan)
                    for ticket in group:
                        ticket.result = renumber(ticket.result, given)
                    return
            except _Stale as stale:
                known.renew()
                known.learn(*stale.args)
            if tries > PATIENT:
                time.sleep(random.random() * min(0.002 * tries, 0.05))  # noqa: S311
            known.silent = False

    def _run_jobs(self, group: Group, known: Known) -> CommitPlan | None:
        """Plans all jobs that succeed; fails the others and leaves them out.

        None if jobs must run again, on what is read.
        """
        while True:
            transaction = RedisTransaction(known, self._linger)
            try:
                for ticket in group:
                    if ticket.error is None:
                        ticket.result = cast("Any", ticket.job)(transaction)
            except Unforeseen:
                return None
            except Exception as error:  # noqa: BLE001 - it belongs to whoever gave the job
                if known.silent:
                    return None
                ticket.error = error
            else:
                return transaction.plan if transaction.plan.writes or not known.silent else None

    # Sending.

    def _send(self, plan: CommitPlan) -> list[int]:
        """The seqs given; `_Stale` if something is not as it was."""
        if not plan.writes:
            return []
        if len(plan.derived) > BULK:
            self._send_bulk(plan)
        first = self._call(plan, plan.spell() + plan.spell_derived(plan.derived))
        return [first + number for _, number in plan.added]

    def _send_bulk(self, plan: CommitPlan) -> None:
        """Replaces all derived bytes but the last few thousand. Repeatable after a crash."""
        self._call(plan, ["S", self._store, "", "R", 4, "HINCRBY", "h", EPOCH, 1])
        plan.raise_guard(EPOCH_PLACE)
        while len(plan.derived) > BULK:
            places = list(plan.derived)[:BULK]
            self._call(plan, plan.spell_derived(places))
            for place in places:
                del plan.derived[place]

    def _call(self, plan: CommitPlan, words: Sequence[Any]) -> int:
        """The seq before those given; `_Stale` if a guard is not as it was.

        What is cleared away takes seqs that follow those of the plan.
        """
        name, number = self._take_token()
        arguments = [number, _ANSWERS_MS, self._store + "h", self._store + "n", int(self._mortal)]
        arguments += [self._linger, plan.seqs, repr(plan.latest), len(plan.guards)]
        commit = script(COMMIT, f"{self._store}w:{name}", *arguments, *plan.spell_guards(), *words)
        state, *answer = self._client.write(commit)
        if state == b"late":
            raise OutcomeUnknown(
                "a later write of this process was already answered; the outcome of this one is unknown"
            )
        if state == b"stale":
            raise _Stale(list(plan.guards), *answer)
        return int(answer[0])

    def _take_token(self) -> tuple[str, int]:
        """Names the writes of this process by number, so that none is carried out twice."""
        if self._pid != os.getpid():
            self._pid, self._name = os.getpid(), uuid.uuid4().hex[:16]
        return self._name, next(self._numbers)


def _is_careful(ticket: QueuedJob[Any]) -> bool:
    return isinstance(ticket.job, CarefulJob)
