"""Any callable as an embedder: sync or async, for a list of texts or one text, giving lists or arrays."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from ...core.errors import Misconfigured
from ...core.plugins import translate_errors
from ...net.hop import BackgroundLoop
from ..adapt import as_coroutine, find_function, find_name, find_qualified_name, is_async
from . import Vectors

T = TypeVar("T")

PROBE = ["a", "two words"]
BLOCK = 256  # texts in one call of a callable that takes lists
AT_ONCE = 16  # calls of one round; an asynchronous callable runs them concurrently
NOT_FOR_LISTS = (TypeError, ValueError, AttributeError)  # what callables for one text raise on a list


def adapt(
    thing: Any, *, name: str | None = None, width: int | None = None, batch: bool | None = None
) -> CalledEmbedder | AsyncCalledEmbedder:
    """An embedder around a callable, or an object with `embed`, `embed_documents`, `encode` or `encode_*`.

    `batch` says whether it takes a list of texts (True) or one text (False), `width` how long its
    rows are; what is not given is found out by one or two short calls before the first answer. Where
    `batch` is given, the first texts that are embedded tell the width.
    `name` defaults to the qualified name of the function or class, with the object's `model_name` or
    `model` if it has one: name it yourself if the code may move.
    """
    function = _find_function(thing)
    kind = AsyncCalledEmbedder if is_async(function) else CalledEmbedder
    return kind(function, name or _find_name(thing), width, batch)


class _Called:
    """What is known of a callable, and the calls that lead to an answer, written once as coroutines.

    Finding out twice at the same time does no harm: both find the same.
    """

    def __init__(
        self, function: Callable[[Any], Any], name: str, width: int | None, batch: bool | None
    ) -> None:
        self.name = name
        self._function, self._width, self._batch = function, width, batch

    @property
    def knows_width(self) -> bool:
        """Whether `width` answers without a call. Embedding a text tells it, too."""
        return self._width is not None

    @property
    def width(self) -> int:
        if self._width is None:
            self._wait(self._run(self._find_out))
        return self._width or 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._wait(self._run(self._embed, texts))

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        raise NotImplementedError

    async def _call_each(self, arguments: Sequence[Any]) -> list[Any]:
        raise NotImplementedError

    async def _run(self, job: Callable[..., Coroutine[Any, Any, T]], *arguments: Any) -> T:
        with translate_errors(f"embedder {self.name!r}"):
            return await job(*arguments)

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        if self._batch is None or not texts:
            await self._find_out()
        if not texts:
            return np.zeros((0, self._width or 0), dtype=np.float32)
        parts: list[Vectors] = []
        calls = _blocks(texts, BLOCK) if self._batch else list(texts)
        for some in _blocks(calls, AT_ONCE):
            answers = await self._call_each(some)
            parts += [self._parse(call, answer) for call, answer in zip(some, answers, strict=True)]
        self._width = self._width or parts[0].shape[1]
        return np.concatenate(parts)

    async def _find_out(self) -> None:
        """Learns `batch` and `width`, with no call if both are known."""
        if self._batch is None:
            self._batch = await self._takes_lists()
        if self._width is None:
            probe = PROBE if self._batch else PROBE[0]
            [answer] = await self._call_each([probe])
            self._width = self._parse(probe, answer).shape[1]

    async def _takes_lists(self) -> bool:
        try:
            [answer] = await self._call_each([PROBE])
        except NOT_FOR_LISTS:
            return False
        rows = _numbers(answer)
        if rows is None or rows.ndim != 2 or len(rows) != len(PROBE):
            return False
        self._width = self._width or rows.shape[1]
        return True

    def _parse(self, call: Any, answer: Any) -> Vectors:
        """The answer to one call as rows, or a clear error."""
        rows = _numbers(answer)
        count = 1 if isinstance(call, str) else len(call)
        if rows is not None and rows.ndim == 1 and isinstance(call, str):
            rows = rows.reshape(1, -1)
        if rows is None or rows.ndim != 2 or len(rows) != count or not rows.size:
            came = type(answer).__name__ if rows is None else f"an array of shape {rows.shape}"
            raise Misconfigured(
                f"embedder {self.name!r} gave {came} for {count} text(s); it has to give one row of "
                "numbers per text. Say adapt(…, batch=False) if it takes one text at a time"
            )
        return rows


class CalledEmbedder(_Called):
    """A synchronous callable as an embedder."""

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine that nothing in it suspends."""
        try:
            coroutine.send(None)
        except StopIteration as end:
            result: T = end.value
            return result
        raise AssertionError("a synchronous embedder was suspended")

    async def _call_each(self, arguments: Sequence[Any]) -> list[Any]:
        return [self._call(argument) for argument in arguments]

    def _call(self, argument: Any) -> Any:
        answer = self._function(argument)
        return wait_for(as_coroutine(answer)) if inspect.isawaitable(answer) else answer


class AsyncCalledEmbedder(_Called):
    """A coroutine function as an embedder.

    `aembed` awaits it in the caller's loop. `embed` runs it on one background loop of this process
    and waits, so it may be called anywhere; inside a running loop it blocks that loop meanwhile.
    """

    async def aembed(self, texts: Sequence[str]) -> Vectors:
        return await self._run(self._embed, texts)

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return wait_for(coroutine)

    async def _call_each(self, arguments: Sequence[Any]) -> list[Any]:
        return await asyncio.gather(*(self._function(argument) for argument in arguments))


def _blocks(items: Sequence[Any], size: int) -> list[list[Any]]:
    return [list(items[start : start + size]) for start in range(0, len(items), size)]


def _numbers(answer: Any) -> Vectors | None:
    """The answer as float32, or None where it is not numbers of one shape."""
    if isinstance(answer, Iterator):
        answer = list(answer)
    if isinstance(answer, str | bytes | AsyncIterator) or answer is None:
        return None
    try:
        rows: Vectors = np.array(answer, dtype=np.float32)
    except (TypeError, ValueError):
        return None
    return rows


def _find_function(thing: Any) -> Callable[[Any], Any]:
    encoders = sorted(part for part in dir(thing) if part.startswith("encode_"))
    methods = ("embed", "embed_documents", "encode", *encoders)
    advice = "cannot embed: give a callable, or an object with a method embed or encode"
    return find_function(thing, methods, advice)


def _find_name(thing: Any) -> str:
    """With the model of an object that has one: two models of one class give different vectors."""
    name = find_name(thing)
    if name != find_qualified_name(thing) or hasattr(thing, "__qualname__"):
        return name
    for part in ("model_name", "model"):
        model = getattr(thing, part, None)
        if isinstance(model, str):
            return f"{name}:{model}"
    return name


_background = BackgroundLoop(
    "eidet-embed", inside="an asynchronous embedder called embed() of another; await aembed() there"
)


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of the coroutine, run on the background loop."""
    return _background.wait_for(coroutine)
