"""Settings of the interpreter that let one event loop share a process with threads that compute."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

SWITCH_SECONDS: Final = 0.001  # how long a thread may compute while the loop waits for its turn
LONG_SECONDS: Final = 0.01  # a full garbage collection that took longer would soon hold up requests


class ShortCollections:
    """Keeps garbage collections short. They stop every thread, for long where much is loaded.

    Whatever is there after a long one is exempt from the next ones, as it is likely to stay. Python still
    frees it once nothing refers to it; only cycles among it are kept.
    """

    def __init__(self, longest: float = LONG_SECONDS) -> None:
        self._longest = longest
        self._started = 0.0

    def __call__(self, phase: str, told: dict[str, int]) -> None:
        if phase == "start":
            self._started = time.perf_counter()
        elif told["generation"] == 2 and time.perf_counter() - self._started > self._longest:
            gc.freeze()


@asynccontextmanager
async def calm_process() -> AsyncIterator[None]:
    """Tunes the process for a server while the block lasts; only for processes that do nothing else."""
    watcher, before = ShortCollections(), sys.getswitchinterval()
    gc.collect()
    gc.freeze()
    gc.callbacks.append(watcher)
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
        gc.callbacks.remove(watcher)
        gc.unfreeze()
