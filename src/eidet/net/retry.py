"""Calls to a server that may be slow, away or gone: tried again within a deadline, and left alone while down.

Every remote backend runs its calls through one `Line`. What a driver raises is turned into Eidet's errors by
the backend; here only `Unavailable` may pass and is tried again.
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

GROWTH: Final = 2.0


class Unsure(Unavailable):
    """The line was cut after a request was sent: it may have taken effect or not."""


class Busy(Unavailable):
    """The server answers, but not what was asked: it wants to be asked later. It is not down."""


class Full(Busy):
    """The server has no room left: nothing was written, and what it holds can be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a call may take in all, how it waits between tries, and when a server counts as down."""

    deadline_seconds: float = 10.0
    first_pause_seconds: float = 0.05
    longest_pause_seconds: float = 1.0
    break_after: int = 5  # failed tries in a row
    rest_seconds: float = 2.0  # before a server that is down is asked again

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not getattr(self, name) > 0:
                raise Misconfigured(f"patience: {name} is a number above 0, not {getattr(self, name)!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How a line does: `up`, `down` (left alone for a while) or `unsure` (its last try failed)."""

    name: str
    state: str
    calls: int = 0
    retries: int = 0
    failures: int = 0
    failed_in_a_row: int = 0
    last_error: str | None = None
    asked_again_in_seconds: float = 0.0


class Line:
    """The way to one server. Safe from many threads."""

    def __init__(
        self,
        name: str,
        patience: Patience | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        dice: Callable[[], float] = random.random,
    ) -> None:
        self.name = name
        self.patience = patience or Patience()
        self._clock, self._sleep, self._dice = clock, sleep, dice
        self._lock = threading.Lock()
        self._calls = self._retries = self._failures = self._in_a_row = 0
        self._last: str | None = None
        self._opens = 0.0  # while the server counts as down: when it is asked again
        self._probing = False

    def call(
        self,
        job: Callable[[float], T],
        *,
        again: bool = True,
        deadline_seconds: float | None = None,
        most: int | None = None,
    ) -> T:
        """What the job answers; it is told how many seconds are left.

        `Unavailable` is tried again until the deadline, or `most` times in all; without `again`, `Unsure`
        is not, because the request may have taken effect. `Full` and all other errors pass. A server
        that is down is not asked: the error says when it will be.
        """
        ends = self._clock() + (deadline_seconds or self.patience.deadline_seconds)
        self._enter()
        tries = 0
        while True:
            tries += 1
            try:
                answer = job(max(ends - self._clock(), 0.001))
            except Full:
                self._answered()
                raise
            except Unavailable as error:
                self._failed(error)
                pause = self._pause(tries, error)
                final = isinstance(error, Unsure) and not again
                if final or tries == most or self._clock() + pause >= ends:
                    raise self._given_up(error, tries, pause, final) from error
            except BaseException:
                self._answered()  # a server that refuses is a server that answers
                raise
            else:
                self._answered()
                return answer
            self._sleep(pause)
            with self._lock:
                self._retries += 1

    def health(self) -> Health:
        with self._lock:
            wait = max(self._opens - self._clock(), 0.0)
            state = "down" if self._opens else "unsure" if self._in_a_row else "up"
            return Health(
                name=self.name,
                state=state,
                calls=self._calls,
                retries=self._retries,
                failures=self._failures,
                failed_in_a_row=self._in_a_row,
                last_error=self._last,
                asked_again_in_seconds=wait,
            )

    def told(self) -> dict[str, Any]:
        """The same, for `stats`."""
        health = self.health()
        return {name: getattr(health, name) for name in Health.__slots__}

    def _enter(self) -> None:
        """While the server is down, one caller at a time may try it, and only after its rest."""
        with self._lock:
            self._calls += 1
            if not self._opens:
                return
            wait = self._opens - self._clock()
            if wait > 0 or self._probing:
                raise Unavailable(
                    f"{self.name} is down ({self._last}); it is asked again in {max(wait, 0.0):.1f} s",
                    retry_after=max(wait, self.patience.first_pause_seconds),
                )
            self._probing = True

    def _answered(self) -> None:
        with self._lock:
            self._in_a_row, self._opens, self._probing = 0, 0.0, False

    def _failed(self, error: Unavailable) -> None:
        with self._lock:
            self._failures += 1
            self._last = str(error)
            if isinstance(error, Busy):
                self._in_a_row, self._opens = 0, 0.0
                return
            self._in_a_row += 1
            if self._in_a_row >= self.patience.break_after:
                self._opens = self._clock() + self.patience.rest_seconds

    def _pause(self, tries: int, error: Unavailable) -> float:
        """Longer each time, and never the same for two callers; as long as the server asks, if it does."""
        longest = min(
            self.patience.first_pause_seconds * GROWTH ** (tries - 1), self.patience.longest_pause_seconds
        )
        pause = longest * (0.5 + 0.5 * self._dice())
        return pause if error.retry_after is None else max(error.retry_after, pause)

    def _given_up(self, error: Unavailable, tries: int, pause: float, final: bool) -> Unavailable:
        with self._lock:
            self._probing = False
        if final:
            return Unsure(f"{error}; whether it took effect is not known", retry_after=pause)
        times = "once" if tries == 1 else f"{tries} times"
        return type(error)(f"{self.name} was tried {times} and did not answer: {error}", retry_after=pause)
