"""Lets what somebody waits for go before what runs in the background."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Foreground:
    """Counts recalls in progress, so that upkeep can let them go first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._active = 0

    @property
    def busy(self) -> bool:
        return self._active > 0

    @contextmanager
    def enter(self) -> Iterator[None]:
        with self._lock:
            self._active += 1
        try:
            yield
        finally:
            with self._lock:
                self._active -= 1
