"""Whether a store that is opened without a key really is not sealed; light, because every start asks."""

from __future__ import annotations

from typing import Final

from ...core.errors import Corrupt
from ...core.where import Where
from ...store import SETTINGS, Store
from ...store.traits import path_of

SEAL: Final = "seal"
KEYS: Final = "seal:key:"


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
