"""Any callable as a reranker, sync or async: `(query, texts)` to one number per text."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, TypeVar

from ...core.errors import EidetError, Misconfigured, Unavailable
from ...net.event_loop import BackgroundLoop
from . import numbers, sigmoid, verified

T = TypeVar("T")

_background = BackgroundLoop(
    "eidet-rerank", inside="an asynchronous reranker called scores() of another; await that one itself"
)


def adapt(
    thing: Any, *, name: str | None = None, logits: bool = False, timeout: float = 30.0
) -> CalledReranker:
    """A reranker around a callable, or an object with `scores`, `rerank` or `score`.

    `logits=True` puts its numbers through a sigmoid; without it they have to be from 0 to 1.
    `timeout` bounds a coroutine; code that blocks is waited for. `name` defaults to the qualified
    name of the function or class.
    """
    return CalledReranker(_function_of(thing), name or _name_of(thing), logits=logits, timeout=timeout)


class CalledReranker:
    """Calls a function; coroutines run on one background loop of this process while the caller waits.

    Whatever the function raises comes out as `Unavailable`, with the original as its cause.
    """

    def __init__(
        self, function: Callable[[str, list[str]], Any], name: str, *, logits: bool, timeout: float
    ) -> None:
        self.name = name
        self._function = function
        self._logits = logits
        self._timeout = timeout

    def __repr__(self) -> str:
        return f"<Reranker {self.name}>"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        answer = self._called(query, list(texts))
        if self._logits:
            return [sigmoid(logit) for logit in numbers(self.name, texts, answer)]
        return verified(self.name, texts, answer)

    def _called(self, query: str, texts: list[str]) -> Any:
        try:
            answer = self._function(query, texts)
            if inspect.isawaitable(answer):
                answer = _background.wait_for(_awaited(answer), self._timeout)
        except FutureTimeout:
            raise Unavailable(f"{self.name} did not answer within {self._timeout:g} s") from None
        except EidetError:
            raise
        except Exception as error:  # whatever the user's code raises
            raise Unavailable(f"{self.name} raised {type(error).__name__}: {error}") from error
        return answer


def is_async(function: Any) -> bool:
    call = getattr(type(function), "__call__", None)  # noqa: B004 - the method, not whether there is one
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


async def _awaited(answer: Awaitable[T]) -> T:
    return await answer


def _function_of(thing: Any) -> Callable[[str, list[str]], Any]:
    for part in ("scores", "rerank", "score"):
        method = getattr(thing, part, None)
        if callable(method):
            return method  # type: ignore[no-any-return]
    if callable(thing):
        return thing  # type: ignore[no-any-return]
    raise Misconfigured(
        f"a {type(thing).__name__} cannot rerank: give a callable (query, texts) with one score per text"
    )


def _name_of(thing: Any) -> str:
    given = getattr(thing, "name", None)
    if isinstance(given, str) and given:
        return given
    while isinstance(thing, functools.partial):
        thing = thing.func
    kind = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{kind.__module__}.{kind.__qualname__}"
