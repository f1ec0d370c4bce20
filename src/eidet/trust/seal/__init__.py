"""Sealed stores: keys, sealed bytes, and the wrapper that encrypts a store.

    service.py        the master key: loads it, and a key service in this process
    boxes.py          seals bytes under the keys of a scope, so that none can be moved or changed
    keyring.py        the keys of all scopes of a store
    contract.py       the laws of a key service, as tests
    codec.py          seals and opens records, entries of the index and events
    inner.py          what the store inside is asked, and its small values
    store.py          opens what a store returns                 transaction.py    seals what a job writes
    key_changes.py    another master key, and shredding
    archives.py       archives of sealed records

docs/operate/encryption.md says what is sealed and what is not; ADR 0013 says why.
"""

from __future__ import annotations

from typing import Final, Protocol, runtime_checkable

from ...core.errors import Corrupt, Refused
from ...core.where import Where
from ...store import SETTINGS, Store
from ...store.traits import path_of

SEAL: Final = "seal"
KEYS: Final = "seal:key:"


@runtime_checkable
class KeyService(Protocol):
    """Holds a master key and wraps other keys with it; the master key itself need never leave the service."""

    @property
    def name(self) -> str:
        """Identifies this master key. Not secret: it is stored beside the wrapped keys."""

    def wrap(self, key: bytes, context: bytes) -> bytes:
        """Wraps a key so that only `unwrap` with the same context returns it."""

    def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        """Returns the key that was wrapped.

        Raises `WrongKey` if another master key or context wrapped it, or if it was changed, and `Unavailable`
        if the service cannot answer now.
        """


class WrongKey(Refused):
    """The bytes were not wrapped by this master key for this context, or were changed."""


def check_unsealed(store: Store) -> None:
    """Raises `Corrupt` if a store without a record of its master key holds sealed records or keys.

    Looks at two records of a file only: a server might have to search all scopes.
    """
    if store.values(SETTINGS, prefix=KEYS, limit=1) or (path_of(store) is not None and _ends_sealed(store)):
        raise Corrupt(
            "this memory holds sealed records, but its record of the master key (the setting 'seal') is "
            "gone: it was removed outside of Eidet. Restore a copy; do not seal it again, nothing in it "
            "could be read afterwards"
        )


def _ends_sealed(store: Store) -> bool:
    try:
        ends = [*store.find(Where(), limit=1), *store.find(Where(), order="-seq", limit=1)]
    except Corrupt:  # reading the damaged row reports it
        return False
    return any(record.sealed is not None for record in ends)
