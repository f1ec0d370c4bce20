"""Sealed stores: keys, sealed bytes, and the store around a store that seals.

    service.py        the master key: where it comes from, and the port of a key service (KMS)
    boxes.py          sealing bytes under the keys of a scope, so that nothing can be moved or changed
    keyring.py        the keys of all scopes of a store
    contract.py       the laws of a key service, as tests
    codec.py          records and entries of the index as they are kept, and back
    history.py        events as they are kept, and back
    opener.py         opens both by the keys of a ring, and splits filters
    store.py          reads a store and opens what it gives      transaction.py    seals what a job writes
    small_values.py   tallies, staged vectors and secrets        carrying.py       records between stores
    key_rotation.py   new keys, and destroying them              exports.py
    damage.py         names what was changed outside of Eidet

What is sealed and what is not is told in docs/operate/encryption.md; why so, in ADR 0013.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ...core.errors import Refused


@runtime_checkable
class KeyService(Protocol):
    """Holds a master key and wraps other keys under it; the master key itself need never leave it."""

    @property
    def name(self) -> str:
        """Tells this master key from others, and is no secret: it is kept beside what was wrapped."""

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
