"""Writing: jobs of many threads share a transaction, which one script commits if nothing has changed."""

from __future__ import annotations

import os
import random
import time
import uuid
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Final, TypeVar, cast

from ...net.retry import OutcomeUnknown
from ..group_commit import GroupCommit, Job, QueuedJob
from ..model import EPOCH
from .client import script
from .codec import COMMIT
from .commit_plan import CommitPlan
from .record_reader import Reading
from .transaction import RedisTransaction, renumber

T = TypeVar("T")
_ANSWERS_MS: Final = 600_000  # how long an answer is kept for a repeated request
PATIENT: Final = 3  # tries before a writer that others overtake pauses
BULK: Final = 5000  # derived bytes that are replaced at once; with more, the epoch rises before and after
_RAISED: Final = {("", "h", "epoch"), ("", "h", "v")}  # counters that rise with the epoch


class _Stale(Exception):
    """Raised if something changed since it was read."""


class Writing:
    """The writer of a store: it runs and commits all jobs."""

    def __init__(self, reading: Reading, *, mortal: bool) -> None:
        self._reading, self._client, self._store = reading, reading.client, reading.keys.store
        self._linger, self._mortal = reading.client.address.linger_seconds, mortal
        self._turns = GroupCommit(self._commit)
        self._name, self._pid, self._numbers = "", 0, count(1)

    def run(self, job: Callable[[RedisTransaction], T]) -> T:
        return cast("T", self._turns.run(cast("Job[Any]", job)))

    # One turn.

    def _commit(self, tickets: Sequence[QueuedJob[Any]]) -> None:
        for tries in self._client.tries("other writers kept changing the data; nothing was stored"):
            try:
                self._commit_once(tickets)
            except _Stale:
                if tries > PATIENT:
                    time.sleep(random.random() * min(0.002 * tries, 0.05))  # noqa: S311
            else:
                return

    def _commit_once(self, tickets: Sequence[QueuedJob[Any]]) -> None:
        """Commits the jobs that succeed; leaves out one that fails, and runs the rest again."""
        running = [ticket for ticket in tickets if ticket.error is None]
        transaction = RedisTransaction(self._reading)
        for ticket in running:
            try:
                ticket.result = cast("Any", ticket.job)(transaction)
            except Exception as error:  # noqa: BLE001 - it belongs to the caller of the job
                self._check_guards(transaction.plan)  # raises first if the error may come from stale reads
                ticket.error = error
                return self._commit_once(running)
        first = self._send(transaction.plan)
        for ticket in running:
            ticket.result = renumber(ticket.result, first, transaction.plan.added)
        return None

    # Sending.

    def _check_guards(self, plan: CommitPlan) -> None:
        """Raises `_Stale` if something that was read has changed."""
        asked = [
            ("HGET", self._reading.keys.base(scope) + letter, field) for scope, letter, field in plan.guards
        ]
        found = [value or b"" for value in self._client.read(asked)]
        if found != list(plan.guards.values()):
            raise _Stale

    def _send(self, plan: CommitPlan) -> int:
        """Sends a plan. Returns the seq before those given; raises `_Stale` if something has changed."""
        if not plan.writes:
            return 0
        if len(plan.derived) > BULK:
            self._send_bulk(plan)
        return self._call(plan, plan.spell() + plan.spell_derived(plan.derived))

    def _send_bulk(self, plan: CommitPlan) -> None:
        """Replaces all derived bytes but the last few thousand. Repeatable after a crash."""
        self._call(plan, ["S", self._store, "", 0, "R", 4, "HINCRBY", "h", EPOCH, 1])
        for raised in _RAISED & plan.guards.keys():
            plan.guards[raised] = b"%d" % (int(plan.guards[raised] or 0) + 1)
        while len(plan.derived) > BULK:
            places = list(plan.derived)[:BULK]
            self._call(plan, plan.spell_derived(places))
            for place in places:
                del plan.derived[place]

    def _call(self, plan: CommitPlan, words: Sequence[Any]) -> int:
        """Calls the script. Returns the seq before those given; raises `_Stale` if a guard has changed.

        What is cleared away takes seqs that follow those of the plan.
        """
        name, number = self._take_token()
        arguments = [number, _ANSWERS_MS, self._store, int(self._mortal)]
        arguments += [self._linger, plan.seqs, repr(plan.latest), len(plan.guards)]
        commit = script(COMMIT, f"{self._store}w:{name}", *arguments, *plan.spell_guards(), *words)
        state, first = self._client.write(commit)
        if state == b"late":
            raise OutcomeUnknown(
                "a later write of this process was already answered; the outcome of this one is unknown"
            )
        if state == b"stale":
            raise _Stale
        return int(first)

    def _take_token(self) -> tuple[str, int]:
        """Returns the name of this process and the next number of its writes, so that none runs twice."""
        if self._pid != os.getpid():
            self._pid, self._name = os.getpid(), uuid.uuid4().hex[:16]
        return self._name, next(self._numbers)
