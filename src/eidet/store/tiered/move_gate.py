"""Keeps readers away while a record is on its way between two stores: nobody counts it twice."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """Many read at once; a mover waits for them, and they wait for it."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._readers = 0
        self._mover: int | None = None

    @contextmanager
    def reading(self) -> Iterator[None]:
        me = threading.get_ident()
        with self._free:
            self._free.wait_for(lambda: self._mover in (None, me))
            self._readers += 1
        try:
            yield
        finally:
            with self._free:
                self._readers -= 1
                self._free.notify_all()

    @contextmanager
    def moving(self) -> Iterator[None]:
        with self._free:
            self._free.wait_for(lambda: self._mover is None and self._readers == 0)
            self._mover = threading.get_ident()
        try:
            yield
        finally:
            with self._free:
                self._mover = None
                self._free.notify_all()
