"""A model that does not answer is left alone for a while: no long upkeep waits for it again and again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from ...core.errors import Unavailable
from . import LLM, Answer, Request

ENOUGH = 3  # failures running
PAUSE = 30.0  # seconds, where the server did not ask for more
LONGEST = 900.0  # seconds, whatever it asked for


class Resting:
    """An LLM around an LLM: after three `Unavailable` running it answers `Unavailable` at once, for a while.

    Then one question goes through: if it is answered, all is well again.
    """

    def __init__(self, inner: LLM, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.inner = inner
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._until = 0.0

    @property
    def name(self) -> str:
        return self.inner.name

    def __repr__(self) -> str:
        return repr(self.inner)

    def ask(self, request: Request) -> Answer:
        self._pass()
        try:
            answer = self.inner.ask(request)
        except Unavailable as error:
            self._note_failure(error)
            raise
        self._failures = 0
        return answer

    def _pass(self) -> None:
        with self._lock:
            left = self._until - self._clock()
            if self._failures < ENOUGH:
                return
            if left > 0:
                raise Unavailable(
                    f"{self.name} failed {self._failures} times running; the next try is in {left:.0f} s",
                    retry_after=left,
                )
            self._until = self._clock() + PAUSE  # one question goes; the others wait for how it fares

    def _note_failure(self, error: Unavailable) -> None:
        with self._lock:
            self._failures += 1
            self._until = self._clock() + min(max(PAUSE, error.retry_after or 0.0), LONGEST)
