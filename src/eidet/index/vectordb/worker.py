"""A thread that sends scopes to a database while others search."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from ...core.errors import EidetError
from ...net.worker import UNTIL_WOKEN, BackgroundWorker

log = logging.getLogger("eidet.index")


class Worker:
    """Does what is asked for, one scope after the other; asking twice for one that waits is asking once."""

    def __init__(self, job: Callable[[str], object]) -> None:
        self._job = job
        self._waiting: dict[str, None] = {}
        self._wake = threading.Condition()
        self._thread = BackgroundWorker("eidet-vectordb", self._step)
        self._busy = self._ended = False

    def ask(self, scope: str) -> None:
        with self._wake:
            if self._ended:
                return
            self._waiting[scope] = None
        self._thread.wake()

    def settled(self, seconds: float) -> bool:
        """Waits until nothing is left to do; whether that is so."""
        with self._wake:
            return self._wake.wait_for(lambda: not self._waiting and not self._busy, seconds)

    def close(self, seconds: float = 30.0) -> None:
        """What waits is left; what is being done is finished."""
        with self._wake:
            self._ended = True
            self._waiting.clear()
            self._wake.notify_all()
        self._thread.stop(seconds)

    def _step(self) -> float:
        if (scope := self._next()) is None:
            return UNTIL_WOKEN
        try:
            self._job(scope)
        except EidetError as error:
            log.warning("scope %s was not sent to the vector database: %s", scope, error)
        finally:
            with self._wake:
                self._busy = False
                self._wake.notify_all()
        return 0.0

    def _next(self) -> str | None:
        with self._wake:
            if self._ended or not self._waiting:
                return None
            scope = next(iter(self._waiting))
            del self._waiting[scope]
            self._busy = True
            return scope
