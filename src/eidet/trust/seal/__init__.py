"""Sealed stores: keys, sealed bytes, and the store around a store that seals.

    service.py        the master key: where it comes from, and a key service of this process
    boxes.py          sealing bytes under the keys of a scope, so that nothing can be moved or changed
    keyring.py        the keys of all scopes of a store
    contract.py       the laws of a key service, as tests
    codec.py          records, entries of the index and events as they are kept, and back
    opener.py         opens them by the keys of a ring, splits filters; small values
    store.py          reads a store and opens what it gives      transaction.py    seals what a job writes
    key_rotation.py   new keys, destroying them, and a check of everything
    archives.py       archives of sealed records

What is sealed and what is not is told in docs/operate/encryption.md; why so, in ADR 0013.
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
    """Holds a master key and wraps other keys under it; the master key itself need never leave it."""

    @property
    def name(self) -> str:
        """Identifies this master key. It is no secret and is stored beside what was wrapped."""

    def wrap(self, key: bytes, context: bytes) -> bytes:
        """The key, such that only `unwrap` with the same context gives it back."""

    def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        """`WrongKey` if it was wrapped by another master key, for another context, or was changed.

        `Unavailable` where the service cannot answer now.
        """


class WrongKey(Refused):
    """Bytes were not wrapped by this master key for this purpose, or were changed."""


class Shredded(Refused):
    """The key of a scope was destroyed: what it sealed can never be read again."""

    def __init__(self, scope: str) -> None:
        self.scope = scope
        super().__init__(
            f"the key of scope {scope!r} was destroyed and what it held cannot be read by anybody; "
            f"forget(everything=True, scope={scope!r}) clears the rows, and the scope can be used again"
        )


def check_unsealed(store: Store) -> None:
    """`Corrupt` for a store that has no word of its master key any more, but sealed records or keys.

    Looks at two records only where that is cheap: at a server, all scopes might have to be asked.
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
    except Corrupt:  # a damaged row is told by whoever reads it
        return False
    return any(record.sealed is not None for record in ends)
