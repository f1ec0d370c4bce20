"""Small values and what is updated in place: settings, leases, counts, uses, histories, vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, cast

from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import Json
from ...core.where import Where
from ...quality import Tally
from .. import Store, Transaction
from ..abilities import AnswersVerbs
from ..model import EPOCH, SETTINGS, STAGED, STAGED_NAME, STAGED_UP_TO, TALLIES, Derived, Use, Uses
from .changing import read_records
from .reading import get_setting
from .writing import epoch_of

LEASE: Final = "lease:"  # prefix of settings
ONCE: Final = "once:"  # prefix of leases on requests that are done once, which `mark.token` holds
ONCE_SECONDS: Final = 86_400.0  # how long such a request is remembered


def set_settings(store: Store, settings: Mapping[str, str], *, fresh: bool = False) -> None:
    """Writes settings, all or none; with `fresh`, leaves those that are set already alone."""

    def write(transaction: Transaction) -> None:
        kept = transaction.values(SETTINGS, list(settings)) if fresh else {}
        transaction.set_values(SETTINGS, {**settings, **kept})

    return store.write(write)


def take_lease(store: Store, name: str, owner: str, *, now: float, until: float) -> bool:
    """Takes a lease against all other processes. Returns whether the owner now holds it until then.

    The holder may take it again; `until` in the past gives it back.
    """
    key = f"{LEASE}{name}"

    def take(transaction: Transaction) -> bool:
        mine = _may_lease(transaction.values(SETTINGS, (key,)).get(key), owner, now)
        if mine:
            transaction.set_values(SETTINGS, {key: _lease_of(owner, until)})
        return mine

    return store.write(take)


def read_lease(store: Store, name: str) -> tuple[str, float] | None:
    """Returns who has a lease and until when, expired or not; None if it was never taken."""
    held = get_setting(store, f"{LEASE}{name}")
    if held is None:
        return None
    until, _, owner = held.partition(" ")
    return owner, float(until)


def clear_leases(store: Store, prefix: str, *, now: float) -> int:
    """Removes expired leases with this prefix. Returns how many; only reads if there are none."""
    return _change_leases(store, prefix, lambda held: None if _may_lease(held, "", now) else held)


def drop_marks(store: Store, *, since: float, until: float) -> int:
    """Removes request marks from leases taken in that time. Returns how many.

    The leases stay taken: a repeated request is recognised by its key, and is not done again.
    """

    def drop(held: str) -> str:
        end, _, owner = held.partition(" ")
        mark, dot, token = owner.partition(".")
        if mark and since <= float(end) - ONCE_SECONDS <= until:
            return _lease_of(f"{dot}{token}", float(end))
        return held

    return _change_leases(store, ONCE, drop)


def _change_leases(store: Store, prefix: str, change: Callable[[str], str | None]) -> int:
    """Changes the leases for which `change` returns another value. Returns how many; None removes one."""

    def find(source: Store | Transaction) -> dict[str, str | None]:
        leases = source.values(SETTINGS, prefix=f"{LEASE}{prefix}")
        changed = {name: change(held) for name, held in leases.items()}
        return {name: new for name, new in changed.items() if new != leases[name]}

    def write(transaction: Transaction) -> int:
        found = find(transaction)
        transaction.set_values(SETTINGS, found)
        return len(found)

    return store.write(write) if find(store) else 0


def add_uses(store: Store, uses: Uses) -> None:
    """Adds to use counts; skips records that are gone. Changes no version or seq."""
    if not uses:
        return None
    rows = [Use(scope, id, count, when) for (scope, id), (count, when) in uses.items()]
    return store.write(lambda transaction: transaction.update(rows))


def add_counts(store: Store, rows: Sequence[Tally], *, since: int) -> None:
    """Adds counts to those of the same scope, day and subject; all rows or none.

    Nothing is lost when several processes add at once. Deletes the days before `since` of these scopes.
    Changes no seq.
    """
    if not rows:
        return None

    def add(transaction: Transaction) -> None:
        keys = [(row.scope, row.day, row.what) for row in rows]
        totals = {key: Counter(counts) for key, counts in transaction.values(TALLIES, keys).items()}
        for key, row in zip(keys, rows, strict=True):
            totals.setdefault(key, Counter()).update(row.counts)
        transaction.set_values(TALLIES, {key: dict(total) for key, total in totals.items()})
        for scope in dict.fromkeys(row.scope for row in rows):
            kept = transaction.values(TALLIES, within=Scope(scope))
            transaction.set_values(TALLIES, {key: None for key in kept if key[1] < since})

    return store.write(add)


def read_counts(store: Store, scope: Scope | None, since: int) -> list[Tally]:
    """Returns the counts of a scope (None: of all) from a day on, by scope, day and subject."""
    found = store.values(TALLIES, within=scope).items()
    return [Tally(*key, dict(counts)) for key, counts in found if key[1] >= since]


def rewrite_history(store: Store, scope: str, id: str, before: Mapping[int, Mapping[str, Json]]) -> int:
    """Replaces what history says of a record's content, by version. Returns how many events changed.

    Changes only events that still have content: what was forgotten stays so. Changes no seq.
    """
    if not before:
        return 0
    return store.write(lambda transaction: transaction.edit_history({(scope, id): before}))


def replace_derived(store: Store, derived: Iterable[Derived]) -> None:
    """Replaces derived bytes in place and raises the epoch. Records that are gone are skipped."""
    rows = list(derived)

    def replace(transaction: Transaction) -> None:
        transaction.update(rows)
        _raise_epoch(transaction)

    return store.write(replace)


def _raise_epoch(transaction: Transaction) -> None:
    transaction.set_values(SETTINGS, {EPOCH: str(epoch_of(transaction) + 1)})


def stage_vectors(
    store: Store, name: str, vectors: Sequence[tuple[int, bytes]], *, of: Sequence[Record] = ()
) -> None:
    """Stages vectors (by seq) of the next embedder across restarts; another name starts over.

    `of` are the records that they were made of: vectors of those that are gone by now are left out.
    """

    def stage(transaction: Transaction) -> None:
        known = transaction.values(SETTINGS, (STAGED_NAME, STAGED_UP_TO))
        same = known.get(STAGED_NAME) == name
        last = max([int(known.get(STAGED_UP_TO, 0)) if same else 0, *(seq for seq, _ in vectors)])
        living = {record.seq for record in read_records(transaction, of, bare=True).values()}
        staged = {seq: vector for seq, vector in vectors if not of or seq in living}
        transaction.set_values(STAGED, staged, clear=not same)
        transaction.set_values(SETTINGS, {STAGED_NAME: name, STAGED_UP_TO: str(last)})

    return store.write(stage)


def read_staged(store: Store, name: str) -> int:
    """Returns the seq up to which vectors of this embedder are staged; 0 if none are."""
    known = store.values(SETTINGS, (STAGED_NAME, STAGED_UP_TO))
    return int(known.get(STAGED_UP_TO, 0)) if known.get(STAGED_NAME) == name else 0


def switch_vectors(store: Store, name: str, settings: Mapping[str, str]) -> int:
    """Makes the staged vectors those of the records, and writes settings, at once.

    Does nothing unless every record with a vector has one staged. Returns how many lack one, so 0 means done.
    """
    if hasattr(store, "switch_vectors"):
        return cast("AnswersVerbs", store).switch_vectors(name, settings)
    return store.write(partial(_switch_vectors, name=name, settings=settings))


def _switch_vectors(transaction: Transaction, name: str, settings: Mapping[str, str]) -> int:
    staged: Mapping[int, bytes] = {}
    if transaction.values(SETTINGS, (STAGED_NAME,)).get(STAGED_NAME) == name:
        staged = transaction.values(STAGED)
    found = [record for record in transaction.find(Where()) if record.vector is not None]
    rows = [Derived(record.seq, staged.get(record.seq), record.terms) for record in found]
    lacking = sum(row.vector is None for row in rows)
    if not lacking:
        transaction.update(rows)
        transaction.set_values(STAGED, {}, clear=True)
        transaction.set_values(SETTINGS, {**settings, STAGED_NAME: None, STAGED_UP_TO: None})
        _raise_epoch(transaction)
    return lacking


def _lease_of(owner: str, until: float) -> str:
    return f"{until!r} {owner}"


def _may_lease(held: str | None, owner: str, now: float) -> bool:
    until, _, holder = (held or "").partition(" ")
    return not held or holder == owner or float(until) <= now
