"""Writes records: the rules that all stores share, over a transaction.

Each verb is a job that shows what it does, so that a wrapping store can inspect it. `now` and `by` are those
of the call, because jobs run in other threads, and again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Final, NamedTuple, cast

from ...core.errors import Conflict
from ...core.record import Event, Record
from ...core.validate import Json
from ...core.where import Where
from .. import Store, Transaction
from ..abilities import PutsNew
from ..model import EPOCH, SETTINGS, TALLIES, NewRecord, TombstoneGuard, Use
from ..rules import (
    UNIQUE_KINDS,
    StaleEpoch,
    check_expected,
    list_changes,
    list_repeated,
    make_next,
    recast_of,
)
from .changing import (
    Key,
    OrderedWriter,
    check_tombstones,
    delete_records,
    event_about,
    find_held,
    read_records,
)
from .duplicates import count_use, find_duplicates, prolong, split_runs


class Put(NamedTuple):
    """The job of `put`. A tuple: every write makes one, and a frozen dataclass takes five times as long."""

    records: Sequence[Record]
    now: float
    unique: bool = True
    expect: int | None = None
    epoch: int | None = None
    by: str | None = None
    watch: TombstoneGuard | None = None
    releases: bool = False
    follows: bool = False

    def __call__(self, transaction: Transaction) -> list[Record]:
        if self.expect is not None and _has_twice(self.records):
            raise Conflict("a record cannot be changed twice from one version")
        check_epoch(self.epoch, transaction)
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
    watch: TombstoneGuard | None = None,
    releases: bool = False,
    follows: bool = False,
) -> list[Record]:
    """Writes all records or none. Returns one stored record per input, in order.

    A record whose (scope, id) exists becomes its next version; one that says the same is left alone. With
    `unique`, a fact or document that its scope already has under another id, with every detail (see
    `verbs.duplicates`), is not stored again: returns the existing one, with a use counted and the later of
    both ends. With `expect`, each record must exist in that version (0: not at all), else raises Conflict;
    with `epoch`, the store must still be in that epoch, else raises Conflict. With `watch`, raises `Entombed`
    for forgotten content. Raises `Held` for a next version of a record under a legal hold. An error means
    that nothing was written. `releases` lets a version pass that only ends the hold. `follows` says that this
    is a copy of records that were changed elsewhere already, where their holds were respected.
    """
    if not records:
        return []
    job = Put(
        records=records,
        now=now,
        unique=unique,
        expect=expect,
        epoch=epoch,
        by=by,
        watch=watch,
        releases=releases,
        follows=follows,
    )
    return run_put(store, job)


def run_put(store: Store, job: Put) -> list[Record]:
    """Runs a put; writes a single record in fewer steps, if the store has a way."""
    run: Callable[[Transaction], list[Record]] = job  # type: ignore[assignment]  # mypy: no tuple is called
    if len(job.records) == 1 and job.expect is None and hasattr(store, "put_new"):
        watch = job.watch
        if watch is None or not (watch.again or watch.returning):  # tombstones of the record alone decide
            record = job.records[0]
            repeats = list_repeated(record) if job.unique and record.kind in UNIQUE_KINDS else ()
            return cast("PutsNew", store).put_new(NewRecord(record, job.now, repeats, job.epoch, watch), run)
    return store.write(run)


def epoch_of(source: Store | Transaction) -> int:
    return int(source.values(SETTINGS, (EPOCH,)).get(EPOCH, 0))


def _has_twice(records: Sequence[Record]) -> bool:
    """Returns whether two of the records share a (scope, id)."""
    return len(records) > 1 and len({(record.scope, record.id) for record in records}) < len(records)


def _put_all(transaction: Transaction, how: Put) -> list[Record]:
    if len(how.records) == 1:
        return _put_part(transaction, how.records, how)
    parts = split_runs(how.records, unique=how.unique)
    return [record for part in parts for record in _put_part(transaction, part, how)]


def _revise(old: Record, record: Record, how: Put) -> tuple[Record, Event] | None:
    """Returns the next version and its event; None if the record says the same."""
    before = list_changes(old, record)
    if _says_the_same(old, record, before, how.expect):
        return None
    new = make_next(old, record)
    return new, event_about("revised", new, how.now, how.by, before)


def _put_part(transaction: Transaction, records: Sequence[Record], how: Put) -> list[Record]:
    there = read_records(transaction, records)
    if how.expect is not None:
        for record in records:
            check_expected(how.expect, there.get((record.scope, record.id)), record.id)
    twins = find_duplicates(transaction, records, there, how.now) if how.unique else {}
    if any((twin.scope, twin.id) in there for twin in twins.values()):
        return [stored for record in records for stored in _put_part(transaction, [record], how)]
    return _write_part(transaction, records, there, twins, how)


def _write_part(
    transaction: Transaction,
    records: Sequence[Record],
    there: dict[Key, Record],
    twins: dict[Key, Record],
    how: Put,
) -> list[Record]:
    """Writes in the order of the records, as many as possible at once."""
    writer = OrderedWriter(transaction, releases=how.releases, follows=how.follows)
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
    writer: OrderedWriter,
) -> Record | None:
    """Returns the stored record that stays; None if this one is written."""
    key = (record.scope, record.id)
    old = there.get(key)
    if old is None:
        twin = twins.get(key)
        if twin is not None:
            return _repeat(twin, record, how, writer)
        writer.insert(record)
        return None
    revision = _revise(old, record, how)
    if revision is None:
        return old
    writer.replace(old, *revision)
    return None


def _repeat(twin: Record, record: Record, how: Put, writer: OrderedWriter) -> Record | None:
    """Keeps a record that is said again, but prolongs it to the end of the new one."""
    longer = prolong(twin, record)
    if longer is None:
        return twin
    writer.replace(twin, longer, event_about("moved", longer, how.now, how.by))
    return None


def rewrite_form(
    store: Store,
    forms: Sequence[tuple[Record, Record]],
    *,
    now: float,
    epoch: int | None = None,
    by: str | None = None,
) -> list[Record | None]:
    """Stores records in another form, from pairs (as read, as to be kept). All or none.

    Returns one answer per pair: the record as it is now stored, or None if it was changed or deleted since it
    was read (its seq differs). The version stays, and so do uses counted meanwhile, because the content is
    the same. History notes a move. `epoch` works as in `put`. Raises `Held` for a record under a legal hold,
    and writes nothing.
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
        check_epoch(self.epoch, transaction)
        there = read_records(transaction, (given for given, _ in self.forms), bare=True)
        writer = OrderedWriter(transaction)
        moved: list[bool] = []
        for given, form in self.forms:
            old = there.get((given.scope, given.id))
            new = recast_of(old, given, form)
            moved.append(new is not None)
            if old is not None and new is not None:
                writer.replace(old, new, event_about("moved", new, self.now, self.by), given=given)
                del there[given.scope, given.id]  # for a second form it has changed
        inserted = iter(writer.finish())
        return [next(inserted) if done else None for done in moved]


def delete_unchanged(
    store: Store, records: Sequence[Record], *, now: float, by: str | None = None
) -> list[str]:
    """Deletes records that are as they were read (by seq), as `delete_where` does. Returns their ids."""

    def delete(transaction: Transaction) -> list[str]:
        there = read_records(transaction, records, bare=True)
        doomed, held = [], []
        for record in records:
            old = there.get((record.scope, record.id))
            if old is not None and old.seq == record.seq:
                doomed.append(there.pop((record.scope, record.id)))
                if record.state.hold is not None:
                    held.append(record)
        delete_records(transaction, doomed, now, by, held=held)
        return [record.id for record in doomed]

    return store.write(delete) if records else []


def delete_where(store: Store, where: Where, *, now: float, by: str | None = None) -> list[str]:
    """Deletes matching records, and their content in history. Returns the ids deleted.

    A filter for nothing but a scope means all of it: its tallies are deleted, too.
    """

    def delete(transaction: Transaction) -> list[str]:
        doomed = list(transaction.find(where, bare=True))
        delete_records(transaction, doomed, now, by, held=find_held(transaction, doomed))
        clear_tallies(transaction, where)
        return [record.id for record in doomed]

    return store.write(delete)


_read_rest: Final = attrgetter(*(field.name for field in fields(Where) if field.name != "scope"))
_NOTHING_ELSE: Final = _read_rest(Where())  # of a filter that asks for a scope alone


def clear_tallies(transaction: Transaction, where: Where) -> None:
    """Deletes the tallies of a scope if the filter means it as a whole."""
    if _read_rest(where) == _NOTHING_ELSE:
        transaction.set_values(TALLIES, dict.fromkeys(transaction.values(TALLIES, within=where.scope)))


def _says_the_same(old: Record, new: Record, before: dict[str, Json], expect: int | None) -> bool:
    """Returns whether nothing has to be written; with an expected version a new vector counts as a change."""
    return not before and (expect is None or old.vector == new.vector)


def check_epoch(epoch: int | None, transaction: Transaction) -> None:
    if epoch is not None and epoch != (current := epoch_of(transaction)):
        raise StaleEpoch(
            "the store's vectors were replaced meanwhile; open the memory again", current=current
        )
