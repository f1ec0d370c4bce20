"""A background thread that runs a job in steps, sleeps between them, and ends when asked to."""

from __future__ import annotations

import logging
import math
import os
import threading
from collections.abc import Callable
from typing import Final

from ..core.errors import EidetError

log: logging.Logger = logging.getLogger("eidet")

UNTIL_WOKEN: Final = math.inf
_EVER: Final = threading.TIMEOUT_MAX


def _log_failure(error: EidetError) -> None:
    log.warning("%s failed and is tried again later: %s", threading.current_thread().name, error)


class BackgroundWorker:
    """A worker that runs `step` repeatedly in a daemon thread, which starts on first use.

    A step returns the seconds until the next one, `UNTIL_WOKEN`, or None when nothing is left to do: then
    the thread ends, and `start` or `wake` begins a new one. After an `EidetError` the worker calls
    `on_error`, pauses and goes on; any other error is logged and ends the thread. A child process of a fork
    has no thread: there the next `start` or `wake` begins one. Once stopped, a worker stays stopped.
    """

    def __init__(
        self,
        name: str,
        step: Callable[[], float | None],
        *,
        delay_seconds: float = 0.0,
        pause_seconds: float = 1.0,
        on_error: Callable[[EidetError], None] = _log_failure,
    ) -> None:
        """A thread sleeps `delay_seconds` before its first step and `pause_seconds` after a failed one."""
        self._name, self._step = name, step
        self._delay, self._pause, self._on_error = delay_seconds, pause_seconds, on_error
        self._stopping = threading.Event()
        self._enter_process()

    def _enter_process(self) -> None:
        """Makes new locks: the old ones may have been held by a thread that a fork left behind."""
        stopped = self._stopping.is_set()
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._stopping = threading.Event()
        self._wanted = False
        self._thread: threading.Thread | None = None
        if stopped:
            self._stopping.set()

    @property
    def running(self) -> bool:
        thread = self._thread
        return thread is not None and self._pid == os.getpid() and thread.is_alive()

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    def start(self) -> None:
        """Starts a thread unless one is running; a thread that is about to end does another step instead."""
        if self._pid != os.getpid():
            self._enter_process()
        with self._lock:
            if self._stopping.is_set():
                return
            self._wanted = True
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def wake(self) -> None:
        """Ends the sleep between two steps; starts a thread unless one is running."""
        self.start()
        self._woken.set()

    def rest(self, seconds: float) -> bool:
        """Sleeps inside a step, at most until `stop`. Returns whether the worker is to stop."""
        return self._stopping.wait(seconds)

    def ask_to_stop(self) -> None:
        """Asks the worker to stop after the current step. Returns at once."""
        if self._pid != os.getpid():
            self._enter_process()
        self._stopping.set()
        self._woken.set()

    def join(self, seconds: float | None = None) -> bool:
        """Waits until the thread has ended. Returns whether it has. A step never waits for itself."""
        thread = self._thread
        if thread is None or self._pid != os.getpid() or thread is threading.current_thread():
            return True
        thread.join(seconds)
        return not thread.is_alive()

    def stop(self, seconds: float | None = None) -> bool:
        """Stops after the current step, and waits for it at most `seconds`. Stopping twice is fine."""
        self.ask_to_stop()
        return self.join(seconds)

    def _run(self) -> None:
        self._sleep(self._delay)
        while not self._stopping.is_set():
            self._woken.clear()
            self._wanted = False
            pause = self._do_step()
            if pause is not None:
                self._sleep(pause)
            elif self._may_end():
                return

    def _do_step(self) -> float | None:
        try:
            return self._step()
        except EidetError as error:
            self._on_error(error)
            return self._pause
        except Exception:
            log.exception("%s ended by an error of the program", self._name)
            raise

    def _may_end(self) -> bool:
        with self._lock:
            if not self._wanted:
                self._thread = None
            return not self._wanted

    def _sleep(self, seconds: float) -> None:
        if seconds > 0:
            self._woken.wait(min(seconds, _EVER))
