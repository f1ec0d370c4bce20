"""Copies wait here for a thread of their own, one after the other."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from ...core.errors import EidetError
from ...net.worker import BackgroundWorker
from ...store.watchdog import shut
from .fill import Stopped

if TYPE_CHECKING:
    from psycopg import Connection

log = logging.getLogger("eidet.index")

CANCEL_SECONDS: Final = 1.0
JOIN_SECONDS: Final = 5.0
REST_SECONDS: Final = 5.0  # between two copies of a scope: another process may be at it, or the disk full


class Copier:
    """Does what is wished for, once for many wishes. Closing ends what is under way, which is then undone."""

    def __init__(self, work: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._work, self._clock = work, clock
        self._wishes: dict[str, None] = {}
        self._rests: dict[str, float] = {}
        self._thread = BackgroundWorker("eidet-pgvector", self._step)
        self._lock = threading.Lock()
        self._connection: Connection[Any] | None = None

    @property
    def busy(self) -> list[str]:
        """What is wished for or under way."""
        with self._lock:
            return list(self._wishes)

    def stopped(self) -> bool:
        return self._thread.stopping

    def wish(self, path: str) -> None:
        with self._lock:
            if self._thread.stopping or self._rests.get(path, 0.0) > self._clock():
                return
            self._wishes[path] = None
        self._thread.start()

    def _step(self) -> float | None:
        with self._lock:
            path = next(iter(self._wishes), None)
        if path is None:
            return None
        try:
            self._work(path)
        except Stopped:
            return None
        except EidetError as error:
            if not self._thread.stopping:
                log.warning("scope %s could not be copied for the server's index: %s", path, error)
        with self._lock:
            self._rests[path] = self._clock() + REST_SECONDS
            self._wishes.pop(path, None)
        return 0.0

    @contextmanager
    def using(self, connection: Connection[Any]) -> Iterator[None]:
        """The connection that a copy is made on, so that it can be ended; then it is not tried again."""
        from psycopg import Error

        if self._thread.stopping:
            raise Stopped
        self._connection = connection
        try:
            yield
        except (Error, EidetError) as error:
            if self._thread.stopping:
                raise Stopped from error
            raise
        finally:
            self._connection = None

    def close(self) -> None:
        """The server is asked to end what it does; if it does not answer, the line is cut."""
        self._thread.ask_to_stop()
        connection = self._connection
        if not self._thread.running:
            return
        if connection is not None:
            with contextlib.suppress(Exception):  # it may have ended by itself just now
                connection.cancel_safe(timeout=CANCEL_SECONDS)
            if not self._thread.join(CANCEL_SECONDS):
                shut(connection)
        self._thread.join(JOIN_SECONDS)
