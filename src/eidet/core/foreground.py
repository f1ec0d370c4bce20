"""Lets requests go before background work."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar
from typing import Final


class Foreground:
    """A count of the recalls in progress, so that upkeep can let them go first."""

    def __init__(self) -> None:
        self._idle = threading.Condition(threading.Lock())
        self._active = 0

    @contextmanager
    def enter(self) -> Iterator[None]:
        with self._idle:
            self._active += 1
        try:
            yield
        finally:
            with self._idle:
                self._active -= 1
                if not self._active:
                    self._idle.notify_all()

    def wait_until_idle(self, seconds: float) -> float:
        """Waits until no request is running, at most `seconds`. Returns the seconds it waited."""
        if not self._active or seconds <= 0:
            return 0.0
        began = time.perf_counter()
        with self._idle:
            self._idle.wait_for(lambda: not self._active, seconds)
        return time.perf_counter() - began


_GIVEN_UP: Final[ContextVar[threading.Event | None]] = ContextVar("eidet_given_up", default=None)


def watch_for_giving_up(context: Context) -> threading.Event:
    """Returns an event to set once the caller of the work in this context has left."""
    event = threading.Event()
    context.run(_GIVEN_UP.set, event)
    return event


def is_given_up() -> bool:
    """Returns whether the caller of the current work has left."""
    event = _GIVEN_UP.get()
    return event is not None and event.is_set()
