"""Names of keys. All keys of a scope share one hash tag, so that a cluster keeps them in one place."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Any

Hash = tuple[str, str]  # a scope, or "" for the store itself, and the letter of a key of its own
Place = tuple[str, str, Any]  # a hash and a field of it


class Keys:
    """`base(scope)` is what the keys of a scope begin with; `base("")` is for those of the store itself.

    Those of a scope go on with

    m   how the scope is: its version `v`, the seq up to which it was told `f`, `pruned`, `ttl`
    r:N the record with seq N         i   id -> seq             d   exact key -> seqs
    s   seqs by themselves            x   seqs by expiry
    z   what else is to be removed with a seq that expires     g   seqs that are gone, by when
    e   id -> history                 b   mark -> since when it is entombed    y   tallies
    k:NAME   a vector set of the index       k:NAME:u   its elements beyond the first of a record

    and those of the store: h (epoch, seq, tombs, scopes), n (names of scopes), s (settings), k (vector sets),
    v (staged vectors by seq), w:… (what a writer was last answered).
    `t:…` in h and m counts the changes of a table.
    """

    def __init__(self, prefix: str) -> None:
        self.store: str = f"{prefix}:{{{prefix}}}:"
        self._prefix = prefix
        self.base = lru_cache(maxsize=4096)(self._base)

    def _base(self, scope: str) -> str:
        if not scope:
            return self.store
        return f"{self._prefix}:{{{blake2b(scope.encode(), digest_size=10).hexdigest()}}}:"
