"""A background thread that runs jobs for scopes."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from ..net.worker import BackgroundWorker


class ScopeWorker:
    """Runs a job per requested scope, one after the other; repeated requests for a scope count once.

    A scope may be requested again while its job runs, unless `rest_seconds` is set: then requests are ignored
    until that long after its job. The job reports its own errors. The thread ends when nothing waits.
    """

    def __init__(
        self,
        name: str,
        job: Callable[[str], object],
        *,
        rest_seconds: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._job, self._rest_seconds, self._clock = job, rest_seconds, clock
        self._waiting: dict[str, None] = {}
        self._current: str | None = None
        self._rests_until: dict[str, float] = {}
        self._changed = threading.Condition()
        self.thread: BackgroundWorker = BackgroundWorker(name, self._step)

    @property
    def busy(self) -> list[str]:
        """The scopes whose jobs wait or run."""
        with self._changed:
            current = [] if self._current is None else [self._current]
            return current + list(self._waiting)

    def ask(self, scope: str) -> None:
        with self._changed:
            if self.thread.stopping or self._rests_until.get(scope, 0.0) > self._clock():
                return
            self._waiting[scope] = None
        self.thread.start()

    def wait_until_idle(self, seconds: float) -> bool:
        """Waits until no job is left; returns False if some are left after `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and self._current is None, seconds)

    def close(self, seconds: float | None = None) -> None:
        """Drops pending jobs and waits for the running one."""
        self.thread.ask_to_stop()
        with self._changed:
            self._waiting.clear()
            self._changed.notify_all()
        self.thread.join(seconds)

    def _step(self) -> float | None:
        scope = self._take()
        if scope is None:
            return None
        try:
            self._job(scope)
        finally:
            self._finish(scope)
        return 0.0

    def _take(self) -> str | None:
        with self._changed:
            self._current = next(iter(self._waiting), None)
            if self._current is not None:
                del self._waiting[self._current]
                if self._rest_seconds:
                    self._rests_until[self._current] = math.inf
            return self._current

    def _finish(self, scope: str) -> None:
        with self._changed:
            self._current = None
            if self._rest_seconds:
                self._rests_until[scope] = self._clock() + self._rest_seconds
            self._changed.notify_all()
