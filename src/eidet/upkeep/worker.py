"""Upkeep in the background: a thread that works in small steps, rests between them, and ends when told."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Self

from ..core.errors import EidetError
from . import Maintained
from .run import Pause

log = logging.getLogger("eidet")

REST: Final = 0.7  # seconds of rest for each second of work, so that recalls find the processor free
MOST_REST: Final = 0.25
COURTESY: Final = 0.02  # seconds that somebody who asks is waited for
GLANCE: Final = 0.001  # seconds between two looks at that


class Worker:
    """Runs a job every so often, or when nudged. Started by `start` or `with`; ended by `stop` or at exit.

    A child process of a fork has no thread: there it stands still until it is started again.
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
        self.rounds = 0
        self.errors = 0
        self.last_error = ""
        self._forget_thread()

    def _forget_thread(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> Self:
        if self._pid != os.getpid():
            self._forget_thread()
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._stop.clear()
                self._thread = threading.Thread(target=self._live, name="eidet-upkeep", daemon=True)
                self._thread.start()
                atexit.register(self.stop)
        return self

    def nudge(self) -> None:
        """There is work to do: does it soon, starting the thread if there is none."""
        self.start()
        self._wake.set()

    def stop(self) -> None:
        """Ends after the batch at hand; returns when the thread is gone. Stopping twice is fine."""
        if self._pid != os.getpid():
            return
        self._stop.set()
        self._wake.set()
        atexit.unregister(self.stop)
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    @property
    def nudged(self) -> bool:
        """Whether it works only when nudged."""
        return self._every is None

    @property
    def running(self) -> bool:
        thread = self._thread
        return self._pid == os.getpid() and thread is not None and thread.is_alive()

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import asyncio

        await asyncio.to_thread(self.stop)

    def _live(self) -> None:
        if self._every is None:
            self._wake.wait()
        while not self._stop.is_set():
            self._wake.clear()
            self._work()
            self._wake.wait(self._every)

    def _work(self) -> None:
        try:
            done = self._job(_Rests(self._stop, self._busy))
        except EidetError as error:
            self._note_failure(error)
        except Exception as error:
            self._note_failure(error)
            log.exception("upkeep stopped because of a bug")
            raise
        else:
            self.rounds += 1
            self.last = done or self.last
            if done is not None and done.failed:
                self.last_error = done.failed[0]

    def _note_failure(self, error: Exception) -> None:
        self.errors += 1
        self.last_error = str(error)
        log.warning("upkeep failed; retrying later: %s", error)


class _Rests:
    """Between batches: rests a while, and longer while somebody asks; says whether to stop."""

    def __init__(self, stop: threading.Event, busy: Callable[[], bool]) -> None:
        self._stop = stop
        self._busy = busy
        self._since = time.perf_counter()

    def __call__(self) -> bool:
        began = time.perf_counter()
        stopped = self._stop.wait(min((began - self._since) * REST, MOST_REST))
        rested = time.perf_counter()
        while not stopped and self._busy() and time.perf_counter() - rested < COURTESY:
            stopped = self._stop.wait(GLANCE)
        self._since = time.perf_counter()
        return stopped
