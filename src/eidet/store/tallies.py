"""Tallies on their way to the store: recalls count here, a later write takes the counts along."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping

from ..quality import RESPONSIVE, Tally, score_name, time_name


class TallyBuffer:
    """Counts in RAM. A process that dies before they are written loses counts, never records."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[tuple[str, int, str], dict[str, int]] = {}
        self._waiting = 0

    def count_recall(
        self, scope: str, day: int, what: str, *, hits: int, score: float | None, seconds: float
    ) -> None:
        """Counts a recall; `score` is the best one, None where scores mean nothing. Must be cheap."""
        spent, best = time_name(seconds), None if score is None else score_name(score)
        with self._lock:
            self._waiting += 1
            row = self._rows.get((scope, day, what)) or self._row((scope, day, what))
            row["recalls"] += 1
            row["micros"] += int(seconds * 1e6)
            row[spent] += 1
            if seconds <= RESPONSIVE:
                row["quick"] += 1
            if hits:
                row["hits"] += hits
            else:
                row["empty"] += 1
            if best is not None:
                row[best] += 1

    def add(self, scope: str, day: int, what: str, counts: Mapping[str, int]) -> None:
        with self._lock:
            self._waiting += 1
            self._add((scope, day, what), counts)

    def __len__(self) -> int:
        """How often something was counted since the last time all was taken."""
        return self._waiting

    def rows(self) -> list[Tally]:
        """What waits, as it is now."""
        with self._lock:
            return [Tally(*key, dict(counts)) for key, counts in self._rows.items()]

    def take(self) -> list[Tally]:
        """What has gathered; the buffer is empty after it."""
        with self._lock:
            rows, self._rows, self._waiting = self._rows, {}, 0
        return [Tally(*key, counts) for key, counts in rows.items()]

    def give_back(self, rows: Iterable[Tally]) -> None:
        """Keeps what could not be written for another time."""
        with self._lock:
            for scope, day, what, counts in rows:
                self._waiting += 1
                self._add((scope, day, what), counts)

    def _add(self, key: tuple[str, int, str], counts: Mapping[str, int]) -> None:
        row = self._row(key)
        for name, count in counts.items():
            row[name] += count

    def _row(self, key: tuple[str, int, str]) -> dict[str, int]:
        return self._rows.setdefault(key, defaultdict(int))
