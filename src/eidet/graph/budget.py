"""What one question to a graph may cost: a number of steps, and seconds since it was asked."""

from __future__ import annotations

import math
import sys
import time
from typing import Final

from ..core.errors import BadInput, Unavailable
from ..core.foreground import is_given_up

CHECKED: Final = 256  # steps between two looks at the clock


class Budget:
    """Counts the steps of one question. A step is a fact that is looked at.

    The time counts from when it was made, so waiting for others who ask the same graph counts too.
    """

    __slots__ = ("_ends", "_left", "_next_check", "seconds", "steps")

    def __init__(self, steps: int = sys.maxsize, seconds: float = math.inf) -> None:
        self.steps, self.seconds = steps, seconds
        self._left = steps
        self._next_check = steps  # so that the first step looks at the clock
        self._ends = time.monotonic() + seconds

    @property
    def spent(self) -> int:
        return self.steps - self._left

    def spend(self, steps: int = 1) -> None:
        """Takes steps; `BadInput` if there are none left, or the time is over."""
        self._left -= steps
        if self._left < 0:
            raise BadInput(f"the question takes more than {self.steps:,} steps (fact_steps); {_TODO}")
        if self._left < self._next_check:
            self._next_check = self._left - CHECKED
            self._check_time()

    def _check_time(self) -> None:
        if is_given_up():
            raise Unavailable("nobody waits for the answer any more")
        if time.monotonic() > self._ends:
            raise BadInput(f"the question takes more than {self.seconds:g} seconds (fact_seconds); {_TODO}")


_TODO: Final = (
    "name entities and relations in the patterns, ask with fewer patterns or hops, or in a smaller scope, "
    "or raise that setting"
)
