"""`memory.keys`: the keys of a sealed memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.arguments import one
from ..core.scope import Scope
from ..parts import Parts

if TYPE_CHECKING:
    from ..trust.seal.service import Key


class KeysNamespace:
    """Manages the keys of a sealed memory."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def rotate(self, key: Key) -> int:
        """Makes `key` the master key: wraps every scope's key with it, atomically. Returns how many.

        Recalls go on meanwhile and writes wait, also in other processes. To seal every record again, with new
        keys of scopes, use `eidet copy`.
        """
        from ..trust.seal.key_changes import rewrap
        from ..trust.seal.service import service_of

        return rewrap(self._parts.store, service_of(key))

    def shred(self, scope: str | Scope) -> int:
        """Deletes a sealed scope and destroys its key, in one write. Returns the number of records.

        Nobody can read its records in archives either. Copies of the file made before still have the key, and
        exports are readable anyway. Raises `Refused` if a record of the scope is under a legal hold.
        """
        from ..trust.seal.key_changes import shred

        path = one(scope)
        with self._parts.reopen_index():
            return shred(self._parts.store, path, self._parts.clock())
