"""Upkeep in the background: a thread that works in small steps, rests between them, and ends when told."""

from __future__ import annotations

import atexit
import logging
import time
from collections.abc import Callable
from typing import Any, Final, Self

from ..core.errors import EidetError
from ..net.worker import UNTIL_WOKEN, BackgroundWorker
from . import Maintained
from .run import Pause

log: logging.Logger = logging.getLogger("eidet")

REST: Final = 0.7  # seconds of rest for each second of work, so that recalls find the processor free
MOST_REST: Final = 0.25
COURTESY: Final = 0.02  # seconds that somebody who asks is waited for
GLANCE: Final = 0.001  # seconds between two looks at that


class UpkeepWorker:
    """Runs a job every so often, or when nudged. Started by `start` or `with`; ended by `stop` or at exit.

    A child process of a fork has no thread: there it does nothing until it is started again.
    """

    def __init__(
        self,
        job: Callable[[Pause], Maintained | None],
        *,
        every: float | None,
        busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._job = job
        self._busy = busy
        self._every = every
        self.last: Maintained | None = None
        self.rounds: int = 0
        self.errors: int = 0
        self.last_error: str = ""
        self._pause = UNTIL_WOKEN if every is None else every
        self._thread = self._make_thread()

    def _make_thread(self) -> BackgroundWorker:
        delay = UNTIL_WOKEN if self._every is None else 0.0
        return BackgroundWorker(
            "eidet-upkeep",
            self._work,
            delay_seconds=delay,
            pause_seconds=self._pause,
            on_error=self._note_failure,
        )

    def start(self) -> Self:
        if not self.running:
            self._thread.start()
            atexit.register(self.stop)
        return self

    def nudge(self) -> None:
        """There is work to do: does it soon, starting the thread if there is none."""
        self.start()
        self._thread.wake()

    def stop(self) -> None:
        """Ends after the batch at hand; returns when the thread is gone. Stopping twice is fine."""
        atexit.unregister(self.stop)
        old, self._thread = self._thread, self._make_thread()
        old.stop()

    @property
    def nudged(self) -> bool:
        """Whether it works only when nudged."""
        return self._every is None

    @property
    def running(self) -> bool:
        return self._thread.running

    def stats(self) -> dict[str, Any]:
        return {
            "running": self.running,
            "rounds": self.rounds,
            "errors": self.errors,
            "last_error": self.last_error,
            "last": "" if self.last is None else str(self.last),
        }

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_raised: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return self.start()

    async def __aexit__(self, *_raised: object) -> None:
        import asyncio

        await asyncio.to_thread(self.stop)

    def _work(self) -> float:
        try:
            done = self._job(_Rests(self._thread.rest, self._busy))
        except EidetError:
            raise
        except Exception as error:
            self._note_failure(error)
            raise
        self.rounds += 1
        self.last = done or self.last
        if done is not None and done.failed:
            self.last_error = done.failed[0]
        return self._pause

    def _note_failure(self, error: Exception) -> None:
        self.errors += 1
        self.last_error = str(error)
        log.warning("upkeep failed; retrying later: %s", error)


class _Rests:
    """Between batches: rests a while, and longer while somebody asks; says whether to stop."""

    def __init__(self, rest: Callable[[float], bool], busy: Callable[[], bool]) -> None:
        self._rest = rest
        self._busy = busy
        self._since = time.perf_counter()

    def __call__(self) -> bool:
        began = time.perf_counter()
        stopped = self._rest(min((began - self._since) * REST, MOST_REST))
        rested = time.perf_counter()
        while not stopped and self._busy() and time.perf_counter() - rested < COURTESY:
            stopped = self._rest(GLANCE)
        self._since = time.perf_counter()
        return stopped
