"""Names that nobody can read in a file or guess: a keyed hash stands for them."""

from __future__ import annotations

import hmac

from ..store import Store
from ..store.tombstones import secret_of


def hide_name(store: Store, name: str) -> str:
    """The same 32 characters for the same name on this store, and others on every other."""
    return hmac.digest(secret_of(store, "names"), name.encode(), "sha256").hex()[:32]
