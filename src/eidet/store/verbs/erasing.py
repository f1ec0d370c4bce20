"""Forgets for good: deletes, rewrites and entombs in one write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from ...core.record import Record, record_digest
from ...core.scope import Scope
from ...core.where import Condition, Where
from .. import Store, Transaction
from ..model import (
    BELOW_MARK,
    SCOPE_MARK,
    SETTINGS,
    STAGED,
    STAGED_NAME,
    TOMBSTONES,
    Erased,
    Erasure,
    Reader,
    Tombstone,
)
from ..rules import ends_of
from .changing import delete_records, find_held, replace_censored
from .reading import count, get_setting, get_settings, scan
from .writing import clear_tallies

DERIVED: Final = Condition("record.derived_from", "exists")  # was made of other records
ENDS: Final = "ends"  # the setting that counts how often a whole scope was forgotten
ENDED: Final = "ended:"  # … and the settings that say at which count each was


def erase(store: Store, plan: Callable[[Reader], Erasure], *, now: float, by: str | None = None) -> Erased:
    """Deletes, rewrites and entombs what `plan` says, all at once.

    The plan is made inside the write, so what it reads stays true. Its errors undo everything.
    """
    return store.write(Erase(plan, now, by))


@dataclass(frozen=True, slots=True)
class Erase:
    """The job of `erase`."""

    plan: Callable[[Reader], Erasure]
    now: float
    by: str | None = None

    def __call__(self, transaction: Transaction) -> Erased:
        look = Reader(
            scan=transaction.find,
            same=transaction.same,
            history=transaction.history,
            setting=lambda name: transaction.values(SETTINGS, (name,)).get(name),
        )
        return _erase(transaction, self.plan(look), self.now, self.by)


def _erase(transaction: Transaction, wanted: Erasure, now: float, by: str | None) -> Erased:
    doomed = list({(record.scope, record.id): record for record in wanted.gone}.values())
    held = [record for record in doomed if record.state.hold is not None]
    if wanted.where is not None:
        known = {(record.scope, record.id) for record in doomed}
        matching = transaction.find(wanted.where, bare=True)
        found = [record for record in matching if (record.scope, record.id) not in known]
        doomed += found
        held += find_held(transaction, found)
        clear_tallies(transaction, wanted.where)
    staged = _count_staged(transaction, [*doomed, *(old for old, _ in wanted.anew)])
    censored = delete_records(transaction, doomed, now, by, held=held)
    censored += replace_censored(transaction, wanted.anew, now, by)
    _entomb(transaction, wanted.stones, max([now, *(record.created for record in doomed)]))
    transaction.set_values(SETTINGS, wanted.settings)
    return Erased([(record.scope, record.id) for record in doomed], censored, staged)


def _entomb(transaction: Transaction, stones: Sequence[Tombstone], now: float) -> None:
    """Writes tombstones. Clocks differ, so none is older than the newest deleted record, or than it was."""
    keys = dict.fromkeys((stone.scope, stone.mark) for stone in stones)
    there = transaction.values(TOMBSTONES, keys)
    transaction.set_values(TOMBSTONES, {key: max(now, there.get(key, now)) for key in keys})
    ends = [stone for stone in stones if stone.mark in (SCOPE_MARK, BELOW_MARK)]
    if ends:
        count = str(int(transaction.values(SETTINGS, (ENDS,)).get(ENDS, "0")) + 1)
        transaction.set_values(SETTINGS, {ENDS: count, **{_name_end(*end): count for end in ends}})


def _name_end(scope: str, mark: bytes) -> str:
    return f"{ENDED}{scope}{mark.decode()}"


def count_ends(store: Store) -> int:
    """Counts how often a whole scope was forgotten here. An export records it for ordering."""
    return int(get_setting(store, ENDS) or 0)


def ended_since(store: Store, count: int) -> Callable[[str], bool]:
    """Returns a test whether a scope was forgotten after `count` ends of scopes, whatever clocks say."""
    found = {name for name, at in get_settings(store, ENDED).items() if int(at) > count}
    return lambda scope: any(_name_end(*end) in found for end in ends_of(scope))


def _count_staged(transaction: Transaction, records: Sequence[Record]) -> int:
    """Counts the staged vectors of the next embedder that go with these records."""
    if STAGED_NAME not in transaction.values(SETTINGS, (STAGED_NAME,)):
        return 0
    return len(transaction.values(STAGED, [record.seq for record in records]))


def tombstones_in(store: Store, scope: str, marks: Sequence[bytes]) -> dict[bytes, float]:
    """Returns the marks that are forgotten in a scope, and since when."""
    found = store.values(TOMBSTONES, [(scope, mark) for mark in marks])
    return {mark: since for (_, mark), since in found.items()}


def lift_tombstones(store: Store, scope: str, marks: Sequence[bytes]) -> int:
    """Lifts tombstones. Returns how many there were."""

    def lift(transaction: Transaction) -> int:
        there = transaction.values(TOMBSTONES, [(scope, mark) for mark in marks])
        transaction.set_values(TOMBSTONES, dict.fromkeys(there))
        return len(there)

    return store.write(lift)


def reader_of(store: Store) -> Reader:
    """Returns a reader for a dry run, while others go on writing: it takes no lock."""

    def find_same(scope: str, digests: Sequence[bytes]) -> Iterator[Record]:
        found = scan(store, Where(scope=Scope(scope)))
        return (record for record in found if record_digest(record) in digests)

    return Reader(
        scan=partial(scan, store),
        same=find_same,
        history=store.history,
        setting=partial(get_setting, store),
    )


def list_revised(store: Store, scope: Scope, most: int) -> list[tuple[str, str]] | None:
    """Lists the (scope, id) of records that may have said something else before.

    Returns None if there are more than `most` of them.
    """
    revised = Where(scope=scope, conditions=(Condition("record.version", ">", 1),))
    if count(store, revised) > most:
        return None
    return [(record.scope, record.id) for record in scan(store, revised)]


def find_derived(store: Store, scope: Scope) -> list[Record]:
    """Returns the records of a scope that were derived from others, by ascending seq."""
    return list(scan(store, Where(scope=scope, conditions=(DERIVED,))))
