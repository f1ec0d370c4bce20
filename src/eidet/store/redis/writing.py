"""Writing: jobs of many threads share a transaction, which one script commits if nothing has changed."""

from __future__ import annotations

import os
import random
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import count, groupby
from typing import Any, Final, TypeVar, cast

from ...core.errors import EidetError
from ...net.retry import OutcomeUnknown
from ..group_commit import GroupCommit, Job, QueuedJob
from ..model import EPOCH, CarefulJob
from .client import script
from .codec import COMMIT, RESERVE, Place
from .commit_plan import SWEPT, CommitPlan
from .known import EPOCH_PLACE, TOMBS, Known, LastKnown, Unforeseen
from .record_reader import Reading
from .transaction import RedisTransaction, renumber

T = TypeVar("T")
_ANSWERS_MS: Final = 600_000  # how long an answer is remembered for whoever asks again
LANES: Final = 16
PATIENT: Final = 3  # tries before a writer that others get ahead of pauses
BULK: Final = 5000  # derived bytes that are replaced at once; of more, the epoch rises first and last


Group = list[QueuedJob[Any]]  # jobs that share a transaction


class _Stale(Exception):
    """Raised if something changed since it was read. Holds the present values and records of those places."""


class _Lane:
    """Writers of one process that go one after the other; their writes are numbered."""

    def __init__(self, commit: Callable[[_Lane, list[QueuedJob[Any]]], None]) -> None:
        self._name, self._pid = "", 0
        self._numbers = count(1)
        self.turns = GroupCommit(lambda tickets: commit(self, tickets))

    def token(self) -> tuple[str, int]:
        if self._pid != os.getpid():
            self._pid, self._name = os.getpid(), uuid.uuid4().hex[:16]
        return self._name, next(self._numbers)


class Writing:
    """The way in for all that is written."""

    def __init__(self, reading: Reading, *, mortal: bool) -> None:
        self._reading, self._client, self._keys = reading, reading.client, reading.keys
        self._head = self._keys.store + "h"
        self._cluster, self._linger = self._client.address.cluster, self._client.address.linger_seconds
        self._mortal = mortal
        self._lanes = [_Lane(self._commit) for _ in range(LANES if self._cluster else 1)]
        self._registered: set[str] = set()
        self._generation = self._client.generation
        self.memo: LastKnown = LastKnown()

    def run(self, job: Callable[[RedisTransaction], T]) -> T:
        lane = random.choice(self._lanes)  # noqa: S311
        return cast("T", lane.turns.run(cast("Job[Any]", job)))

    def peek(self) -> RedisTransaction:
        """Reads as jobs do, and is never committed."""
        return RedisTransaction(Known(self._reading, self.memo, silent=False), self._linger)

    # One turn.

    def _commit(self, lane: _Lane, tickets: list[QueuedJob[Any]]) -> None:
        for group in self._groups(tickets):
            try:
                self._carry_out(lane, group)
            except EidetError as error:
                for ticket in group:
                    ticket.error = ticket.error or error

    def _groups(self, tickets: Sequence[QueuedJob[Any]]) -> list[Group]:
        """Jobs that share a transaction: none in a cluster, where a scope is written by itself."""
        alone = [one for one in tickets if self._cluster or _is_careful(one)]
        shared = [one for one in tickets if one not in alone]
        return [*([shared] if shared else []), *([one] for one in alone)]

    def _carry_out(self, lane: _Lane, group: Group) -> None:
        """Runs jobs on a guess and, if that is wrong, on what one round trip reads."""
        known = Known(self._reading, self.memo, silent=not _is_careful(group[0]))
        landed: dict[str, list[int]] = {}  # seqs given in scopes that a cluster has written already
        for tries in self._client.tries("other writers kept changing the data; nothing was stored"):
            if not known.silent:
                known.fetch()
            plan = self._run_jobs(group, known)
            if all(ticket.error is not None for ticket in group):
                return
            try:
                if plan is not None:
                    given = self._send(lane, plan, landed)
                    for ticket in group:
                        ticket.result = renumber(ticket.result, given)
                    return
            except _Stale as stale:
                known.renew(landed)
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
                checked = transaction.plan.writes and not self._cluster  # what was guessed, by the commit
                return transaction.plan if checked or not known.silent else None

    # Sending.

    def _send(self, lane: _Lane, plan: CommitPlan, landed: dict[str, list[int]]) -> list[int]:
        """The seqs given; `_Stale` if something is not as it was."""
        if not plan.writes:
            return []
        if len(plan.derived) > BULK:
            self._send_bulk(lane, plan)
        if self._cluster:
            return self._send_by_scope(lane, plan, landed)
        words = plan.spell(plan.words) + plan.spell_derived(plan.derived)
        first = self._call(lane, "", plan, plan.guards, words)
        return [first + number for _, number in plan.added]

    def _send_bulk(self, lane: _Lane, plan: CommitPlan) -> None:
        """Replaces all derived bytes but the last few thousand. Repeatable after a crash."""
        guarded = plan.list_guarded("") if self._cluster else plan.guards
        words = ["S", self._keys.store, "", "R", 4, "HINCRBY", "h", EPOCH, 1]
        self._call(lane, "", plan, guarded, words)
        plan.raise_guard(EPOCH_PLACE)
        while len(plan.derived) > BULK:
            places = list(plan.derived)[:BULK]
            self._send_derived(lane, plan, places)
            for place in places:
                del plan.derived[place]

    def _send_derived(self, lane: _Lane, plan: CommitPlan, places: Iterable[tuple[str, int]]) -> None:
        """A record that is gone is passed over, so nothing is guarded."""
        for scope, some in groupby(sorted(places), key=lambda place: place[0]):
            self._call(lane, scope, plan, (), plan.spell_derived(some))

    def _send_by_scope(self, lane: _Lane, plan: CommitPlan, landed: dict[str, list[int]]) -> list[int]:
        """Writes a cluster's scopes one by one; skips those that `landed` before."""
        if plan.entombs and not landed:
            self._client.write(self._keys.store, ("HINCRBY", self._head, "tombs", 1))
            plan.raise_guard(TOMBS)
        base = self._reserve(plan) if plan.seqs else ""
        for at, scope in enumerate(plan.words):
            if scope and scope not in landed:
                if scope in plan.named:
                    self._register(scope)
                guarded, words = plan.list_guarded(scope), plan.spell([scope])
                first = self._call(lane, scope, plan, guarded, words, base, SWEPT * at)
                landed[scope] = [first + number for one, number in plan.added if one == scope]
        self._send_derived(lane, plan, plan.derived)
        if "" in plan.words:
            self._call(lane, "", plan, () if landed else plan.list_guarded(""), plan.spell([""]))
        return _in_order(plan.added, landed)

    def _reserve(self, plan: CommitPlan) -> str:
        """The seq before those of this write."""
        expected = [plan.guards.get(place, b"").decode() for place in (EPOCH_PLACE, TOMBS)]
        reserve = script(RESERVE, self._head, plan.seqs_reserved, *expected)
        state, base = self._client.write(self._keys.store, reserve, copied=False)
        if state == b"stale":
            raise _Stale((), (), ())
        return str(base.decode())

    def _register(self, scope: str) -> None:
        """Registers a scope in a cluster before its first write; a name without records is harmless."""
        generation = self._client.generation
        if generation != self._generation:  # a node that took over may not know what the last one was told
            self._generation, self._registered = generation, set()
        if scope not in self._registered:
            store = self._keys.store
            self._client.write(store, ("HSET", store + "n", scope, "1"))
            self._registered.add(scope)

    def _call(
        self,
        lane: _Lane,
        scope: str,
        plan: CommitPlan,
        guarded: Collection[Place],
        words: Sequence[Any],
        base: str = "",
        spare: int = 0,
    ) -> int:
        """The seq before those given, which is `base` in a cluster; `_Stale` if a guard is not as it was.

        What is cleared away takes seqs that follow those of the plan, after `spare` others.
        """
        name, number = lane.token()
        key = self._keys.base(scope)
        head = key + "m" if scope and self._cluster else self._head
        names = "" if self._cluster else self._keys.store + "n"
        arguments = [number, _ANSWERS_MS, base, head, names, int(self._mortal), self._linger]
        arguments += [plan.seqs + spare, repr(plan.latest), len(guarded), *plan.spell_guards(guarded), *words]
        state, *answer = self._client.write(key, script(COMMIT, f"{key}w:{name}", *arguments))
        if state == b"late":
            raise OutcomeUnknown(
                "a later write of this process was already answered; the outcome of this one is unknown"
            )
        if state == b"stale":
            raise _Stale(list(guarded), *answer)
        return int(answer[0])


def _is_careful(ticket: QueuedJob[Any]) -> bool:
    return isinstance(ticket.job, CarefulJob)


def _in_order(added: Sequence[tuple[str, int]], landed: Mapping[str, Sequence[int]]) -> list[int]:
    """The seqs of all records in the order in which they were added."""
    given = {scope: iter(seqs) for scope, seqs in landed.items()}
    try:
        return [next(given[scope]) for scope, _ in added]
    except (StopIteration, KeyError) as error:
        raise OutcomeUnknown(
            "other writers changed what this write is about after some scopes were written"
        ) from error
