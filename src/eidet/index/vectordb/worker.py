"""A thread that sends scopes to a database while others search."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from ...core.errors import EidetError

log = logging.getLogger("eidet.index")


class Worker:
    """Does what is asked for, one scope after the other; asking twice for one that waits is asking once."""

    def __init__(self, job: Callable[[str], object]) -> None:
        self._job = job
        self._waiting: dict[str, None] = {}
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._busy = self._ended = False

    def ask(self, scope: str) -> None:
        with self._wake:
            if self._ended:
                return
            self._waiting[scope] = None
            if self._thread is None or not self._thread.is_alive():  # not yet, or lost by a fork
                self._thread = threading.Thread(target=self._run, name="eidet-vectordb", daemon=True)
                self._thread.start()
            self._wake.notify_all()

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
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(seconds)

    def _run(self) -> None:
        while (scope := self._next()) is not None:
            try:
                self._job(scope)
            except EidetError as error:
                log.warning("scope %s was not sent to the vector database: %s", scope, error)
            finally:
                with self._wake:
                    self._busy = False
                    self._wake.notify_all()

    def _next(self) -> str | None:
        with self._wake:
            self._wake.wait_for(lambda: self._waiting or self._ended)
            if self._ended:
                return None
            scope = next(iter(self._waiting))
            del self._waiting[scope]
            self._busy = True
            return scope
