"""Writing: jobs of many threads share a desk; one script carries it out, or says that something changed."""

from __future__ import annotations

import os
import random
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, TypeVar, cast
from zlib import crc32

from ...core.errors import EidetError, Unavailable
from ...core.record import Record
from ...net.retry import OutcomeUnknown
from ..group_commit import GroupCommit as Turns
from ..group_commit import Job
from ..group_commit import QueuedJob as Ticket
from .address import Address
from .client import Wire
from .connection import script
from .keys import Keys
from .scope_view import Need, Seen, Sheet, sheet_of
from .scripts import COMMIT, LOOK, RESERVE
from .transaction import Desk

T = TypeVar("T")
ANSWERS_MS: Final = 600_000  # how long an answer is remembered for whoever asks again
SWEPT: Final = 10  # seqs that clearing away may take in a cluster
LANES: Final = 16
PATIENT: Final = 3  # tries before a writer that others get ahead of pauses


@dataclass(slots=True)
class Work:
    """What a call wants written. `run` may be called several times, each time on a new desk.

    With `blind`, it is tried first without reading. Work that is `alone` reads for itself.
    """

    run: Callable[[Desk], Any]
    needs: Callable[[], Mapping[str, Need]] = dict
    blind: bool = False
    alone: bool = False
    scope: str = ""  # in a cluster, work of several scopes is carried out one scope after the other
    ends: float = 0.0  # when whoever wants it gives up
    landed: Callable[[Sequence[str]], None] | None = None  # told which scopes were, when not all could be

    def __call__(self, desk: Any) -> Any:
        return self.run(desk)


class _Lane:
    """Writers of one process that go one after the other; their writes are numbered."""

    def __init__(self, commit: Callable[[_Lane, list[Ticket[Any]]], None]) -> None:
        self._name, self._pid = "", 0
        self._numbers = count(1)
        self.turns = Turns(lambda tickets: commit(self, tickets))

    def token(self) -> tuple[str, int]:
        if self._pid != os.getpid():
            self._pid, self._name = os.getpid(), uuid.uuid4().hex[:16]
        return self._name, next(self._numbers)


class Writing:
    """The way in for all that is written."""

    def __init__(self, wire: Wire, keys: Keys, address: Address, *, mortal: bool) -> None:
        self._wire, self._keys = wire, keys
        self._cluster = address.cluster
        self._linger, self._mortal = address.linger_seconds, mortal
        self._lanes = [_Lane(self._commit) for _ in range(LANES if self._cluster else 1)]
        self._registered: set[str] = set()
        self._turns = wire.servers.turns

    def run(self, work: Work) -> Any:
        work.ends = self._wire.ends
        lane = self._lanes[crc32(work.scope.encode()) % len(self._lanes)]
        return lane.turns.run(cast("Job[Any]", work))

    def entombed(self, scope: str, marks: Sequence[bytes]) -> dict[bytes, float]:
        if not marks:
            return {}
        base = self._keys.base(scope)
        found = self._wire.ask(base, ("HMGET", base + "b", *marks))
        return {mark: float(since) for mark, since in zip(marks, found, strict=True) if since is not None}

    # One turn.

    def _commit(self, lane: _Lane, tickets: list[Ticket[Any]]) -> None:
        works = [(ticket, cast("Work", ticket.job)) for ticket in tickets]
        shared = [pair for pair in works if not pair[1].alone]
        scopes = dict.fromkeys(work.scope if self._cluster else "" for _, work in shared)
        groups = [[p for p in shared if not self._cluster or p[1].scope == scope] for scope in scopes]
        groups += [[pair] for pair in works if pair[1].alone]
        for group in groups:
            try:
                with self._wire.deadline(max(work.ends for _, work in group)):
                    self._carry_out(lane, group)
            except EidetError as error:
                for ticket, _ in group:
                    ticket.error = ticket.error or error

    def _carry_out(self, lane: _Lane, group: list[tuple[Ticket[Any], Work]]) -> None:
        blind = not self._cluster and all(work.blind for _, work in group)
        for tries in count(1):
            desk = self._filled(group, blind)
            if all(ticket.error is not None for ticket, _ in group):
                return
            given = self._sent(lane, desk)
            if given is not None:
                for ticket, _ in group:
                    ticket.result = numbered(ticket.result, given)
                return
            blind = False
            if desk.landed and group[0][1].landed is not None:
                group[0][1].landed(desk.landed)
            self._await_turn(tries)

    def _filled(self, group: Sequence[tuple[Ticket[Any], Work]], blind: bool) -> Desk:
        """A desk on which all the work was done that can be; what cannot is told so, and left out."""
        seen = None if blind else self._look(work for _, work in group)
        while True:
            desk = Desk(self._keys, self._linger, seen)
            failed = False
            for ticket, work in group:
                if ticket.error is None:
                    try:
                        ticket.result = work.run(desk)
                    except EidetError as error:
                        ticket.error, failed = error, True
                        break
            if not failed:
                return desk

    def _await_turn(self, tries: int) -> None:
        if self._wire.left < 0.002:
            raise Unavailable("other writers kept changing the data; nothing was stored", retry_after=0.1)
        if tries > PATIENT:
            time.sleep(random.random() * min(0.002 * tries, 0.05))  # noqa: S311

    # Reading before writing.

    def _look(self, works: Iterable[Work]) -> Seen:
        needs: dict[str, Need] = {}
        for work in works:
            for scope, need in work.needs().items():
                known = needs.get(scope, Need())
                needs[scope] = Need(known.ids | need.ids, known.digests | need.digests)
        asked = [(self._keys.store, ("HMGET", self._keys.store + "h", "epoch", "tombs"))]
        asked += [self._asked(scope, need) for scope, need in needs.items()]
        head, *answers = self._wire.read(asked)
        sheets = {
            scope: sheet_of(self._keys.base(scope), scope, need, answer)
            for (scope, need), answer in zip(needs.items(), answers, strict=True)
        }
        return Seen(int(head[0] or 0), int(head[1] or 0), self._look_more, self.entombed, sheets)

    def _look_more(self, scope: str, need: Need) -> Sheet:
        return sheet_of(self._keys.base(scope), scope, need, self._wire.read([self._asked(scope, need)])[0])

    def _asked(self, scope: str, need: Need) -> tuple[str, Any]:
        base = self._keys.base(scope)
        return base, script(LOOK, base, "", len(need.ids), *sorted(need.ids), *sorted(need.digests))

    # Sending.

    def _sent(self, lane: _Lane, desk: Desk) -> list[int] | None:
        """The seqs given; None if something is not as it was."""
        if self._cluster:
            return self._sent_by_scope(lane, desk)
        words = [*desk.told(), *desk.after]
        head = self._keys.store + "h"
        return self._call(lane, self._keys.store, desk.guards, words, "", head) if words else []

    def _sent_by_scope(self, lane: _Lane, desk: Desk) -> list[int] | None:
        given: dict[str, Iterator[int]] = {}
        if desk.entombs:
            store = self._keys.store
            self._wire.write(store, ("HINCRBY", store + "h", "tombs", 1))
        for scope, sheet in desk.sheets.items():
            if words := desk.told(scope):
                seqs = self._sent_one(lane, desk, scope, sheet, words)
                if seqs is None:
                    return None
                given[scope] = iter(seqs)
                desk.landed.append(scope)
        if desk.after:
            guards = {key: value for key, value in desk.guards.items() if key[0].startswith(self._keys.store)}
            head = self._keys.store + "h"
            done = self._call(lane, self._keys.store, {} if desk.landed else guards, desk.after, "", head)
            if done is None:
                return None
        return [next(given[scope]) for scope in desk.added]

    def _sent_one(
        self, lane: _Lane, desk: Desk, scope: str, sheet: Sheet, words: Sequence[Any]
    ) -> list[int] | None:
        if sheet.registers:
            self._register(scope)
        guards = {key: value for key, value in desk.guards.items() if key[0].startswith(sheet.base)}
        if not desk.seqs:
            return self._call(lane, sheet.base, guards, words, "", sheet.base + "m")
        head = self._keys.store + "h"
        expected = [_text(desk.guards.get((head, name), b"")) for name in ("epoch", "tombs")]
        reserve = script(RESERVE, head, desk.seqs + SWEPT, *expected)
        answer, base = self._wire.write(self._keys.store, reserve, copied=False)
        if answer != b"done":
            return None
        return self._call(lane, sheet.base, guards, words, base.decode(), "")

    def _register(self, scope: str) -> None:
        """In a cluster, before a scope is first written: names without records do no harm."""
        turns = self._wire.servers.turns
        if turns != self._turns:  # a node that took over may not know what the last one was told
            self._turns, self._registered = turns, set()
        if scope not in self._registered:
            store = self._keys.store
            self._wire.write(store, ("HSET", store + "n", scope, "1"))
            self._registered.add(scope)

    def _call(
        self,
        lane: _Lane,
        key: str,
        guards: Mapping[tuple[str, Any], Any],
        words: Sequence[Any],
        base: str,
        head: str,
    ) -> list[int] | None:
        name, number = lane.token()
        names = "" if self._cluster else self._keys.store + "n"
        listed = [
            part for (hash_key, field_name), value in guards.items() for part in (hash_key, field_name, value)
        ]
        arguments = [number, ANSWERS_MS, base, head, names, int(self._mortal), len(guards), *listed, *words]
        state, answer = self._wire.write(key, script(COMMIT, f"{key}w:{name}", *arguments))
        if state == b"late":
            raise OutcomeUnknown(
                "a later write of this process was already answered; the outcome of this one is unknown"
            )
        return [int(seq) for seq in answer.split()] if state == b"done" else None


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def numbered(result: Any, given: Sequence[int]) -> Any:
    """An answer with the seqs that records were given, in place of those they had on the desk."""
    if not isinstance(result, list):
        return result
    return [
        one.but(seq=given[-one.seq - 1]) if isinstance(one, Record) and one.seq < 0 else one for one in result
    ]
