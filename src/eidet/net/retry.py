"""Retries calls to a server within a deadline, and stops asking a server that is down (a circuit breaker).

Every remote backend makes its calls through a `Retrier`. The backend translates what its driver raises into
Eidet's errors; the retrier repeats a call only after `Unavailable`.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from ..core.errors import Misconfigured, Unavailable

T = TypeVar("T")

_GROWTH: Final = 2.0


class OutcomeUnknown(Unavailable):
    """Raised if the connection was lost after a request was sent, which may have taken effect or not."""


class Busy(Unavailable):
    """Raised if the server answers, but asks to be called later. It does not count as down."""


class Hopeless(Unavailable):
    """Raised if the server answers, and would answer the same again: a retry would not help."""


class Full(Hopeless):
    """Raised if the server has no room left: it wrote nothing, and can still be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """The deadline of a call, its pauses between attempts, and when a server counts as down."""

    deadline_seconds: float = 10.0
    first_pause_seconds: float = 0.05
    longest_pause_seconds: float = 1.0
    break_after: int = 5  # failed attempts in a row
    rest_seconds: float = 2.0  # before a server that is down is called again

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not getattr(self, name) > 0:
                raise Misconfigured(f"retry policy: {name} is a number above 0, not {getattr(self, name)!r}")


class Retrier:
    """The caller of one server, with retries and a circuit breaker. Thread-safe."""

    def __init__(
        self,
        name: str,
        policy: RetryPolicy | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        dice: Callable[[], float] = random.random,
    ) -> None:
        self.name = name
        self.policy: RetryPolicy = policy or RetryPolicy()
        self._clock, self._sleep, self._dice = clock, sleep, dice
        self._lock = threading.Lock()
        self._calls = self._retries = self._failures = self._failed_in_a_row = 0
        self._last_error: str | None = None
        self._opens = 0.0  # when a server that counts as down may be called again; else 0
        self._probing = False

    def call(
        self,
        job: Callable[[float], T],
        *,
        idempotent: bool = True,
        deadline_seconds: float | None = None,
        max_attempts: int | None = None,
    ) -> T:
        """Runs the job, which gets the seconds that are left, and returns its answer.

        Repeats the job after `Unavailable` until the deadline, or `max_attempts` times in all. A job that is
        not `idempotent` is not repeated after `OutcomeUnknown`, because it may have taken effect. An
        idempotent one that fails ends with `OutcomeUnknown` if any attempt did. `Hopeless` and all other
        errors pass through. While the server is down, no call is made: the error says when one will be.
        """
        ends = self._clock() + (deadline_seconds or self.policy.deadline_seconds)
        self._enter()
        attempts, doubtful = 0, False
        while True:
            attempts += 1
            try:
                answer = job(max(ends - self._clock(), 0.001))
            except Hopeless:
                self._note_success()
                raise
            except Unavailable as error:
                self._note_failure(error)
                pause = self._pause_after(attempts, error)
                doubtful = doubtful or isinstance(error, OutcomeUnknown)
                final = isinstance(error, OutcomeUnknown) and not idempotent
                if final or attempts == max_attempts or self._clock() + pause >= ends:
                    raise self._final_error(error, attempts, pause, final, doubtful) from error
            except BaseException:
                self._note_success()  # a server that refuses is up
                raise
            else:
                self._note_success()
                return answer
            self._sleep(pause)
            with self._lock:
                self._retries += 1

    def health(self) -> dict[str, Any]:
        """Returns counts, and the state: `up`, `down` (not called for a while) or `unsure` (failed last)."""
        with self._lock:
            unsure = "unsure" if self._failed_in_a_row else "up"
            return {
                "name": self.name,
                "state": "down" if self._opens else unsure,
                "calls": self._calls,
                "retries": self._retries,
                "failures": self._failures,
                "failed_in_a_row": self._failed_in_a_row,
                "last_error": self._last_error,
                "asked_again_in_seconds": max(self._opens - self._clock(), 0.0),
            }

    def _enter(self) -> None:
        """Raises `Unavailable` while the server is down; after a pause, lets one caller at a time through."""
        with self._lock:
            self._calls += 1
            if not self._opens:
                return
            wait = self._opens - self._clock()
            if wait > 0 or self._probing:
                why, again = self._last_error, f"it is asked again in {max(wait, 0.0):.1f} s"
                raise Unavailable(
                    f"{self.name} is down ({why}); {again}",
                    retry_after=max(wait, self.policy.first_pause_seconds),
                )
            self._probing = True

    def _note_success(self) -> None:
        with self._lock:
            self._failed_in_a_row, self._opens, self._probing = 0, 0.0, False

    def _note_failure(self, error: Unavailable) -> None:
        with self._lock:
            self._failures += 1
            self._last_error = str(error)
            if isinstance(error, Busy):
                self._failed_in_a_row, self._opens = 0, 0.0
                return
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= self.policy.break_after:
                self._opens = self._clock() + self.policy.rest_seconds

    def _pause_after(self, attempts: int, error: Unavailable) -> float:
        """Returns a pause that grows with each attempt, with jitter; at least what the server asked for."""
        longest = min(
            self.policy.first_pause_seconds * _GROWTH ** (attempts - 1), self.policy.longest_pause_seconds
        )
        pause = longest * (0.5 + 0.5 * self._dice())
        return max(error.retry_after or 0.0, pause)

    def _final_error(
        self, error: Unavailable, attempts: int, pause: float, final: bool, doubtful: bool
    ) -> Unavailable:
        with self._lock:
            self._probing = False
        if final:
            return OutcomeUnknown(f"{error}; whether it took effect is not known", retry_after=pause)
        times = "once" if attempts == 1 else f"{attempts} times"
        problem = f"{self.name} was tried {times} and did not answer: {error}"
        if doubtful and not isinstance(error, OutcomeUnknown):
            return OutcomeUnknown(f"{problem}; an earlier attempt may have taken effect", retry_after=pause)
        return type(error)(problem, retry_after=pause)
