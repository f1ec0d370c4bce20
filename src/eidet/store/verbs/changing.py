"""The one way to change or delete a record that is there. It heeds legal holds, whichever verb asks.

A test keeps every other module from calling `Transaction.remove` and `Transaction.edit_history` itself, so
that no new verb can get past a hold.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.errors import Corrupt
from ...core.event import Event
from ...core.record import Record
from ...core.where import Where
from .. import Transaction
from ..rules import HELD, Held, breaks_hold, is_release, succeed
from .lookups import Key


class OrderedWriter:
    """Inserts and replaces in the order asked, so that seqs rise with it; inserts wait for each other.

    What is under a legal hold is not replaced: `finish` names all of it, which undoes the rest.
    """

    def __init__(self, transaction: Transaction, *, releases: bool = False, follows: bool = False) -> None:
        self._transaction = transaction
        self._releases, self._follows = releases, follows
        self._waiting: list[Record] = []
        self._stored: list[Record] = []
        self._held: list[Key] = []

    def insert(self, record: Record) -> None:
        self._waiting.append(record)

    def replace(self, old: Record, new: Record, event: Event, *, given: Record | None = None) -> None:
        """`given` is the record as the caller read it, where `old` is bare; both have one seq."""
        if self._is_refused(given or old, new):
            self._held.append((old.scope, old.id))
            return
        self._flush()
        self._transaction.remove([old], [event])
        self._waiting.append(new)

    def _is_refused(self, old: Record, new: Record) -> bool:
        if self._follows or not breaks_hold(old, new):
            return False
        return not (self._releases and is_release(old, new))

    def finish(self) -> list[Record]:
        """What was inserted, in order, with its seqs."""
        if self._held:
            raise Held(self._held, "changed")
        self._flush()
        return self._stored

    def _flush(self) -> None:
        if self._waiting:
            self._stored += self._transaction.insert(self._waiting)
            self._waiting = []


def event_about(what: str, record: Record, now: float, by: str | None, before: object = None) -> Event:
    return Event(
        what=what,
        id=record.id,
        scope=record.scope,
        at=now,
        by=by,
        version=record.version,
        before=before,  # type: ignore[arg-type]
    )


def find_held(transaction: Transaction, where: Where, doomed: Sequence[Record]) -> list[Record]:
    """Which records that a filter chose are under a legal hold; of a damaged one nobody can tell."""
    try:
        return list(transaction.find(where & HELD, bare=True))
    except Corrupt:
        return [record for record in doomed if _is_held(transaction, record)]


def _is_held(transaction: Transaction, bare: Record) -> bool:
    try:
        (record,) = transaction.read(bare.scope, [bare.id])
    except Corrupt:
        return False
    return record is not None and record.state.hold is not None


def delete_records(
    transaction: Transaction,
    records: Sequence[Record],
    now: float,
    by: str | None,
    *,
    held: Sequence[Record],
) -> int:
    """Deletes records that are there; how many events lost what they said of the content.

    `held` are those of them under a legal hold, which bare records cannot tell: if there are any, all
    of it is refused.
    """
    if held:
        raise Held([(record.scope, record.id) for record in held], "deleted")
    if not records:
        return 0
    censored = transaction.edit_history({(record.scope, record.id): None for record in records})
    transaction.remove(records, [event_about("forgotten", record, now, by) for record in records])
    return censored


def replace_censored(
    transaction: Transaction, pairs: Sequence[tuple[Record, Record]], now: float, by: str | None
) -> int:
    """Writes next versions; history keeps nothing of what records said before. How many events lost it."""
    if not pairs:
        return 0
    censored = transaction.edit_history({(old.scope, old.id): None for old, _ in pairs})
    writer = OrderedWriter(transaction)
    for old, record in pairs:
        new = succeed(old, record)
        writer.replace(old, new, event_about("revised", new, now, by))
    writer.finish()
    return censored
