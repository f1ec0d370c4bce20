"""Delivers what waits while the program asks for nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from ...core.errors import EidetError
from ...net.worker import BackgroundWorker

log = logging.getLogger("eidet")

GOODBYE_SECONDS: Final = 1.0  # that closing waits for a delivery that is under way


class Courier:
    """A thread that lives as long as something waits. `deliver` says whether anything still does."""

    def __init__(self, deliver: Callable[[], bool], every: float) -> None:
        self._deliver, self._every = deliver, every
        self._worker = BackgroundWorker(
            "eidet-courier", self._try_once, delay_seconds=every, pause_seconds=every, on_error=_log_delay
        )

    def call(self) -> None:
        self._worker.start()

    def _try_once(self) -> float | None:
        return self._every if self._deliver() else None

    def stop(self) -> None:
        self._worker.stop(GOODBYE_SECONDS)

    @property
    def running(self) -> bool:
        return self._worker.running


def _log_delay(error: EidetError) -> None:
    log.debug("what waits is delivered later: %s", error)
