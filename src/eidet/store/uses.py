"""Use counts on their way to the store: reads note them here, a later write takes them along."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from ..model import Record
from . import Uses


class UseBuffer:
    """Counts uses in RAM. A process that dies before they are written loses counts, never records."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uses: dict[tuple[str, str], tuple[int, float]] = {}

    def add(self, records: Iterable[Record], now: float) -> None:
        with self._lock:
            for record in records:
                count, last = self._uses.get((record.scope, record.id), (0, now))
                self._uses[record.scope, record.id] = (count + 1, max(last, now))

    def __len__(self) -> int:
        return len(self._uses)

    def give_back(self, uses: Uses) -> None:
        """Keeps what could not be written for another time."""
        with self._lock:
            for key, (count, last) in uses.items():
                more, later = self._uses.get(key, (0, last))
                self._uses[key] = (count + more, max(last, later))

    def take(self) -> Uses:
        """What has gathered; the buffer is empty after it."""
        with self._lock:
            uses, self._uses = self._uses, {}
            return uses
