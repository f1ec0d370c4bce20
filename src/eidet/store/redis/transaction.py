"""A transaction: what jobs read is guarded, and what they write is committed by one script.

Jobs decide in Python, by the rules that all stores share. The script checks that each field that was read,
and the version of each scope that was searched, is as it was, and then writes everything; or it answers that
something changed, and the jobs run again on a new transaction. Jobs of many threads share a transaction.
"""

from __future__ import annotations

import json
import os
import random
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from operator import attrgetter
from typing import Any, Final, TypeVar, cast

from ...core.errors import Corrupt
from ...core.record import EXACT_KEY_BYTES, Event, Record
from ...core.scope import Scope
from ...core.validate import Json
from ...core.where import Where
from ...net.retry import OutcomeUnknown
from ..answers import creation_of, edit_events, prune_events, renumber, update_record
from ..group_commit import GroupCommit, Job, QueuedJob
from ..model import EPOCH, PROVISIONAL, Derived, NewRecord, Use
from ..rules import UNIQUE_KINDS, hide_key, key_of
from .client import script
from .codec import COMMIT, Light, Place, event_bytes
from .commit_plan import CommitPlan
from .record_reader import Listed, Reading
from .values import TableValues

Key = tuple[str, str]  # scope, id
_by_seq: Final = attrgetter("seq")


class RedisTransaction:
    """A transaction that shows the state after the jobs that ran in it."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self.plan: CommitPlan = CommitPlan(reading.keys, reading.client.address.linger_seconds)
        self._tables = TableValues(reading, self.plan)
        self.values, self.set_values = self._tables.values, self._tables.set_values
        self._own: dict[Key, Record | None] = {}
        self._replaced: dict[Key, float] = {}  # removed for a next version: when
        self._uses: dict[Key, list[Use]] = {}
        self._expected: dict[Place, Listed] = {}
        # What the script adds to histories: removed records with their events, and inserted records.
        self._logged: dict[Key, list[tuple[Record, Event | None]]] = {}

    # Reading.

    def expect(self, new: NewRecord) -> None:
        """Reads everything that putting a record needs, in one round trip."""
        scope, reading = new.record.scope, self._reading
        keys = list(map(self._hide, new.repeats))
        asked: dict[str, list[str | bytes]] = {"i": [new.record.id], "d": [*keys]}
        asking = [reading.asking(scope, letter, fields) for letter, fields in asked.items()]
        head, *answers = reading.client.read([self._tables.asking_head, *asking])
        self._tables.learn_head(head)
        for (letter, fields), answer in zip(asked.items(), answers, strict=True):
            for field, listed in zip(fields, reading.parse_listed(scope, answer), strict=True):
                self._expected[scope, letter, field] = listed

    def read(self, scope: str, ids: Sequence[str], *, bare: bool = False) -> list[Record | None]:
        del bare
        asked = [id for id in ids if (scope, id) not in self._own]
        there = {(scope, record.id): record for record in self._look_up(scope, "i", asked)}
        found = there | self._own
        return [found.get((scope, id)) for id in ids]

    def same(self, scope: str, keys: Sequence[bytes]) -> list[Record]:
        wanted = tuple(self._hide(key) for key in keys)
        if any(len(key) < EXACT_KEY_BYTES for key in keys):
            rows = self._search(Where(scope=Scope(scope)))
            return self._whole(row for row in rows if row.key.startswith(wanted))
        found = [one for one in self._look_up(scope, "d", wanted) if (scope, one.id) not in self._own]
        for own in self._own.values():
            if (
                own is not None
                and own.scope == scope
                and own.kind in UNIQUE_KINDS
                and self._key_of(own) in wanted
            ):
                found.append(own)
        return sorted(found, key=_by_seq)

    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        rows = self._search(where)
        return iter([row.record for row in rows] if bare else self._whole(rows))

    def history(self, scope: str, id: str) -> list[Event]:
        (record,) = self.read(scope, [id])
        events = self._read_events((scope, id))
        return [creation_of(record)] if record is not None and not events else events

    # Writing.

    def insert(self, records: Sequence[Record]) -> list[Record]:
        return list(map(self._insert, records))

    def _insert(self, record: Record) -> Record:
        key = (record.scope, record.id)
        replaced = self._replaced.pop(key, None)
        if replaced is None:
            self._logged.setdefault(key, []).append((record, None))
        added = self._own[key] = self.plan.add(record, self._key_of(record), replaced)
        return added

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        for record, event in zip(records, events, strict=True):
            key = (record.scope, record.id)
            self.plan.remove(record, event)
            self._own[key] = None
            self._logged.setdefault(key, []).append((record, event))
            if event.what != "forgotten":
                self._replaced[key] = event.at
        self._tables.forget_staged(record.seq for record in records)

    def update(self, changes: Iterable[Use | Derived]) -> None:
        derived: dict[int, Derived] = {}
        for change in changes:
            if isinstance(change, Use):
                self._use(change)
            else:
                derived[change.seq] = change
        if derived:
            for place in self._reading.list_keys(Where()):
                if place[1] in derived:
                    self.plan.derived[place] = derived[place[1]]

    def _use(self, use: Use) -> None:
        key = (use.scope, use.id)
        self.plan.add_use(use)
        own = self._own.get(key)
        if own is not None:
            self._own[key] = update_record(own, use)
        else:
            self._uses.setdefault(key, []).append(use)

    def edit_history(self, edits: Mapping[tuple[str, str], Mapping[int, Mapping[str, Json]] | None]) -> int:
        edited = 0
        for key, before in edits.items():
            events, changed = edit_events(self._read_events(key), before)
            if changed:
                self._set_events(key, events)
                edited += changed
        return edited

    def prune(self, scope: str, before: float, *, dead: bool, most: int) -> int:
        """Removes old events from the histories of one scope. Returns how many."""
        living, pruned = self._tables.read_hash(scope, "i"), 0
        for name, stored in self._tables.read_hash(scope, "e").items():
            key = (scope, name.decode())
            events = _events_of(stored, *key)
            kept = prune_events(events, before, every=dead and name not in living)
            lost = len(events) - len(kept)
            if lost and pruned + lost <= most:
                pruned += lost
                self._set_events(key, kept)
        return pruned

    # Internals.

    def _hide(self, key: bytes) -> bytes:
        return hide_key(key, self._reading.secret)

    def _key_of(self, record: Record) -> bytes:
        return self._hide(key_of(record))

    def _look_up(self, scope: str, letter: str, fields: Sequence[str | bytes]) -> list[Record]:
        """Reads stored records by ids or exact keys, and guards them: they must be the same at the commit."""
        expected = [self._expected.get((scope, letter, field)) for field in fields]
        listed = [one for one in expected if one is not None]
        if len(listed) < len(fields):
            listed = self._reading.look_up(scope, letter, fields)
        found: list[Record] = []
        for field, (value, records) in zip(fields, listed, strict=True):
            self.plan.guard((scope, letter, field), value)
            found += map(self._with_uses, records)
        return found

    def _read_events(self, key: Key) -> list[Event]:
        """Returns the events since the creation of the id, including those of this transaction."""
        (stored,) = self._tables.read_fields(key[0], "e", [key[1].encode()])
        events = _events_of(stored, *key) if stored else []
        for record, event in self._logged.get(key, ()):
            if event is not None:
                events = [*(events or [creation_of(record)]), event]
            elif events:
                events.append(creation_of(record))
        return events

    def _set_events(self, key: Key, events: Sequence[Event]) -> None:
        self._logged.pop(key, None)
        told = b"[%b]" % b",".join(map(event_bytes, events)) if events else None
        self._tables.set_fields(key[0], "e", {key[1].encode(): told})

    def _search(self, where: Where) -> list[Light]:
        """Finds matching light records by seq, own ones whole; guards the scopes against changes."""
        self._tables.scopes(where.scope)
        rows = []
        for sift in self._reading.sifts(where):
            found, version = self._reading.look_through(sift)
            self.plan.guard_version(sift.scope, version)
            for row in found:
                if (sift.scope, row.record.id) not in self._own:
                    rows.append(Light(self._with_uses(row.record), row.key))
        own = (record for record in self._own.values() if record is not None and where.matches(record))
        rows += [Light(record, self._key_of(record)) for record in own]
        return sorted(rows, key=attrgetter("record.seq"))

    def _whole(self, rows: Iterable[Light]) -> list[Record]:
        whole, kept = [], []
        for row in rows:
            if (row.record.scope, row.record.id) in self._own:
                whole.append(row.record)
            else:
                kept.append((row.record.scope, row.record.seq))
        found = self._reading.fetch_all(kept)
        whole += [self._with_uses(record) for record in found if record is not None]
        return sorted(whole, key=_by_seq)

    def _with_uses(self, record: Record) -> Record:
        """Applies the uses and derived bytes of this transaction to a record."""
        derived = self.plan.derived.get((record.scope, record.seq))
        if derived is not None:
            record = record.but(vector=derived.vector, terms=derived.terms)
        for use in self._uses.get((record.scope, record.id), ()):
            record = update_record(record, use)
        return record


def _events_of(found: bytes, scope: str, id: str) -> list[Event]:
    try:
        return [
            Event(what=what, id=id, scope=scope, at=at, by=by, version=version, before=before)
            for what, at, by, version, before in json.loads(found)
        ]
    except (ValueError, TypeError) as error:
        raise Corrupt(f"the history of {id!r} in scope {scope!r} is damaged ({error})") from error


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
        seqs = {PROVISIONAL + at: first + number for at, number in enumerate(transaction.plan.added)}
        for ticket in running:
            ticket.result = renumber(ticket.result, seqs)
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
