"""A vector database as index: `Settings(index="shelves://name")`. This one is a dict in this process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from eidet.core.settings import Settings
from eidet.index import Floats
from eidet.index.vectordb import UNIT_BITS, Match, Point, VectorLost, VectorShelf
from eidet.index.vectordb.address import DatabaseAddress, open_vector_index
from eidet.index.vectordb.index import VectorIndex
from eidet.net.retry import Retrier
from eidet.store import Store

Points = dict[int, Point]
_databases: dict[str, dict[VectorShelf, Points]] = {}


def shelves(store: Store, width: int, *, settings: Settings, **parts: Any) -> VectorIndex:
    """Eidet calls this; what follows the store, fills the database and ranks comes with Eidet."""
    return open_vector_index(Shelves, store, width, settings, **parts)


class Shelves:
    """What `eidet.index.vectordb.Database` asks for. A real one makes its calls through `line`."""

    most, batch, settle_seconds = 10_000, 1_000, 0.0

    def __init__(self, address: DatabaseAddress) -> None:
        self.retrier = Retrier(address.shown, address.retry_policy)
        self._shelves = _databases.setdefault(address.target, {})
        self._lock = threading.Lock()

    def prepare(self, shelf: VectorShelf) -> None:
        self._shelves.setdefault(shelf, {})

    def put(self, shelf: VectorShelf, points: Sequence[Point]) -> None:
        with self._lock:
            self._on(shelf).update((point.key, point) for point in points)

    def remove(self, shelf: VectorShelf, seqs: Sequence[int]) -> None:
        gone = set(seqs)
        with self._lock:
            on = self._on(shelf)
            for key in [key for key in on if key >> UNIT_BITS in gone]:
                del on[key]

    def near(
        self, shelf: VectorShelf, vector: Floats, limit: int, *, seqs: Sequence[int] | None = None
    ) -> list[Match]:
        named = None if seqs is None else set(seqs)
        with self._lock:
            chosen = [point for point in self._on(shelf).values() if named is None or point.seq in named]
        matches = [Match(point.key, float(point.vector @ vector)) for point in chosen]
        return sorted(matches, key=lambda match: -match.score)[:limit]

    def count(self, shelf: VectorShelf) -> int:
        return len(self._shelves.get(shelf, {}))

    def discard(self, shelf: VectorShelf) -> None:
        self._shelves.pop(shelf, None)

    def close(self) -> None:
        """The dict stays, as a server would."""

    def _on(self, shelf: VectorShelf) -> Points:
        if shelf not in self._shelves:
            raise VectorLost(f"{self.retrier.name} has no shelf {shelf.name}")
        return self._shelves[shelf]
