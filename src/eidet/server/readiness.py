"""Whether the memory answers: a probe never waits long, and a store that is away is asked once."""

from __future__ import annotations

import asyncio
from typing import Final

from ..aio import AsyncMemory
from .errors import make_unavailable

PATIENCE: Final = 1.5  # seconds; whoever probes usually waits for two


class Readiness:
    """Probes share one question to the store: while it hangs, the next probe waits for the same answer."""

    def __init__(self) -> None:
        self._asking: asyncio.Task[int] | None = None

    async def check(self, memory: AsyncMemory) -> None:
        """Returns if the memory answers; 503 if it fails, or does not answer in time."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.ensure_future(memory.count(scope="default", who="nobody in particular"))
            self._asking.add_done_callback(_take_note)
        try:
            await asyncio.wait_for(asyncio.shield(self._asking), PATIENCE)
        except TimeoutError:
            raise make_unavailable() from None


def _take_note(asked: asyncio.Task[int]) -> None:
    """An error that comes after the probe was answered is nobody's: do not let asyncio complain of it."""
    if not asked.cancelled():
        asked.exception()
