"""The only way to change or delete a stored record. It heeds legal holds, whichever verb asks.

A test keeps every other module from calling `Transaction.remove` and `Transaction.edit_history` itself, so
that no new verb can get past a hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import Final, cast

from ...core.errors import Corrupt
from ...core.record import Event, Record
from ...core.state import State
from .. import Store, Transaction
from ..abilities import FindsHeld
from ..model import TOMBSTONES, TombstoneGuard
from ..rules import Held, Life, check_entombed, list_changes, list_marks, make_next

Key = tuple[str, str]  # scope, id


def read_records(
    transaction: Transaction, records: Iterable[Record], *, bare: bool = False
) -> dict[Key, Record]:
    """Returns the stored records that have the (scope, id) of one of these, by (scope, id)."""
    keys: dict[str, dict[str, None]] = {}
    for record in records:
        keys.setdefault(record.scope, {})[record.id] = None
    return _read_each(transaction, keys, bare=bare)


def _read_each(
    transaction: Transaction, keys: dict[str, dict[str, None]], *, bare: bool
) -> dict[Key, Record]:
    found = (
        record for scope, ids in keys.items() for record in transaction.read(scope, list(ids), bare=bare)
    )
    return {(record.scope, record.id): record for record in found if record is not None}


_READ_AT_ONCE: Final = 500


class OrderedWriter:
    """A writer that inserts and replaces in the order asked, by rising seqs; `finish` writes all at once.

    If a record to be replaced is under a legal hold, `finish` names all of them and writes nothing.
    """

    def __init__(self, transaction: Transaction, *, releases: bool = False, follows: bool = False) -> None:
        self._transaction = transaction
        self._releases, self._follows = releases, follows
        self._removed: list[Record] = []
        self._events: list[Event] = []
        self._inserted: list[Record] = []
        self._held: list[Key] = []

    def insert(self, record: Record) -> None:
        self._inserted.append(record)

    def replace(self, old: Record, new: Record, event: Event, *, given: Record | None = None) -> None:
        """Replaces a record. If `old` is bare, `given` is it as the caller read it, with the same seq."""
        if self._is_refused(given or old, new):
            self._held.append((old.scope, old.id))
            return
        self._removed.append(old)
        self._events.append(event)
        self._inserted.append(new)

    def _is_refused(self, old: Record, new: Record) -> bool:
        if self._follows or not _breaks_hold(old, new):
            return False
        return not (self._releases and _is_release(old, new))

    def finish(self) -> list[Record]:
        """Writes everything. Returns what was inserted, in order, with seqs; raises `Held` if any is held."""
        if self._held:
            raise Held(self._held, "changed")
        if self._removed:
            self._transaction.remove(self._removed, self._events)
        if not self._inserted:
            return []
        return self._transaction.insert(self._inserted)


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


def refuse_held(held: Sequence[Record], what: str) -> None:
    """Raises `Held` if there are any held records."""
    if held:
        raise Held([(record.scope, record.id) for record in held], what)


def find_held(transaction: Transaction, records: Sequence[Record]) -> list[Record]:
    """Returns which records, perhaps bare, read in this transaction are under a legal hold."""
    if hasattr(transaction, "find_held"):
        return cast("FindsHeld", transaction).find_held(records)
    return [record for record in records if record.state.hold is not None]


def look_for_held(transaction: Transaction, records: Sequence[Record]) -> list[Record]:
    """Works like `find_held`, by reading each record; a damaged one counts as not held."""
    by_scope: dict[str, list[str]] = {}
    for record in records:
        by_scope.setdefault(record.scope, []).append(record.id)
    held: list[Record] = []
    for scope, ids in by_scope.items():
        for start in range(0, len(ids), _READ_AT_ONCE):
            held += _read_held(transaction, scope, ids[start : start + _READ_AT_ONCE])
    return held


def _read_held(transaction: Transaction, scope: str, ids: Sequence[str]) -> list[Record]:
    try:
        there = transaction.read(scope, ids)
    except Corrupt:
        middle = len(ids) // 2
        if not middle:
            return []
        first = _read_held(transaction, scope, ids[:middle])
        return first + _read_held(transaction, scope, ids[middle:])
    return [record for record in there if record is not None and record.state.hold is not None]


def delete_records(
    transaction: Transaction,
    records: Sequence[Record],
    now: float,
    by: str | None,
    *,
    held: Sequence[Record],
) -> int:
    """Deletes existing records. Returns how many events lost their content.

    `held` lists those under a legal hold, which bare records may not show: if there are any, nothing is
    deleted.
    """
    refuse_held(held, "deleted")
    if not records:
        return 0
    censored = transaction.edit_history({(record.scope, record.id): None for record in records})
    transaction.remove(records, [event_about("forgotten", record, now, by) for record in records])
    return censored


def check_tombstones(transaction: Transaction, records: Sequence[Record], watch: TombstoneGuard) -> None:
    """Raises `Entombed` if one of the records may not be written; with `watch.again`, lifts tombstones."""
    if not transaction.values(TOMBSTONES, limit=1):
        return
    claims = watch.claims()
    since = transaction.values(TOMBSTONES, list_marks(records, claims, watch))
    sources: dict[str, dict[str, None]] = {}
    for record, claim in zip(records, claims, strict=True):
        for id, mark in claim.made_of:
            if (record.scope, mark) in since:
                sources.setdefault(record.scope, {})[id] = None
    there = _read_each(transaction, sources, bare=True)
    check_entombed(records, claims, watch, since, there)
    if watch.again:
        pairs = zip(records, claims, strict=True)
        said = ((record.scope, mark) for record, claim in pairs for mark in claim.says)
        transaction.set_values(TOMBSTONES, dict.fromkeys(said))


def _breaks_hold(old: Record, new: Record) -> bool:
    """Returns whether the new form changes what a held record says or shows.

    Uses, vectors and terms are Eidet's own bookkeeping, so changing them changes nothing of the record.
    """
    if old.state.hold is None:
        return False
    return bool(list_changes(old, new))


def _is_release(old: Record, new: Record) -> bool:
    """Returns whether the new version only ends the hold and restores the expiry."""
    if new.state.hold is not None or not list_changes(old, new).keys() <= {"state", "expires"}:
        return False
    return _without_protections(old) == _without_protections(new) and _pin_of(old) == _pin_of(new)


def _without_protections(record: Record) -> State:
    return record.state.but(hold=None, pinned=None)


def _pin_of(record: Record) -> tuple[float, str | None] | None:
    if record.state.pinned is None:
        return None
    return record.state.pinned.at, record.state.pinned.by


def replace_censored(
    transaction: Transaction, pairs: Sequence[tuple[Record, Record]], now: float, by: str | None
) -> int:
    """Writes next versions without their earlier content in history. Returns how many events lost it."""
    if not pairs:
        return 0
    censored = transaction.edit_history({(old.scope, old.id): None for old, _ in pairs})
    writer = OrderedWriter(transaction)
    for old, record in pairs:
        new = make_next(old, record)
        writer.replace(old, new, event_about("revised", new, now, by))
    writer.finish()
    return censored


# Records with their histories, written to another place as they were: when, and by whom.


def read_lives(source: Store | Transaction, records: Iterable[Record]) -> list[Life]:
    """Returns records with their histories."""
    return [(record, source.history(record.scope, record.id)) for record in records]


def split_lives(story: Sequence[Event]) -> list[Sequence[Event]]:
    """Splits a history into the lives of an id, each of which begins with its creation."""
    starts = [at for at, event in enumerate(story) if event.what == "created" or not at]
    return [story[at:end] for at, end in pairwise([*starts, len(story)])]


def write_lives(transaction: Transaction, lives: Iterable[Life]) -> list[Record]:
    """Writes new records with their full history. Returns them as stored."""
    stored: list[Record] = []
    for short, some in groupby(lives, key=lambda life: len(life[1]) <= 1):
        if short:
            stored += transaction.insert([record for record, _ in some])
        else:
            stored += [_write_life(transaction, *life) for life in some]
    return stored


def _write_life(transaction: Transaction, record: Record, story: Sequence[Event]) -> Record:
    """Replays a record: its first version by its creator, the rest from its events."""
    life = split_lives(story)[-1] if story else ()
    events = [event for event in life if event.what != "created"]
    creators = [event.by for event in life if event.what == "created"] if events else []
    (stored,) = transaction.insert([record.but(agent=creators[0]) if creators else record])
    return replay_events(transaction, stored, record, events)


def replay_events(
    transaction: Transaction, stored: Record, record: Record, events: Iterable[Event]
) -> Record:
    """Turns a stored record into another one by these events. Returns it as stored."""
    for event in events:
        transaction.remove([stored], [event])
        (stored,) = transaction.insert([record])
    return stored
