"""Small things of asyncio that the stores share."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from typing import Any

PAUSE = 0.001


class FairLock:
    """One at a time across awaits, first come first served, whichever event loop or thread they come from.

    An asyncio.Lock belongs to one loop; a store may be used from several. Who is cancelled while
    waiting leaves the queue. A task that has the turn may take it again (`async with turns as again`).
    """

    def __init__(self) -> None:
        self._queue: deque[object] = deque()
        self._again = 0

    async def __aenter__(self) -> bool:
        place = asyncio.current_task()
        if self._queue and self._queue[0] is place:
            self._again += 1
            return True
        self._queue.append(place)
        try:
            while self._queue[0] is not place:  # noqa: ASYNC110 - another loop cannot wake this one
                await asyncio.sleep(PAUSE)
        except BaseException:
            self._queue.remove(place)
            raise
        return False

    async def __aexit__(self, *_raised: object) -> None:
        if self._again:
            self._again -= 1
        else:
            self._queue.popleft()


async def await_if_needed(answer: Any) -> Any:
    """What a function of the user gave, or what it promised."""
    return await answer if inspect.isawaitable(answer) else answer
