"""Delivers what waits while the program asks for nothing."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from ...core.errors import EidetError

log = logging.getLogger("eidet")

GOODBYE_SECONDS: Final = 1.0  # that closing waits for a delivery that is under way


class Courier:
    """A thread that lives as long as something waits. `deliver` says whether anything still does."""

    def __init__(self, deliver: Callable[[], bool], every: float) -> None:
        self._deliver, self._every = deliver, every
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def call(self) -> None:
        with self._lock:
            if (self._thread is None or not self._thread.is_alive()) and not self._ended.is_set():
                self._thread = threading.Thread(target=self._live, name="eidet-courier", daemon=True)
                self._thread.start()

    def _live(self) -> None:
        while not self._ended.wait(self._every):
            try:
                if not self._deliver():
                    return
            except EidetError as error:
                log.debug("what waits is delivered later: %s", error)

    def stop(self) -> None:
        self._ended.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(GOODBYE_SECONDS)
