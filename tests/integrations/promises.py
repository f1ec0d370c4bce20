"""What every adapter promises: a write that is cancelled is finished, and one that fails leaves nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from eidet import Memory, Unavailable


async def cancel_at_once(work: Coroutine[Any, Any, object]) -> None:
    """Cancels a call that has just begun, and waits for its end."""
    task = asyncio.create_task(work)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def refuse(*_args: object) -> None:
    raise Unavailable("the disk is away at 10.0.0.7")


@contextmanager
def out_of_reach(memory: Memory) -> Iterator[None]:
    """Lets the store take no write."""
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(type(memory.parts.store), "write", refuse)
        yield
