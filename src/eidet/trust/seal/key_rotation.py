"""Rotates and destroys keys of an open store, while others read and write.

A scope's key is rotated in steps. If a process dies after any of them, the next rotation continues:

1. add a new key and raise the epoch, after which no process writes with the old key
2. seal every record that an old key sealed again, with the new key
3. do the same with the history of the records
4. destroy the keys that no longer seal anything
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ...core.errors import Conflict, Corrupt, Misconfigured, Refused
from ...core.record import Record
from ...core.scope import Scope
from ...core.where import Where
from ...store import SETTINGS, Store, Transaction, verbs
from ...store.verbs.changing import find_held, refuse_held
from . import KeyService
from .archives import find_sealed
from .codec import numbers_in
from .opener import read_secrets
from .store import SealedStore
from .transaction import SealedTransaction

Clock = Callable[[], float]
Progress = Callable[[int, int], None]
LEASE: Final = "seal"
LEASE_SECONDS: Final = 60.0
BATCH: Final = 100
PASSES: Final = 1000


def rotate(store: SealedStore, scope: str, clock: Clock, progress: Progress | None = None) -> int:
    """Gives a scope a new key and seals everything with it. Returns the number of records.

    Continues a rotation that was interrupted.
    """
    _check_writable(store)
    with _alone(store, clock) as renew:
        store.fresh()
        keys = store.keys(scope)
        if len(keys.numbers) == 1:
            keys = store.ring.add(scope)
        verbs.replace_derived(store.inner, [])
        store.fresh()
        records = _records_anew(store, scope, clock, renew, progress)
        _history_anew(store, scope, renew)
        records += _records_anew(store, scope, clock, renew, None)
        store.ring.destroy(scope, [number for number in keys.numbers if number != keys.newest])
    _wipe(store)
    return records


def _records_anew(
    store: SealedStore, scope: str, clock: Clock, renew: Callable[[], None], progress: Progress | None
) -> int:
    """Re-seals records until a pass finds none under an old key."""
    done, total = 0, verbs.count(store.inner, Where(scope=Scope(scope)))
    for _ in range(PASSES):
        found = False
        for batch in _list_outdated(store, scope):
            found = True
            forms = [(record, record) for record in map(store.opener.open, batch)]
            verbs.rewrite_form(store, forms, now=clock())
            done += len(batch)
            renew()
            if progress is not None:
                progress(min(done, total), total)
        if not found:
            return done
    raise Conflict(f"scope {scope!r} is written faster than it can be re-encrypted; call again")


def _list_outdated(store: SealedStore, scope: str) -> Iterator[list[Record]]:
    newest = store.keys(scope).newest
    forms = verbs.scan(store.inner, Where(scope=Scope(scope)), batch=BATCH)
    old = (form for form in forms if numbers_in(form) != {newest})
    while batch := list(islice(old, BATCH)):
        yield batch


def _history_anew(store: SealedStore, scope: str, renew: Callable[[], None]) -> None:
    """Re-seals the history of existing records; that of deleted ones has no content."""
    for at, form in enumerate(verbs.scan(store.inner, Where(scope=Scope(scope)))):
        if form.version > 1:
            earlier = {e.version: e.before for e in store.history(scope, form.id) if e.before is not None}
            verbs.rewrite_history(store, scope, form.id, earlier)
        if at % BATCH == 0:
            renew()


def rewrap(store: SealedStore, service: KeyService, clock: Clock) -> int:
    """Wraps every key with another master key, in one write. Returns the number of keys."""
    _check_writable(store)
    with _alone(store, clock):
        count = store.ring.rewrap(service)
    _wipe(store)
    return count


def shred(store: SealedStore, scope: str, clock: Clock) -> int:
    """Destroys a scope's keys for good. Returns the number of records made unreadable.

    Other processes drop their copies of the keys with their next call. If a record of the scope is under a
    legal hold, nothing is destroyed.
    """
    from ..erase.elsewhere import remove_files, schema_copies

    _check_writable(store)
    with _alone(store, clock):
        store.write(ShredScope(store, scope))
        store.ring.noted("shred", scope)
        store.ring.renew()
        verbs.replace_derived(store.inner, [])
    store.fresh()
    _wipe(store)
    remove_files(schema_copies(store))  # copies from before a change of the schema: they hold the key
    return verbs.count(store.inner, Where(scope=Scope(scope)))


@dataclass(frozen=True, slots=True)
class ShredScope:
    """The job of `shred`: looks for legal holds in the transaction that destroys the keys."""

    store: SealedStore
    scope: str

    def __call__(self, transaction: Transaction) -> None:
        assert isinstance(transaction, SealedTransaction)
        records = list(transaction.find(Where(scope=Scope(self.scope)), bare=True))
        refuse_held(find_held(transaction, records), "shredded")
        self.store.ring.shred(self.scope, transaction.inner)


def _wipe(store: SealedStore) -> None:
    """Clears bytes of old keys from free pages and the log, as far as concurrent readers allow."""
    while verbs.compact(store.inner, 1 << 22):
        pass


def _check_writable(store: SealedStore) -> None:
    if not store.writable:
        raise Refused("this memory is open read-only: its keys cannot be changed")


@contextmanager
def _alone(store: SealedStore, clock: Clock) -> Iterator[Callable[[], None]]:
    """Lets one process at a time change keys. The function yielded renews the lease."""
    owner = uuid.uuid4().hex

    def renew() -> None:
        now = clock()
        if not verbs.take_lease(store.inner, LEASE, owner, now=now, until=now + LEASE_SECONDS):
            raise Conflict("another process is changing keys of this memory; call again when it is done")

    renew()
    try:
        yield renew
    finally:
        verbs.take_lease(store.inner, LEASE, owner, now=clock(), until=0.0)


# Finding what was changed outside of Eidet.


def list_damage(store: Store) -> list[str]:
    """Lists each record, history, scope and setting of a sealed store that does not open.

    Empty for a store that is not sealed. Cannot detect deletions from outside, which leave no trace.
    """
    sealed = find_sealed(store)
    if sealed is None:
        return []
    sealed.fresh()
    faults = list(_check_settings(sealed))
    for scope in verbs.count_scopes(sealed):
        faults += _check_scope(sealed, scope)
    return faults


def _check_settings(store: SealedStore) -> Iterator[str]:
    for name in read_secrets(store.inner):
        try:
            store.values(SETTINGS, (name,))
        except Corrupt as error:
            yield str(error)


def _check_scope(store: SealedStore, scope: str) -> Iterator[str]:
    try:
        store.keys(scope)
    except (Corrupt, Misconfigured) as error:
        yield f"scope {scope}: {error}"
        return
    for seq in store.inner.match(Where(scope=Scope(scope))):
        name = f"record with seq {seq}"
        try:
            for form in filter(None, store.inner.read(scope, [seq])):
                name = f"record {form.id!r}"
                store.opener.open(form)
                store.opener.open_history(store.inner.history(scope, form.id))
        except Corrupt as error:
            yield f"scope {scope}, {name}: {error}"
