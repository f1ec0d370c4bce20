"""A background thread that runs jobs for scopes."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..net.worker import BackgroundWorker


class ScopeWorker:
    """Runs a job per requested scope, one after the other; repeated requests for a scope count once.

    A scope may be requested again while its job runs. The job reports its own errors. The thread ends when
    nothing waits.
    """

    def __init__(self, name: str, job: Callable[[str], object]) -> None:
        self._job = job
        self._waiting: dict[str, None] = {}
        self._current: str | None = None
        self._lock = threading.Lock()
        self.thread: BackgroundWorker = BackgroundWorker(name, self._step)

    @property
    def busy(self) -> list[str]:
        """The scopes whose jobs wait or run."""
        with self._lock:
            current = [] if self._current is None else [self._current]
            return current + list(self._waiting)

    def ask(self, scope: str) -> None:
        with self._lock:
            if self.thread.stopping:
                return
            self._waiting[scope] = None
        self.thread.start()

    def close(self, seconds: float | None = None) -> None:
        """Drops pending jobs and waits for the running one."""
        self.thread.ask_to_stop()
        with self._lock:
            self._waiting.clear()
        self.thread.join(seconds)

    def _step(self) -> float | None:
        with self._lock:
            self._current = next(iter(self._waiting), None)
            if self._current is None:
                return None
            del self._waiting[self._current]
        try:
            self._job(self._current)
        finally:
            with self._lock:
                self._current = None
        return 0.0
