"""Use counts on their way to the store: reads note them here, a later write takes them along."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from ..core.errors import Unavailable
from ..core.private_files import append_private
from ..core.record import Record
from ..core.validate import dump_json
from . import Uses

FRESH: Final = 0.9  # of its time to live: a record with so much left is not refreshed
URGENT: Final = 0.5  # with less than so much left it is refreshed at once


class UseBuffer:
    """Counts uses in RAM. A process that dies before they are written loses counts, never records."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uses: dict[tuple[str, str], tuple[int, float]] = {}

    def add(self, records: Iterable[Record], now: float) -> None:
        with self._lock:
            uses = self._uses
            for record in records:
                key = (record.scope, record.id)
                count, last = uses.get(key, (0, now))
                uses[key] = (count + 1, max(last, now))

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


class Refreshes:
    """Records with a time to live (`state.ttl`) that were read and shall live on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: dict[str, dict[str, float]] = {}

    def add(self, records: Iterable[Record], now: float) -> bool:
        """Whether one of them is so old that it should not wait."""
        urgent = False
        for record in records:
            if record.expires is not None and (ttl := record.state.ttl) is not None:
                left = (record.expires - now) / ttl
                if left < FRESH:
                    with self._lock:
                        self._read.setdefault(record.scope, {})[record.id] = now
                    urgent = urgent or left < URGENT
        return urgent

    def take(self) -> dict[str, dict[str, float]]:
        """When they were read, by scope and id."""
        with self._lock:
            read, self._read = self._read, {}
            return read


def refresh(record: Record, read: float) -> Record:
    """The record with its time to live begun anew, if it still lived when it was read."""
    ttl = record.state.ttl
    if ttl is None or record.expires is None or record.expires <= read:
        return record
    return record.but(expires=max(record.expires, read + ttl))


def log_uses(path: Path, uses: Uses) -> None:
    """Appends who was used when to a file, a JSON object a line."""
    lines = [
        dump_json({"scope": scope, "id": id, "at": at, "count": count}) + "\n"
        for (scope, id), (count, at) in uses.items()
    ]
    try:
        with append_private(path) as file:
            file.write("".join(lines).encode())
    except OSError as error:
        raise Unavailable(f"the access log {path} cannot be written: {error.strerror}") from error
