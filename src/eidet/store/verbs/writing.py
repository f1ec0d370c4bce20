"""Writing records: the rules that all stores share, over a transaction.

Each verb is a job that says what it does, so that a store around a store can tell. `now` and `by` are
those of the moment at which the caller asked: jobs run in other threads, and again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

from ...core.errors import Conflict
from ...core.event import Event
from ...core.record import Record, record_digest
from ...core.where import Where
from .. import Store, Transaction
from ..abilities import PutsNew
from ..model import EPOCH, SETTINGS, TALLIES, NewRecord, Use, Watch
from ..rules import (
    UNIQUE_KINDS,
    check_epoch,
    check_expected,
    recast_of,
    said_before,
    says_the_same,
    succeed,
)
from .duplicates import Details, count_use, details_of, find_duplicates, prolong
from .lookups import Key, read_records
from .tombstone_check import check_tombstones


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """The job of `put`."""

    records: Sequence[Record]
    now: float
    unique: bool = True
    expect: int | None = None
    epoch: int | None = None
    by: str | None = None
    watch: Watch | None = None

    def __call__(self, transaction: Transaction) -> list[Record]:
        if self.expect is not None and len({(r.scope, r.id) for r in self.records}) < len(self.records):
            raise Conflict("a record cannot be changed twice from one version")
        check_epoch_of(transaction, self.epoch)
        if self.watch is not None:
            check_tombstones(transaction, self.records, self.watch)
        return _put_all(transaction, self)


def put(
    store: Store,
    records: Sequence[Record],
    *,
    now: float,
    unique: bool = True,
    expect: int | None = None,
    epoch: int | None = None,
    by: str | None = None,
    watch: Watch | None = None,
) -> list[Record]:
    """Writes all records or none; one answer per record, in order, as it is now stored.

    A record whose (scope, id) exists becomes its next version; one that says the same is left alone.
    With `unique`, a fact or document that its scope already has under another id, with every detail
    (see `verbs.duplicates`), is not stored again: the answer is the one that is there, with a use
    counted and the later of both ends. With `expect`, each record must exist in that version, else
    Conflict; with `epoch`, the store must still be in that epoch, else Conflict. With `watch`,
    forgotten content is `Entombed`, and nothing is written.
    """
    if not records:
        return []
    return run_put(
        store, Put(records=records, now=now, unique=unique, expect=expect, epoch=epoch, by=by, watch=watch)
    )


def run_put(store: Store, job: Put) -> list[Record]:
    """Writes as the job says; a single record in fewer steps, where the store has a way."""
    if len(job.records) == 1 and job.expect is None and _is_plain(job.watch) and _puts_new(type(store)):
        new = NewRecord(job.records[0], job.now, job.unique, job.epoch, job.watch)
        return cast("PutsNew", store).put_new(new, job)
    return store.write(job)


def _is_plain(watch: Watch | None) -> bool:
    """Whether tombstones of the record alone decide, and none is lifted."""
    return watch is None or not (watch.again or watch.returning)


@cache
def _puts_new(store: type) -> bool:
    """By class, and only once: `isinstance` of a protocol would take long at each write."""
    return issubclass(store, PutsNew)


def check_epoch_of(transaction: Transaction, epoch: int | None) -> None:
    if epoch is not None:
        check_epoch(epoch, epoch_of(transaction))


def epoch_of(source: Store | Transaction) -> int:
    return int(source.values(SETTINGS, (EPOCH,)).get(EPOCH, 0))


def _put_all(transaction: Transaction, how: Put) -> list[Record]:
    stored: list[Record] = []
    for part in _parts(how.records, how.unique):
        stored += _put_part(transaction, part, how)
    return stored


def _parts(records: Sequence[Record], unique: bool) -> Iterator[Sequence[Record]]:
    """Runs of records none of which can be about another of its run: no id and no statement twice."""
    if len(records) == 1:
        yield records
        return
    part: list[Record] = []
    seen = _Seen(unique)
    for record in records:
        if not seen.take(record):
            yield part
            part, seen = [], _Seen(unique)
            seen.take(record)
        part.append(record)
    yield part


class _Seen:
    """The ids of a run of records and, if they are to be unique, what they state."""

    def __init__(self, unique: bool) -> None:
        self._unique = unique
        self._ids: set[Key] = set()
        self._contents: dict[tuple[str, bytes], Record] = {}
        self._statements: set[tuple[tuple[str, bytes], Details]] = set()

    def take(self, record: Record) -> bool:
        """Notes a record; False if the run already has its id or its statement."""
        key = (record.scope, record.id)
        if key in self._ids or not self._take_statement(record):
            return False
        self._ids.add(key)
        return True

    def _take_statement(self, record: Record) -> bool:
        if not self._unique or record.kind not in UNIQUE_KINDS:
            return True
        content = (record.scope, record_digest(record))
        first = self._contents.setdefault(content, record)
        if first is record:
            return True  # most are, and details take longer to compare
        self._statements.add((content, details_of(first)))
        statement = (content, details_of(record))
        if statement in self._statements:
            return False
        self._statements.add(statement)
        return True


def _put_part(transaction: Transaction, records: Sequence[Record], how: Put) -> list[Record]:
    there = read_records(transaction, records)
    if how.expect is not None:
        for record in records:
            check_expected(how.expect, there.get((record.scope, record.id)), record.id)
    twins = find_duplicates(transaction, records, there, how.now) if how.unique else {}
    if len(records) > 1 and any((twin.scope, twin.id) in there for twin in twins.values()):
        return [_put_part(transaction, [record], how)[0] for record in records]
    return _write_part(transaction, records, there, twins, how)


def _write_part(
    transaction: Transaction,
    records: Sequence[Record],
    there: dict[Key, Record],
    twins: dict[Key, Record],
    how: Put,
) -> list[Record]:
    """Writes in the order of the records, and as many as possible at once."""
    writer = _InOrder(transaction)
    answers = [_decide(record, there, twins, how, writer) for record in records]
    inserted = iter(writer.finish())
    stored = [next(inserted) if answer is None else answer for answer in answers]
    if not twins:
        return stored
    transaction.update([Use(twin.scope, twin.id, 1, how.now) for twin in twins.values()])
    return [
        count_use(now, how.now) if (record.scope, record.id) in twins else now
        for record, now in zip(records, stored, strict=True)
    ]


def _decide(
    record: Record,
    there: dict[Key, Record],
    twins: dict[Key, Record],
    how: Put,
    writer: _InOrder,
) -> Record | None:
    """The record that is there and stays; None where this one is written."""
    key = (record.scope, record.id)
    old = there.get(key)
    if old is None:
        twin = twins.get(key)
        if twin is not None:
            return _repeat(twin, record, how, writer)
        writer.insert(record)
        return None
    before = said_before(old, record)
    if says_the_same(old, record, before, how.expect):
        return old
    new = succeed(old, record)
    writer.replace(old, new, _event("revised", new, how.now, how.by, before))
    return None


def _repeat(twin: Record, record: Record, how: Put, writer: _InOrder) -> Record | None:
    """A record that is said again stays as it is, but lives on for as long as the new one would."""
    longer = prolong(twin, record)
    if longer is None:
        return twin
    writer.replace(twin, longer, _event("moved", longer, how.now, how.by))
    return None


class _InOrder:
    """Inserts and replaces in the order asked, so that seqs rise with it; inserts wait for each other."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._waiting: list[Record] = []
        self._stored: list[Record] = []

    def insert(self, record: Record) -> None:
        self._waiting.append(record)

    def replace(self, old: Record, new: Record, event: Event) -> None:
        self._flush()
        self._transaction.remove([old], [event])
        self._waiting.append(new)

    def finish(self) -> list[Record]:
        """What was inserted, in order, with its seqs."""
        self._flush()
        return self._stored

    def _flush(self) -> None:
        if self._waiting:
            self._stored += self._transaction.insert(self._waiting)
            self._waiting = []


def _event(what: str, record: Record, now: float, by: str | None, before: object = None) -> Event:
    return Event(
        what=what,
        id=record.id,
        scope=record.scope,
        at=now,
        by=by,
        version=record.version,
        before=before,  # type: ignore[arg-type]
    )


def rewrite_form(
    store: Store,
    forms: Sequence[tuple[Record, Record]],
    *,
    now: float,
    epoch: int | None = None,
    by: str | None = None,
) -> list[Record | None]:
    """Keeps records in another form: (as it was read, as it shall be kept). All at once.

    One answer per pair: the record as it is now stored, or None where it was changed or deleted since
    it was read (its seq differs). The version stays and so do uses counted meanwhile: what a record
    says is the same. History tells that it was moved. `epoch` as in `put`.
    """
    return store.write(RewriteForms(forms=forms, now=now, epoch=epoch, by=by)) if forms else []


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteForms:
    """The job of `rewrite_form`."""

    forms: Sequence[tuple[Record, Record]]
    now: float
    epoch: int | None = None
    by: str | None = None

    def __call__(self, transaction: Transaction) -> list[Record | None]:
        check_epoch_of(transaction, self.epoch)
        return _rewrite_forms(transaction, self.forms, self.now, self.by)


def _rewrite_forms(
    transaction: Transaction, forms: Sequence[tuple[Record, Record]], now: float, by: str | None
) -> list[Record | None]:
    there = read_records(transaction, (given for given, _ in forms), bare=True)
    writer = _InOrder(transaction)
    moved: list[bool] = []
    for given, form in forms:
        old = there.get((given.scope, given.id))
        new = recast_of(old, given, form)
        moved.append(new is not None)
        if old is not None and new is not None:
            writer.replace(old, new, _event("moved", new, now, by))
            del there[given.scope, given.id]  # for a second form it has changed
    inserted = iter(writer.finish())
    return [next(inserted) if done else None for done in moved]


def delete_unchanged(
    store: Store, records: Sequence[Record], *, now: float, by: str | None = None
) -> list[str]:
    """Deletes those records that are as they were read (by seq), as `delete_where` does; their ids."""
    return store.write(DeleteUnchanged(records, now, by)) if records else []


@dataclass(frozen=True, slots=True)
class DeleteUnchanged:
    """The job of `delete_unchanged`."""

    records: Sequence[Record]
    now: float
    by: str | None = None

    def __call__(self, transaction: Transaction) -> list[str]:
        there = read_records(transaction, self.records, bare=True)
        doomed = []
        for record in self.records:
            old = there.get((record.scope, record.id))
            if old is not None and old.seq == record.seq:
                doomed.append(there.pop((record.scope, record.id)))
        delete_records(transaction, doomed, self.now, self.by)
        return [record.id for record in doomed]


def delete_where(store: Store, where: Where, *, now: float, by: str | None = None) -> list[str]:
    """Deletes what matches and what its history says of its content; the ids deleted.

    A filter that asks for nothing but a scope means all of it: its tallies go too.
    """
    return store.write(DeleteWhere(where, now, by))


@dataclass(frozen=True, slots=True)
class DeleteWhere:
    """The job of `delete_where`."""

    where: Where
    now: float
    by: str | None = None

    def __call__(self, transaction: Transaction) -> list[str]:
        doomed = list(transaction.find(self.where, bare=True))
        delete_records(transaction, doomed, self.now, self.by)
        clear_tallies(transaction, self.where)
        return [record.id for record in doomed]


def clear_tallies(transaction: Transaction, where: Where) -> None:
    """Forgets the tallies of a scope that is meant as a whole."""
    if where == Where(scope=where.scope):
        transaction.set_values(TALLIES, dict.fromkeys(transaction.values(TALLIES, within=where.scope)))


def delete_records(transaction: Transaction, records: Sequence[Record], now: float, by: str | None) -> int:
    """Deletes records that are there; how many events lost what they said of the content."""
    if not records:
        return 0
    censored = transaction.edit_history({(record.scope, record.id): None for record in records})
    transaction.remove(records, [_event("forgotten", record, now, by) for record in records])
    return censored


def replace_censored(
    transaction: Transaction, pairs: Sequence[tuple[Record, Record]], now: float, by: str | None
) -> int:
    """Writes next versions; history keeps nothing of what records said before. How many events lost it."""
    if not pairs:
        return 0
    censored = transaction.edit_history({(old.scope, old.id): None for old, _ in pairs})
    writer = _InOrder(transaction)
    for old, record in pairs:
        new = succeed(old, record)
        writer.replace(old, new, _event("revised", new, now, by))
    writer.finish()
    return censored
