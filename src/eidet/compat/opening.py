"""From what a door is given to the memory it works on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from ..aio import AsyncMemory
from ..core.errors import Misconfigured
from ..memory import Memory
from ..models.embed import Embedder

P = ParamSpec("P")
T = TypeVar("T")
Place = Memory | AsyncMemory | str | Path | None


class ClosesOwnMemory:
    """A context manager around `memory`. It closes a memory it opened; one that was given stays open."""

    memory: Memory
    _owned: bool

    def close(self) -> None:
        """Closes a memory that was opened here; one that was given is its owner's to close."""
        if self._owned:
            self.memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_memory(memory: Place = None, **how: Any) -> Memory:
    """A memory given is itself; a path or URL is opened; None is a new one in RAM.

    `how` are keywords of `Memory` (embedder, settings, clock …) for one that is opened here; None
    means not said. A memory that is there already has its own, so saying them of it is an error.
    """
    said = {name: value for name, value in how.items() if value is not None}
    if isinstance(memory, Memory | AsyncMemory):
        if said:
            raise Misconfigured(
                f"{', '.join(sorted(said))} cannot be changed on a memory that is already open: "
                "set it where you open the memory"
            )
        if isinstance(memory, Memory):
            return memory
        return memory.core
    if memory is not None and not isinstance(memory, str | Path):
        raise Misconfigured(f"memory= must be a Memory, a path, a URL or None, not {type(memory).__name__}")
    return Memory(memory, **said)


def is_shared(memory: object) -> bool:
    """Whether what a door was given is somebody else's, who will close it."""
    return isinstance(memory, Memory | AsyncMemory)


def embedder_in(memory: Memory) -> Embedder:
    """What makes the vectors of a memory."""
    return memory.parts.embedder


def clock_of(memory: Memory) -> Callable[[], float]:
    """The clock that a memory goes by, for doors that have to say when."""
    return memory.parts.clock


async def run(memory: Memory, verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """A synchronous call for an asynchronous door: in a thread, unless nothing in it waits."""
    if memory.parts.waits:
        return await asyncio.to_thread(verb, *args, **kwargs)
    return verb(*args, **kwargs)
