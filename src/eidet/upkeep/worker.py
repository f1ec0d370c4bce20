"""Upkeep in the background: a thread that works in small steps and rests between them."""

from __future__ import annotations

import atexit
import logging
import time
from collections.abc import Callable
from typing import Any, Final, Self

from ..core.errors import EidetError
from ..core.foreground import Foreground
from ..net.worker import UNTIL_WOKEN, BackgroundWorker
from . import Maintained

log: logging.Logger = logging.getLogger("eidet")

_REST: Final = 0.7  # seconds of rest for each second of work, so that recalls find the processor free
_MOST_REST: Final = 0.25
COURTESY: Final = 0.02  # longest wait for foreground callers, in seconds
_PATIENCE: Final = 4.0  # most seconds of waiting for each second of work, so that upkeep never starves


class UpkeepWorker:
    """Runs a job at intervals, or when nudged. Starts with `start` or `with`; ends with `stop` or at exit.

    In a forked child process, there is no thread and nothing runs until it is started again.
    """

    def __init__(
        self,
        job: Callable[[Breaks], Maintained | None],
        *,
        every: float | None,
        foreground: Foreground,
    ) -> None:
        self._job = job
        self._foreground = foreground
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
        """Requests a run soon; starts the thread if it is not running."""
        self.start()
        self._thread.wake()

    def stop(self) -> None:
        """Stops after the current batch and waits for the thread to end. Stopping twice is harmless."""
        atexit.unregister(self.stop)
        old, self._thread = self._thread, self._make_thread()
        old.stop()

    @property
    def nudged(self) -> bool:
        """Whether the worker runs only when nudged."""
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
            done = self._job(Breaks(self._thread.rest, self._foreground))
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


class Breaks:
    """Paces the background work. A call between steps rests and returns whether to stop."""

    def __init__(self, rest: Callable[[float], bool], foreground: Foreground) -> None:
        self._rest = rest
        self._foreground = foreground
        self._since = time.perf_counter()
        self._waited = 0.0  # seconds of waiting since then
        self._patience = COURTESY

    def __call__(self) -> bool:
        worked = time.perf_counter() - self._since - self._waited
        stopped = self._rest(min(worked * _REST, _MOST_REST))
        self._patience = min(self._patience + worked * _PATIENCE, COURTESY)
        self._since, self._waited = time.perf_counter(), 0.0
        if not stopped:
            self.give_way()
        return stopped

    def give_way(self) -> None:
        """Waits for foreground callers, also within a step, as long as the patience lasts."""
        waited = self._foreground.wait_until_idle(self._patience)
        self._patience -= waited
        self._waited += waited
