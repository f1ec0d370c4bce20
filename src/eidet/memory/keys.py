"""`memory.keys`: the keys of a sealed memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.arguments import one, one_or_all
from ..core.errors import Misconfigured
from ..core.scope import Scope
from ..parts import Parts
from ..store import verbs

if TYPE_CHECKING:
    from ..trust.seal.service import Key
    from ..trust.seal.store import SealedStore

Progress = Callable[[int, int], None]  # done, of how many


class KeysNamespace:
    """Manages the keys of a sealed memory."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def rotate(
        self,
        scope: str | Scope | None = None,
        *,
        key: Key | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Gives one scope or all a new key and seals their records again. Returns the number of records.

        With `key`, makes that the master key instead: wraps every scope's key with it, atomically, and
        returns the number of keys. Recalls and writes go on meanwhile, also in other processes.
        """
        from ..trust.seal.key_rotation import rewrap, rotate
        from ..trust.seal.service import service_of

        place = one_or_all(scope)
        clock = self._parts.clock
        if key is not None:
            return rewrap(self._find_sealed(), service_of(key), clock)
        sealed = self._find_sealed()
        paths = list(verbs.count_scopes(sealed, place))
        return sum(rotate(sealed, path, clock, progress) for path in paths)

    def shred(self, scope: str | Scope) -> int:
        """Destroys the key of a sealed scope for good. Returns the number of records made unreadable.

        Copies of the file made before still have the key, and exports are readable anyway. `forget` with
        everything=True deletes the rows, after which the scope can be used again. Raises `Refused` if a
        record of the scope is under a legal hold.
        """
        from ..trust.seal.key_rotation import shred

        path = one(scope)
        with self._parts.reopen_index():
            return shred(self._find_sealed(), path, self._parts.clock)

    def _find_sealed(self) -> SealedStore:
        from ..trust.seal.archives import find_sealed

        found = find_sealed(self._parts.store)
        if found is None:
            raise Misconfigured("this memory has no keys: it is not sealed; `eidet copy` makes a sealed copy")
        return found
