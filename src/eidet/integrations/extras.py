"""Shared parts of the adapters: errors for missing frameworks, scopes by context, writes that survive a
cancellation, rising times, and keys of items that may be sent twice."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from functools import partial, update_wrapper
from hashlib import blake2b
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from ..core.draft import Draft
from ..core.errors import MissingExtra
from ..core.record import Record, key_id
from ..core.scope import Scope
from ..core.where import Where
from ..memory import Memory

C = TypeVar("C")
P = ParamSpec("P")
T = TypeVar("T")

_UNSAFE: Final = re.compile(r"[^\w .,:;@+=~!'()-]|^\s|\s$|\n")  # in a label of a scope
STEP: Final = 1e-6  # seconds between two records that are stored together


def make_missing(framework: str, extra: str) -> MissingExtra:
    """Returns the error for a framework that cannot be imported; it names the command to install it."""
    return MissingExtra(f"the adapter to {framework}", extra=extra)


def check_scope(scope: str | Callable[[C], str]) -> str | Callable[[C], str]:
    """Checks a scope: a name, or a function that returns one for a run's context."""
    return scope if callable(scope) else Scope.exactly(scope).path


def find_scope(scope: str | Callable[[C], str], context: C) -> str:
    """Returns the scope that a run works in."""
    return Scope.exactly(scope(context)).path if callable(scope) else scope


def quote_label(label: str) -> str:
    """Quotes any text as a scope label with percent signs; `urllib.parse.unquote` reverses it."""
    return _UNSAFE.sub(_percent, label)


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


async def finish(work: Callable[[], T]) -> T:
    """Runs work in a thread and waits for its end, even if the caller is cancelled meanwhile.

    The cancellation is raised afterwards: a cancelled caller can rely on the write having ended.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work))
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = cancelled or error
    if cancelled is not None:
        task.exception()  # mark it as seen: the cancellation is what is raised
        raise cancelled
    return task.result()


def finishing(
    method: Callable[Concatenate[Any, P], T], inner: str | None = None
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Returns a method for asyncio, by `finish`, with the same docstring; subclasses may override it.

    It calls the method of the object itself, or of its attribute `inner`.
    """

    async def run(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        chosen = self if inner is None else getattr(self, inner)
        return await finish(partial(getattr(chosen, method.__name__), *args, **kwargs))

    return update_wrapper(run, method)


class RisingTimes:
    """Times that rise by at least a microsecond, so that records stored together keep their order."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last = 0.0

    def take(self, count: int) -> list[float]:
        with self._lock:
            start = max(self._clock(), self._last + STEP)
            times = [start + number * STEP for number in range(count)]
            if times:
                self._last = times[-1]
            return times

    def pair(self, items: Sequence[T]) -> Iterator[tuple[T, float]]:
        """Yields each item with a time of its own."""
        return zip(items, self.take(len(items)), strict=True)


def drop_known(memory: Memory, drafts: Sequence[Draft], scope: str) -> list[Draft]:
    """Drops drafts whose keys are already stored, and repeated keys, for callers that may send twice."""
    fresh: dict[str, Draft] = {}
    for draft in drafts:
        fresh.setdefault(key_id(draft.key or ""), draft)
    there = memory.get(list(fresh), scope=scope)
    return [draft for draft, known in zip(fresh.values(), there, strict=True) if known is None]


def read_all(
    memory: Memory, where: Where, scope: str, *, session: str | None = None, newest: int | None = None
) -> list[Record]:
    """Reads whole records that match, oldest first; only the `newest` ones, if given."""
    found = memory.find(where, scope=scope, session=session, order="-occurred", limit=newest)
    return [record.whole for record in reversed(found)]


def list_texts(content: object) -> list[str]:
    """Returns the texts of a message's content, which is a text or a list of parts."""
    if isinstance(content, str):
        return [content]
    return [
        part["text"]
        for part in (content if isinstance(content, list | tuple) else ())
        if isinstance(part, Mapping) and isinstance(part.get("text"), str)
    ]


def join_key(*parts: str) -> str:
    """Joins several parts to one key."""
    return "\x1f".join(parts)


def digest_text(text: str) -> str:
    """Returns a short hash, for keys of unnamed things."""
    return blake2b(text.encode(), digest_size=12).hexdigest()
