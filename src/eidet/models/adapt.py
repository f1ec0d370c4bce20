"""What the adapters of embedders, rerankers and language models share: any callable, sync or async.

Each adapter says what it calls the user's code with and how it reads the answer; this module finds the
function, its name, and waits for coroutines.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from ..core.errors import Misconfigured

T = TypeVar("T")


@runtime_checkable
class Named(Protocol):
    """Whatever says what it is called."""

    @property
    def name(self) -> object: ...


def find_function(thing: Any, methods: Sequence[str], advice: str) -> Callable[..., Any]:
    """The first of these methods that the thing has, or the thing itself if it can be called."""
    for name in methods:
        method = getattr(thing, name, None)
        if callable(method):
            return method  # type: ignore[no-any-return]
    if callable(thing):
        return thing  # type: ignore[no-any-return]
    raise Misconfigured(f"an object of type {type(thing).__name__} {advice}")


def find_name(thing: Any) -> str:
    """The `name` of the thing, or the qualified name of its function or class."""
    if isinstance(thing, Named) and isinstance(thing.name, str) and thing.name:
        return thing.name
    return find_qualified_name(thing)


def find_qualified_name(thing: Any) -> str:
    """Module and name of a function or class; of its class, for an instance."""
    while isinstance(thing, functools.partial):
        thing = thing.func
    named = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{named.__module__}.{named.__qualname__}"


def is_async(function: Any) -> bool:
    """Whether calling it gives a coroutine; an instance may have an asynchronous `__call__`."""
    call = getattr(type(function), "__call__", None)  # noqa: B004 - the method, not whether there is one
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def as_coroutine(answer: Awaitable[T]) -> Coroutine[Any, Any, T]:
    """Event loops run coroutines; a future or task is awaited inside one."""
    if inspect.iscoroutine(answer):
        return answer
    return _await(answer)


async def _await(answer: Awaitable[T]) -> T:
    return await answer
