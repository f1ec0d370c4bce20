"""Any callable as an embedder: sync or async, for a list of texts or one text, giving lists or arrays."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ...core.errors import Misconfigured
from ...core.plugins import translate_errors
from ...net.event_loop import BackgroundLoop
from ..adapt import as_coroutine, find_function, find_name, find_qualified_name, is_async
from . import Vectors

T = TypeVar("T")
Rounds = Generator[list[Any], list[Any], T]  # yields the arguments of some calls, is sent their answers

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
    shape = _Shape(name or _find_name(thing), width, batch)
    if is_async(function):
        return AsyncCalledEmbedder(function, shape)
    return CalledEmbedder(function, shape)


@dataclass(slots=True)
class _Shape:
    """What is known of a callable, and the rounds of calls that lead to an answer.

    Written once, as generators, and driven by a plain loop or by an event loop. Finding out twice
    at the same time does no harm: both find the same.
    """

    name: str
    width: int | None
    batch: bool | None

    def rows(self, texts: Sequence[str]) -> Rounds[Vectors]:
        if self.batch is None or not texts:
            yield from self.find_out()
        if not texts:
            return np.zeros((0, self.width or 0), dtype=np.float32)
        parts: list[Vectors] = []
        calls = _blocks(texts, BLOCK) if self.batch else list(texts)
        for round_ in _blocks(calls, AT_ONCE):
            answers = yield round_
            parts += [self.read(call, answer) for call, answer in zip(round_, answers, strict=True)]
        self.width = self.width or parts[0].shape[1]
        return np.concatenate(parts)

    def find_out(self) -> Rounds[None]:
        """Learns `batch` and `width`, with no call if both are known."""
        if self.batch is None and (yield from self.takes_lists()):
            self.batch = True
        elif self.batch is None:
            self.batch = False
        if self.width is None:
            probe = PROBE if self.batch else PROBE[0]
            [answer] = yield [probe]
            self.width = self.read(probe, answer).shape[1]

    def takes_lists(self) -> Rounds[bool]:
        try:
            [answer] = yield [PROBE]
        except NOT_FOR_LISTS:
            return False
        rows = _numbers(answer)
        if rows is None or rows.ndim != 2 or len(rows) != len(PROBE):
            return False
        self.width = self.width or rows.shape[1]
        return True

    def read(self, call: Any, answer: Any) -> Vectors:
        """The answer to one call as rows, or a clear error."""
        rows = _numbers(answer)
        count = 1 if isinstance(call, str) else len(call)
        if rows is not None and isinstance(call, str):
            rows = rows.reshape(1, -1) if rows.ndim == 1 else rows
        if rows is None or rows.ndim != 2 or len(rows) != count or not rows.size:
            if rows is None:
                came = type(answer).__name__
            else:
                came = f"an array of shape {rows.shape}"
            raise Misconfigured(
                f"embedder {self.name!r} gave {came} for {count} text(s); it has to give one row of "
                "numbers per text. Say adapt(…, batch=False) if it takes one text at a time"
            )
        return rows


class CalledEmbedder:
    """A synchronous callable as an embedder."""

    def __init__(self, function: Callable[[Any], Any], shape: _Shape) -> None:
        self._function = function
        self._shape = shape

    @property
    def name(self) -> str:
        return self._shape.name

    @property
    def knows_width(self) -> bool:
        """Whether `width` answers without a call. Embedding a text tells it, too."""
        return self._shape.width is not None

    @property
    def width(self) -> int:
        if self._shape.width is None:
            self._run(self._shape.find_out())
        return self._shape.width or 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._run(self._shape.rows(texts))

    def _run(self, rounds: Rounds[T]) -> T:
        with translate_errors(f"embedder {self.name!r}"):
            return _drive(rounds, self._call)

    def _call(self, argument: Any) -> Any:
        answer = self._function(argument)
        if inspect.isawaitable(answer):
            return wait_for(as_coroutine(answer))
        return answer


class AsyncCalledEmbedder:
    """A coroutine function as an embedder.

    `aembed` awaits it in the caller's loop. `embed` runs it on one background loop of this process
    and waits, so it may be called anywhere; inside a running loop it blocks that loop meanwhile.
    """

    def __init__(self, function: Callable[[Any], Awaitable[Any]], shape: _Shape) -> None:
        self._function = function
        self._shape = shape

    @property
    def name(self) -> str:
        return self._shape.name

    @property
    def knows_width(self) -> bool:
        """Whether `width` answers without a call. Embedding a text tells it, too."""
        return self._shape.width is not None

    @property
    def width(self) -> int:
        if self._shape.width is None:
            wait_for(self._run(self._shape.find_out()))
        return self._shape.width or 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        return wait_for(self.aembed(texts))

    async def aembed(self, texts: Sequence[str]) -> Vectors:
        return await self._run(self._shape.rows(texts))

    async def _run(self, rounds: Rounds[T]) -> T:
        with translate_errors(f"embedder {self.name!r}"):
            return await _adrive(rounds, self._function)


def _drive(rounds: Rounds[T], call: Callable[[Any], Any]) -> T:
    """Runs the rounds to their end; an error of the callable is raised inside them."""
    try:
        arguments = next(rounds)
        while True:
            try:
                answers = [call(argument) for argument in arguments]
            except NOT_FOR_LISTS as error:
                arguments = rounds.throw(error)
            else:
                arguments = rounds.send(answers)
    except StopIteration as end:
        result: T = end.value
        return result


async def _adrive(rounds: Rounds[T], call: Callable[[Any], Awaitable[Any]]) -> T:
    try:
        arguments = next(rounds)
        while True:
            try:
                answers = await asyncio.gather(*(call(argument) for argument in arguments))
            except NOT_FOR_LISTS as error:
                arguments = rounds.throw(error)
            else:
                arguments = rounds.send(answers)
    except StopIteration as end:
        result: T = end.value
        return result


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
