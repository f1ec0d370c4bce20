"""Ends waits that take too long: drivers that cannot do it themselves are closed under whoever waits."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from ..core.errors import EidetError, Unavailable
from ..net.worker import BackgroundWorker

TURN_SECONDS: Final = 0.2
OVERDUE: Final = (
    "no answer within {:.3g} s, so the line was closed from here; if the server needs more time, "
    "set eidet_deadline_seconds in its address"
)


class HasSocket(Protocol):
    def fileno(self) -> int: ...


class Watchdog:
    """Shuts the sockets of connections that are used for longer than they may be. One thread, when needed."""

    def __init__(self) -> None:
        self._used: dict[int, tuple[float, HasSocket]] = {}
        self._worker = BackgroundWorker("eidet-watch", self._look, delay_seconds=TURN_SECONDS)

    @contextmanager
    def over(self, connection: HasSocket, seconds: float) -> Iterator[None]:
        """`Unavailable` for whoever is cut off: the driver would say that the server closed the line."""
        mine = id(connection)
        self._used[mine] = (time.monotonic() + seconds, connection)
        if not self._worker.running:
            self._worker.start()
        try:
            yield
        except Exception as error:
            if mine in self._used or isinstance(error, EidetError):
                raise
            raise Unavailable(OVERDUE.format(seconds)) from error
        finally:
            self._used.pop(mine, None)

    def renew(self, connection: HasSocket, seconds: float) -> None:
        """Whoever uses it got an answer, and may use it for so long from now."""
        mine = id(connection)
        if mine in self._used:
            self._used[mine] = (time.monotonic() + seconds, connection)

    def stop(self) -> None:
        self._worker.stop(5)

    def _look(self) -> float:
        now = time.monotonic()
        for mine, (ends, connection) in list(self._used.items()):
            if ends < now and self._used.pop(mine, None) is not None:
                shut(connection)
        return TURN_SECONDS


def shut(connection: HasSocket) -> None:
    """Whoever waits on it is told at once that the line is closed."""
    with contextlib.suppress(OSError, ValueError), socket.socket(fileno=os.dup(connection.fileno())) as own:
        own.shutdown(socket.SHUT_RDWR)
