"""Ends waits that take too long: drivers that cannot do it themselves are closed under whoever waits."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

TURN_SECONDS: Final = 0.2


class HasSocket(Protocol):
    def fileno(self) -> int: ...


class Watch:
    """Shuts the sockets of connections that are used for longer than they may be. One thread, when needed."""

    def __init__(self) -> None:
        self._used: dict[int, tuple[float, HasSocket]] = {}
        self._thread: threading.Thread | None = None
        self._pid = 0
        self._lock = threading.Lock()
        self._ended = threading.Event()

    @contextmanager
    def over(self, connection: HasSocket, seconds: float) -> Iterator[None]:
        mine = id(connection)
        self._used[mine] = (time.monotonic() + seconds, connection)
        if self._pid != os.getpid():
            self._begin()
        try:
            yield
        finally:
            self._used.pop(mine, None)

    def renew(self, connection: HasSocket, seconds: float) -> None:
        """Whoever uses it got an answer, and may use it for so long from now."""
        mine = id(connection)
        if mine in self._used:
            self._used[mine] = (time.monotonic() + seconds, connection)

    def stop(self) -> None:
        self._ended.set()
        if self._thread is not None and self._pid == os.getpid():
            self._thread.join(5)

    def _begin(self) -> None:
        with self._lock:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                self._ended = threading.Event()
                self._thread = threading.Thread(target=self._look, name="eidet-watch", daemon=True)
                self._thread.start()

    def _look(self) -> None:
        while not self._ended.wait(TURN_SECONDS):
            now = time.monotonic()
            for mine, (ends, connection) in list(self._used.items()):
                if ends < now and self._used.pop(mine, None) is not None:
                    shut(connection)


def shut(connection: HasSocket) -> None:
    """Whoever waits on it is told at once that the line is closed."""
    with contextlib.suppress(OSError, ValueError), socket.socket(fileno=os.dup(connection.fileno())) as own:
        own.shutdown(socket.SHUT_RDWR)
