"""Puts a sealed store under another master key, and shreds scopes, while others read and write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...core.errors import Misconfigured, Refused
from ...core.scope import Scope
from ...core.where import Where
from ...store import EPOCH, SETTINGS, Store, Transaction, verbs
from ...store.verbs.changing import delete_records, find_held, refuse_held
from ...store.verbs.writing import clear_tallies, epoch_of
from . import KeyService
from .keyring import Keyring
from .store import SealedStore, find_sealed

FREED_AT_ONCE: Final = 1 << 22


def rewrap(store: Store, service: KeyService) -> int:
    """Wraps every key with another master key, in one write. Returns the number of keys."""
    sealed = _find_writable(store)
    count = sealed.ring.rewrap(service)
    _wipe(sealed.inner)
    return count


def shred(store: Store, scope: str, now: float) -> int:
    """Deletes all records of a scope with its key, in one write. Returns the number of records.

    Other processes drop their copies of the key with their next call. If a record of the scope is under a
    legal hold, nothing is destroyed.
    """
    from ..erase.elsewhere import remove_files, schema_copies

    sealed = _find_writable(store)
    count = store.write(Shred(sealed.ring, scope, now))
    sealed.fresh()
    _wipe(sealed.inner)
    remove_files(schema_copies(store))  # copies from before a change of the schema: they hold the key
    return count


@dataclass(frozen=True, slots=True)
class Shred:
    """The job of `shred`: looks for legal holds in the transaction that destroys the key."""

    ring: Keyring
    scope: str
    now: float

    def __call__(self, transaction: Transaction) -> int:
        where = Where(scope=Scope(self.scope))
        records = list(transaction.find(where, bare=True))
        refuse_held(find_held(transaction, records), "shredded")
        delete_records(transaction, records, self.now, None, held=())
        clear_tallies(transaction, where)
        self.ring.destroy(transaction, self.scope)
        transaction.set_values(SETTINGS, {EPOCH: str(epoch_of(transaction) + 1)})
        return len(records)


def _find_writable(store: Store) -> SealedStore:
    sealed = find_sealed(store)
    if sealed is None:
        raise Misconfigured("this memory has no keys: it is not sealed; `eidet copy` makes a sealed copy")
    if not sealed.writable:
        raise Refused("this memory is open read-only: its keys cannot be changed")
    return sealed


def _wipe(store: Store) -> None:
    """Clears bytes of old keys from free pages and the log, as far as concurrent readers allow."""
    while verbs.compact(store, FREED_AT_ONCE):
        pass
