"""Whether a database holds what the store says: counts, and the vectors of a sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...models.embed.quantise import first_rows
from ...store import Store
from ..embedded.vectors import unit
from . import UNIT_BITS, Database, VectorShelf

ALIKE = 0.99


def count_points(database: Database, shelf: VectorShelf, wanted: int, sleep: Callable[[float], None]) -> int:
    """How many points there are; a database that settles late is given the time."""
    left = database.settle_seconds
    while (count := database.count(shelf)) != wanted and left > 0:
        sleep(min(left, 1.0))
        left -= 1.0
    return count


def count_wrong(database: Database, shelf: VectorShelf, store: Store, scope: str, keys: Sequence[int]) -> int:
    """How many of the keys have another vector than the store's record, or none; first units only."""
    there = database.vectors(shelf, keys)
    wrong = 0
    for key, record in zip(keys, store.read(scope, [key >> UNIT_BITS for key in keys]), strict=True):
        if record is not None and not key & ((1 << UNIT_BITS) - 1):
            (row,) = first_rows([record.vector], [record.level], shelf.width)
            wrong += key not in there or float(unit(row) @ unit(there[key])) < ALIKE
    return wrong
