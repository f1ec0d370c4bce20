"""A transaction: what jobs read is guarded, what they write waits for one script that commits it.

Jobs decide in Python, by the rules that all stores share. The script checks every guard and then writes
everything, or answers that something changed, and the jobs run again on a new transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

from ...core.errors import Corrupt
from ...core.record import EXACT_KEY_BYTES, Event, Record
from ...core.scope import Scope
from ...core.validate import Json
from ...core.where import Where
from ..answers import creation_of, edit_events, prune_events, update_record
from ..model import (
    PROVISIONAL,
    SETTINGS,
    STAGED,
    STAGED_NAME,
    Derived,
    Use,
)
from ..rules import UNIQUE_KINDS, hide_key, key_of
from .codec import Light, event_bytes
from .commit_plan import CommitPlan
from .known import SCOPES, Fields, Known, TransactionValues

Key = tuple[str, str]  # scope, id
PAGE: Final = 500  # vectors that the server is asked for at once
_by_seq: Final = attrgetter("seq")


class RedisTransaction:
    """The state as of after the jobs that ran here.

    While nobody is asked, it takes for granted that nothing is there, which is how most writes are.
    """

    def __init__(self, known: Known, linger: float) -> None:
        self.known = known
        self._secret = known.reading.secret
        self.plan: CommitPlan = CommitPlan(known.keys, linger)
        self.fields: Fields = Fields(known, self.plan)
        tables = TransactionValues(known, self.plan, self.fields)
        self.values, self.set_values = tables.values, tables.set_values
        self._own: dict[Key, Record | None] = {}
        self._own_keys: dict[tuple[str, bytes], set[Key]] = {}
        self._replaced: dict[Key, float] = {}  # removed to be written anew: when
        self._uses: dict[Key, list[Use]] = {}
        # What the script adds to histories: records that went and why, and those that came.
        self._logged: dict[Key, list[tuple[Record, Event | None]]] = {}

    # What is there.

    def read(self, scope: str, ids: Sequence[str], *, bare: bool = False) -> list[Record | None]:
        del bare
        self.fields.want((scope, "i", id) for id in ids)
        return [self._read_one(scope, id) for id in ids]

    def same(self, scope: str, keys: Sequence[bytes]) -> list[Record]:
        wanted = tuple(hide_key(key, self._secret) for key in keys)
        if any(len(key) < EXACT_KEY_BYTES for key in keys):
            rows = self.search(Where(scope=Scope(scope)))
            return self._whole(row for row in rows if row.key.startswith(wanted))
        stored = self.fields.read([(scope, "d", key) for key in wanted])
        there = (record for one in stored for record in one.records if (scope, record.id) not in self._own)
        own = (self._own[id] for key in wanted for id in self._own_keys.get((scope, key), ()))
        found = [*map(self._with_uses, there), *(record for record in own if record is not None)]
        return sorted(found, key=_by_seq)

    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        rows = self.search(where)
        return iter([row.record for row in rows] if bare else self._whole(rows))

    def history(self, scope: str, id: str) -> list[Event]:
        self.fields.want([(scope, "i", id), (scope, "e", id)])
        record = self._read_one(scope, id)
        events = self._events((scope, id))
        if record is not None and not events:
            return [creation_of(record)]
        return events

    # What is written.

    def insert(self, records: Sequence[Record]) -> list[Record]:
        places = [(record.scope, "i", record.id) for record in records]
        self.fields.read([place for place in places if place not in self.plan.guards])
        return list(map(self._insert, records))

    def _insert(self, record: Record) -> Record:
        id, key = (record.scope, record.id), self._key_of(record)
        replaced = self._replaced.pop(id, None)
        if replaced is None:
            self._logged.setdefault(id, []).append((record, None))
        added = self._own[id] = self.plan.add(record, key, replaced)
        if record.kind in UNIQUE_KINDS:
            self._own_keys.setdefault((record.scope, key), set()).add(id)
        return added

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        for record, event in zip(records, events, strict=True):
            key = (record.scope, record.id)
            if key not in self._own:
                self.plan.guard((record.scope, "i", record.id), b"%d" % record.seq)
            self.plan.remove(record, event)
            self._drop_own(key)
            self._logged.setdefault(key, []).append((record, event))
            if event.what != "forgotten":
                self._replaced[key] = event.at
        if STAGED_NAME in self.values(SETTINGS, (STAGED_NAME,)):
            self.set_values(STAGED, {record.seq: None for record in records})

    def _drop_own(self, id: Key) -> None:
        """Drops the key of a record written here and deleted again."""
        if (own := self._own.get(id)) is not None:
            self._own_keys.get((own.scope, self._key_of(own)), set()).discard(id)
        self._own[id] = None

    def update(self, changes: Iterable[Use | Derived]) -> None:
        derived: dict[int, Derived] = {}
        for change in changes:
            if isinstance(change, Use):
                self._use(change)
            else:
                derived[change.seq] = change
        if derived:
            self.known.check_reads()
            for place in self.known.reading.list_keys(Where()):
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
        self.fields.want((scope, "e", id) for scope, id in edits)
        edited = 0
        for key, before in edits.items():
            events, changed = edit_events(self._events(key), before)
            if changed:
                self._set_events(key, events)
                edited += changed
        return edited

    def prune(self, scope: str, before: float, *, dead: bool, most: int) -> int:
        """Prunes the history of one scope."""
        self.known.wanted.update({(scope, "e", None): None, (scope, "i", None): None})
        self.known.fetch()
        living, pruned = self.known.read_hash((scope, "i")), 0
        for name, stored in self.known.read_hash((scope, "e")).items():
            key = (scope, name.decode())
            events = _events_of(stored, *key)
            kept = prune_events(events, before, every=dead and name not in living)
            lost = len(events) - len(kept)
            if lost and pruned + lost <= most:
                pruned += lost
                self.plan.guard((scope, "e", key[1]), stored)
                self._set_events(key, kept)
        return pruned

    # Within.

    def _key_of(self, record: Record) -> bytes:
        return hide_key(key_of(record), self._secret)

    def _read_one(self, scope: str, id: str) -> Record | None:
        """Returns a record as of after the jobs that ran here."""
        records = self.fields.at((scope, "i", id)).records
        if (scope, id) in self._own:
            return self._own[scope, id]
        return self._with_uses(records[0]) if records else None

    def _events(self, key: Key) -> list[Event]:
        """Returns the events since the creation."""
        stored = self.fields.at((key[0], "e", key[1])).value
        events = _events_of(stored, *key) if stored else []
        for record, event in self._logged.get(key, ()):
            if event is not None:
                events = [*(events or [creation_of(record)]), event]
            elif events:
                events.append(creation_of(record))
        return events

    def _set_events(self, key: Key, events: Sequence[Event]) -> None:
        self._logged.pop(key, None)
        self.fields.set(key[0], "e", {key[1]: _events_bytes(events) if events else None})

    def search(self, where: Where) -> list[Light]:
        """Light records that match, by rising seq; own ones are whole. Nothing may change meanwhile."""
        self.known.check_reads()
        if where.scope is None or not where.scope.is_one:
            self.fields.read([SCOPES])
        rows = []
        for scope, found, version in self.known.lights(where):
            self.plan.guard((scope, "m", "v"), version)
            for row in found:
                if (scope, row.record.id) not in self._own:
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
        found = self.known.reading.fetch_all(kept)
        whole += [self._with_uses(record) for record in found if record is not None]
        return sorted(whole, key=_by_seq)

    def _with_uses(self, record: Record) -> Record:
        """Adds what this transaction counted and derived."""
        derived = self.plan.derived.get((record.scope, record.seq))
        if derived is not None:
            record = record.but(vector=derived.vector, terms=derived.terms)
        key = (record.scope, record.id)
        if key not in self._own:
            for use in self._uses.get(key, ()):
                record = update_record(record, use)
        return record


def renumber(answer: Any, given: Sequence[int]) -> Any:
    """An answer with the seqs that records were given, in place of the provisional ones."""
    if isinstance(answer, Record):
        return answer.but(seq=given[answer.seq - PROVISIONAL]) if answer.seq >= PROVISIONAL else answer
    if isinstance(answer, list):
        return [renumber(one, given) for one in answer]
    return answer


def _events_bytes(events: Iterable[Event]) -> bytes:
    return b"[%b]" % b",".join(map(event_bytes, events))


def _events_of(found: bytes, scope: str, id: str) -> list[Event]:
    try:
        return [
            Event(what=what, id=id, scope=scope, at=at, by=by, version=version, before=before)
            for what, at, by, version, before in json.loads(found)
        ]
    except (ValueError, TypeError) as error:
        raise Corrupt(f"the history of {id!r} in scope {scope!r} is damaged ({error})") from error
