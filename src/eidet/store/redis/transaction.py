"""A transaction: what jobs read is guarded, what they write waits for one script that commits it.

Jobs decide in Python, by the rules that all stores share. The script checks every guard and then writes
everything, or answers that something changed, and the jobs run again on a new transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...core.event import Event
from ...core.record import Record, record_digest
from ...core.scope import Scope
from ...core.validate import Json
from ...core.where import Where
from ..model import PROVISIONAL, Derived, K, Table, Use, V
from ..rules import UNIQUE_KINDS
from .codec import Light, creation
from .commit_plan import CommitPlan
from .known import Key, Known, StoredDigest, StoredId
from .transaction_history import TransactionHistory
from .transaction_values import TransactionValues


class RedisTransaction:
    """The state as it would be after the jobs that ran here.

    With `guess`, it takes for granted that nothing is there until a job searches, which is how most
    writes are.
    """

    def __init__(self, known: Known, linger: float, *, guess: bool) -> None:
        self.plan = CommitPlan(known.keys, linger)
        self.known, self._guess, self._guessed = known, guess, False
        self.histories = TransactionHistory(known, self.plan)
        self.tables = TransactionValues(known, self.plan, guess=guess)
        self._own: dict[Key, Record | None] = {}
        self._own_digests: dict[tuple[str, bytes], list[Key]] = {}
        self._fresh: list[Record] = []  # own records whose digests nobody asked for yet
        self._replaced: dict[Key, float] = {}  # removed to be written anew: when
        self._uses: dict[Key, tuple[int, float]] = {}
        self._digests: dict[tuple[str, int], bytes] = {}

    @property
    def guessed(self) -> bool:
        """Whether jobs asked for something that nobody has read yet."""
        return self._guessed or self.tables.guessed

    @property
    def certain(self) -> bool:
        """Whether its answers hold if the commit finds all guards as they are."""
        return not self.tables.unsure and (self.plan.writes or not self.guessed)

    # What is there.

    def read(self, scope: str, ids: Sequence[str], *, bare: bool = False) -> list[Record | None]:
        del bare
        return [self._current((scope, id), found.record) for id, found in self._look(scope, ids)]

    def same(self, scope: str, digests: Sequence[bytes], *, every_kind: bool = False) -> list[Record]:
        if every_kind:
            wanted = {digest.hex() for digest in digests}
            rows = self.search(Where(scope=Scope(scope)))
            return self._whole(row for row in rows if row.digest in wanted)
        self._list_own_digests()
        found = []
        for digest, records in self._look_for(scope, digests):
            found += [record for record in records if (scope, record.id) not in self._own]
            for key in self._own_digests.get((scope, digest), ()):
                own = self._own[key]
                if own is not None and record_digest(own) == digest:
                    found.append(own)
        return sorted((self._with_uses(record) for record in found), key=_by_seq)

    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        rows = self.search(where)
        return iter([row.record for row in rows] if bare else self._whole(rows))

    def derived(self, scope: Scope) -> list[Record]:
        rows = self.search(Where(scope=scope))
        return self._whole(row for row in rows if row.record.derived_from)

    def history(self, scope: str, id: str) -> list[Event]:
        ((_, found),) = self._look(scope, [id])
        events = self.histories.get((scope, id))
        if events:
            return events
        record = self._current((scope, id), found.record)
        return [] if record is None else [creation(record)]

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        if keys is not None:
            return self.tables.get(table, list(keys))
        return self.tables.list(table, within, prefix, limit)

    # What is written.

    def insert(self, records: Sequence[Record]) -> list[Record]:
        by_scope: dict[str, list[str]] = {}
        for record in records:
            by_scope.setdefault(record.scope, []).append(record.id)
        for scope, ids in by_scope.items():
            self._look(scope, [id for id in ids if (scope, id) not in self._own])
        return [self._insert(record) for record in records]

    def _insert(self, record: Record) -> Record:
        key = (record.scope, record.id)
        moment = self._replaced.pop(key, None)
        events = self.histories.get(key)
        if moment is None and events:
            self.histories.set(key, [*events, creation(record)])
        carry = moment is not None
        added = self.plan.add(record, record.created if moment is None else moment, carry=carry)
        self._own[key] = added
        if record.kind in UNIQUE_KINDS:
            self._fresh.append(added)
        return added

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        self._load_histories([(record.scope, record.id) for record in records])
        for record, event in zip(records, events, strict=True):
            key = (record.scope, record.id)
            if key not in self._own:
                self.plan.guard(self.known.keys.base(record.scope) + "i", record.id, str(record.seq).encode())
            self.plan.remove(record, self._digests.get((record.scope, record.seq)))
            self._own[key] = None
            self.histories.set(key, [*(self.histories.get(key) or [creation(record)]), event])
            if event.what != "forgotten":
                self._replaced[key] = event.at

    def update(self, changes: Iterable[Use | Derived]) -> None:
        derived: dict[int, Derived] = {}
        for change in changes:
            if isinstance(change, Use):
                self._use(change)
            else:
                derived[change.seq] = change
        if derived:
            self._prolong()
            for place in self.known.reading.seqs(Where()):
                if place[1] in derived:
                    row = derived[place[1]]
                    self.plan.derived[place] = row.vector, row.terms

    def _use(self, use: Use) -> None:
        key = (use.scope, use.id)
        self.plan.add_use(use.scope, use.id, use.times, use.when)
        own = self._own.get(key)
        if own is not None:
            self._own[key] = _used(own, use.times, use.when)
        elif key not in self._own:
            times, when = self._uses.get(key, (0, use.when))
            self._uses[key] = times + use.times, max(when, use.when)

    def edit_history(self, edits: Mapping[tuple[str, str], Mapping[int, Mapping[str, Json]] | None]) -> int:
        self._load_histories(list(edits))
        return sum(self.histories.edit(key, before) for key, before in edits.items())

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        self.tables.set(table, values, clear=clear)

    # Within.

    def _look(self, scope: str, ids: Sequence[str]) -> list[tuple[str, StoredId]]:
        """What the server has at these ids, guarded."""
        self.known.ids(scope, ids)
        if not self._guess:
            self.known.fetch()
        base, guard = self.known.keys.base(scope), self.plan.guard
        found = []
        for id in ids:
            one = self.known.at(scope, id)
            if one is None:
                one, self._guessed = StoredId(), True
            guard(base + "i", id, one.seq)
            guard(base + "e", id, one.events)
            found.append((id, one))
        return found

    def _look_for(self, scope: str, digests: Sequence[bytes]) -> Iterator[tuple[bytes, Sequence[Record]]]:
        self.known.digests(scope, digests)
        if not self._guess:
            self.known.fetch()
        base = self.known.keys.base(scope)
        for digest in digests:
            said = self.known.said(scope, digest)
            if said is None:
                said, self._guessed = StoredDigest(), True
            self.plan.guard(base + "d", digest, said.listed)
            yield digest, said.records

    def search(self, where: Where) -> list[Light]:
        """Light records that match, by rising seq; own ones are whole. Nothing may change meanwhile."""
        self._prolong()
        if where.scope is None or where.scope.below:
            self.tables.expect_scopes()
        rows = []
        for scope, found, version in self.known.lights(where):
            self.plan.expect_version(scope, version)
            for row in found:
                if (scope, row.record.id) not in self._own:
                    self._digests[scope, row.record.seq] = bytes.fromhex(row.digest)
                    rows.append(Light(self._with_uses(row.record), row.digest, row.vector))
        for own in self._own.values():
            if own is not None and where.matches(own):
                rows.append(Light(own, own.digest, own.vector is not None))
        return sorted(rows, key=_by_row)

    def _prolong(self) -> None:
        """Looking at all records takes long; from now on everything is read."""
        self.known.prolong()
        self._guess = self.tables.guess = False

    def _whole(self, rows: Iterable[Light]) -> list[Record]:
        wanted = list(rows)
        kept = [row.record for row in wanted if (row.record.scope, row.record.id) not in self._own]
        found = self.known.reading.fetch_all([(record.scope, record.seq) for record in kept])
        whole = [self._with_uses(record) for record in found if record is not None]
        own = (row.record for row in wanted if (row.record.scope, row.record.id) in self._own)
        return sorted((*whole, *own), key=_by_seq)

    def _current(self, key: Key, record: Record | None) -> Record | None:
        if key in self._own:
            return self._own[key]
        return None if record is None else self._with_uses(record)

    def _with_uses(self, record: Record) -> Record:
        """As it is after what this transaction counted and derived."""
        if (record.scope, record.seq) in self.plan.derived:
            record = self.plan.derive(record)
        used = self._uses.get((record.scope, record.id)) if self._uses else None
        if used is None or (record.scope, record.id) in self._own:
            return record
        return _used(record, *used)

    def _list_own_digests(self) -> None:
        for record in self._fresh:
            key = (record.scope, record_digest(record))
            self._own_digests.setdefault(key, []).append((record.scope, record.id))
        self._fresh.clear()

    def _load_histories(self, keys: Sequence[Key]) -> None:
        guessed = self.histories.load(keys, guess=self._guess)
        self._guessed = self._guessed or guessed


def _used(record: Record, times: int, when: float) -> Record:
    last = when if record.last_used is None else max(when, record.last_used)
    return record.but(uses=record.uses + times, last_used=last)


def _by_seq(record: Record) -> int:
    return record.seq


def _by_row(row: Light) -> int:
    return row.record.seq


def renumber(answer: Any, given: Sequence[int]) -> Any:
    """An answer with the seqs that records were given, in place of the provisional ones."""
    if isinstance(answer, Record):
        return answer.but(seq=given[answer.seq - PROVISIONAL]) if answer.seq >= PROVISIONAL else answer
    if isinstance(answer, list):
        return [renumber(one, given) for one in answer]
    return answer
