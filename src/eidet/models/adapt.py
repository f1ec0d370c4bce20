"""Any callable, sync or async, as an embedder, a reranker or a language model."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import replace
from typing import Any, Literal, TypeVar

import numpy as np

from ..core.errors import Misconfigured, translate_errors
from ..core.validate import dump_json
from ..net.hop import BackgroundLoop, wait_for_caller
from ..net.http import TooSlow
from ..net.retry import Retrier, RetryPolicy
from .embed import Vectors
from .llm import Answer, Request, add_instruction
from .rerank import check_scores

T = TypeVar("T")
Takes = Literal["prompt", "messages", "request"]

_PROBE = ["a", "two words"]
_BLOCK = 256  # texts in one call of a callable that takes lists
_AT_ONCE = 16  # calls of one round; an asynchronous callable runs them concurrently
_NOT_FOR_LISTS = (TypeError, ValueError, AttributeError)  # raised for a list by callables that take one text
_REST_SECONDS = 30.0  # pause after which an LLM that failed repeatedly is called again

_loop = BackgroundLoop(
    "eidet-models", inside="an asynchronous model waited for another one; await that one there instead"
)


def adapt_embedder(
    thing: Any, *, name: str | None = None, width: int | None = None, batch: bool | None = None
) -> CalledEmbedder:
    """Wraps a callable, or an object with `embed`, `embed_documents`, `encode` or `encode_*`, as an
    embedder.

    `batch` says whether it takes a list of texts (True) or one text (False), `width` how long its
    rows are; what is not given is probed by one or two short calls before the first answer. If
    `batch` is given, the width is taken from the first embedded texts.
    `name` defaults to the qualified name of the function or class, with the object's `model_name` or
    `model` if it has one: name it yourself if the code may move.
    """
    encoders = sorted(part for part in dir(thing) if part.startswith("encode_"))
    methods = ("embed", "embed_documents", "encode", *encoders)
    advice = "cannot embed: give a callable, or an object with a method embed or encode"
    function = _find_function(thing, methods, advice)
    return CalledEmbedder(function, name or _find_model_name(thing), width, batch)


def adapt_reranker(
    thing: Any, *, name: str | None = None, logits: bool = False, timeout: float = 30.0
) -> _CalledReranker:
    """Wraps a callable `(query, texts)`, or an object with `scores`, `rerank` or `score`, as a reranker.

    `logits=True` puts its numbers through a sigmoid; without it they must be from 0 to 1.
    `timeout` bounds a coroutine; blocking code is not interrupted. `name` defaults to the qualified
    name of the function or class.
    """
    advice = "cannot rerank: give a callable (query, texts) with one score per text"
    function = _find_function(thing, ("scores", "rerank", "score"), advice)
    return _CalledReranker(function, name or _find_name(thing), logits, timeout)


def adapt_llm(function: Any, *, name: str | None = None, timeout: float = 60.0) -> _CalledLLM:
    """Wraps a callable that returns a string, a dict (the object asked for) or an `Answer` as an LLM.

    Its argument follows from the name of its first parameter: for `messages`, a list of
    `{"role": …, "content": …}`; for `request`, our `Request`; else one string with everything in it.
    """
    if not callable(function):
        raise Misconfigured(
            f"a {type(function).__name__} is no LLM: give provider:model, a callable, "
            "or an object with name and ask"
        )
    return _CalledLLM(function, name or find_qualified_name(function), guess_argument(function), timeout)


class CalledEmbedder:
    """An embedder that calls a function, which takes a list of texts or one text and returns lists or arrays.

    For a verb of an `AsyncMemory`, a coroutine function runs in the caller's loop, else on one background
    loop of this process. `embed` waits for it, so it may be called anywhere, but it blocks a loop that it is
    called in. Two threads may probe at the same time: both get the same result.
    """

    def __init__(
        self, function: Callable[[Any], Any], name: str, width: int | None, batch: bool | None
    ) -> None:
        self.name = name
        self.costly: bool = is_async(function)
        self._function, self._width, self._batch = function, width, batch

    @property
    def knows_width(self) -> bool:
        """Whether `width` is known without a call of the model; embedding a text reveals it, too."""
        return self._width is not None

    @property
    def width(self) -> int:
        if self._width is None:
            with translate_errors(f"embedder {self.name!r}"):
                self._find_out()
        return self._width or 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        with translate_errors(f"embedder {self.name!r}"):
            if self._batch is None or not texts:
                self._find_out()
            if not texts:
                return np.zeros((0, self._width or 0), dtype=np.float32)
            calls = _blocks(texts, _BLOCK) if self._batch else list(texts)
            parts = [
                self._parse(call, answer)
                for some in _blocks(calls, _AT_ONCE)
                for call, answer in zip(some, self._call_each(some), strict=True)
            ]
            self._width = self._width or parts[0].shape[1]
            return np.concatenate(parts)

    def _call_each(self, arguments: Sequence[Any]) -> list[Any]:
        if self.costly:
            return wait_for_caller(self._gather(arguments), _loop)
        return [_settle(self._function(argument)) for argument in arguments]

    async def _gather(self, arguments: Sequence[Any]) -> list[Any]:
        return await asyncio.gather(*(self._function(argument) for argument in arguments))

    def _find_out(self) -> None:
        """Determines `batch` and `width`, without a call if both are known."""
        if self._batch is None:
            self._batch = self._takes_lists()
        if self._width is None:
            probe = _PROBE if self._batch else _PROBE[0]
            [answer] = self._call_each([probe])
            self._width = self._parse(probe, answer).shape[1]

    def _takes_lists(self) -> bool:
        try:
            [answer] = self._call_each([_PROBE])
        except _NOT_FOR_LISTS:
            return False
        rows = _parse_numbers(answer)
        if rows is None or rows.ndim != 2 or len(rows) != len(_PROBE):
            return False
        self._width = self._width or rows.shape[1]
        return True

    def _parse(self, call: Any, answer: Any) -> Vectors:
        """Returns the answer to one call as rows; raises `Misconfigured` if it is not one row per text."""
        rows = _parse_numbers(answer)
        count = 1 if isinstance(call, str) else len(call)
        if rows is not None and rows.ndim == 1 and isinstance(call, str):
            rows = rows.reshape(1, -1)
        if rows is None or rows.ndim != 2 or len(rows) != count or not rows.size:
            came = type(answer).__name__ if rows is None else f"an array of shape {rows.shape}"
            raise Misconfigured(
                f"embedder {self.name!r} gave {came} for {count} text(s); it has to give one row of "
                "numbers per text. Say adapt_embedder(…, batch=False) if it takes one text at a time"
            )
        return rows


class _CalledReranker:
    """A reranker that calls a function; coroutines run on one background loop of this process.

    Whatever the function raises comes out as `Unavailable`, with the original as its cause.
    """

    def __init__(self, function: Callable[..., Any], name: str, logits: bool, timeout: float) -> None:
        self.name = name
        self._function, self._logits, self._timeout = function, logits, timeout

    def __repr__(self) -> str:
        return f"<Reranker {self.name}>"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        with translate_errors(self.name, self._timeout):
            answer = _settle(self._function(query, list(texts)), self._timeout)
        return check_scores(self.name, texts, answer, logits=self._logits)


class _CalledLLM:
    """An LLM that calls a function and stops waiting for its answer after `timeout` seconds.

    A coroutine runs on a loop in its own thread and is cancelled then. A plain function cannot be
    stopped: it runs on in its thread. A callable that failed five times in a row is not called for
    half a minute at a time, so that a long upkeep does not wait for it at every call.
    """

    def __init__(self, function: Callable[[Any], Any], name: str, takes: Takes, timeout: float) -> None:
        self.name = name
        self._function, self._takes, self._timeout = function, takes, timeout
        self._retrier = Retrier(name, RetryPolicy(deadline_seconds=timeout, rest_seconds=_REST_SECONDS))

    def __repr__(self) -> str:
        return f"<LLM {self.name}>"

    def ask(self, request: Request) -> Answer:
        argument = make_argument(request, self._takes)
        result = self._retrier.call(lambda seconds: self._call(argument, seconds), max_attempts=1)
        answer = self._parse(result)
        return replace(answer, model=answer.model or self.name)

    def _call(self, argument: Any, seconds: float) -> Any:
        ends = time.monotonic() + seconds
        future: Future[Any] = Future()
        work = functools.partial(copy_context().run, self._run, argument, future)
        threading.Thread(target=work, name="eidet-llm-call", daemon=True).start()
        with translate_errors(self.name, self._timeout, late=TooSlow):
            return _settle(future.result(seconds), max(ends - time.monotonic(), 0))

    def _run(self, argument: Any, future: Future[Any]) -> None:
        try:
            future.set_result(self._function(argument))
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
            future.set_exception(error)

    def _parse(self, result: Any) -> Answer:
        if isinstance(result, Answer):
            return result
        if result is None or isinstance(result, str):
            return Answer(text=result or "")
        if isinstance(result, Mapping):
            return Answer(text=dump_json(dict(result)))
        raise Misconfigured(
            f"LLM {self.name!r} gave a {type(result).__name__}; it has to give a string, a dict or an Answer"
        )


def make_argument(request: Request, takes: Takes) -> Any:
    """Returns the argument for a callable; prompts and messages spell out the schema of the request."""
    if takes == "request":
        return request
    system = add_instruction(request)
    if takes == "messages":
        return request.messages(system)
    earlier = [f"{turn.role}: {turn.text}" for turn in request.before]
    return "\n\n".join(part for part in (system, *earlier, request.prompt) if part)


def guess_argument(function: Any) -> Takes:
    """Guesses which argument a callable takes, by the name of its first parameter."""
    try:
        first = next(iter(inspect.signature(function).parameters.values()), None)
    except (TypeError, ValueError):
        return "prompt"
    if first is None:
        raise Misconfigured(
            f"LLM {find_qualified_name(function)!r} takes no argument; it has to take the prompt"
        )
    named: dict[str, Takes] = {"request": "request", "messages": "messages"}
    return named.get(first.name, "prompt")


def find_qualified_name(thing: Any) -> str:
    """Returns module and name of a function or class, or those of an instance's class."""
    while isinstance(thing, functools.partial):
        thing = thing.func
    named = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{named.__module__}.{named.__qualname__}"


def is_async(function: Any) -> bool:
    """Returns whether a call gives a coroutine; an instance may have an asynchronous `__call__`."""
    call = getattr(type(function), "__call__", None)  # noqa: B004 - the method, not whether there is one
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _find_function(thing: Any, methods: Sequence[str], advice: str) -> Callable[..., Any]:
    """Returns the first of these methods that exists, or the object itself if it is callable."""
    for function in (*(getattr(thing, name, None) for name in methods), thing):
        if callable(function):
            return function  # type: ignore[no-any-return]
    raise Misconfigured(f"an object of type {type(thing).__name__} {advice}")


def _find_name(thing: Any) -> str:
    """Returns the object's `name`, or the qualified name of its function or class."""
    name = getattr(thing, "name", None)
    return name if isinstance(name, str) and name else find_qualified_name(thing)


def _find_model_name(thing: Any) -> str:
    """Returns the object's name with its model, because two models of one class give different vectors."""
    name = _find_name(thing)
    if name != find_qualified_name(thing) or hasattr(thing, "__qualname__"):
        return name
    models = (getattr(thing, part, None) for part in ("model_name", "model"))
    return next((f"{name}:{model}" for model in models if isinstance(model, str)), name)


def _settle(answer: Any, seconds: float | None = None) -> Any:
    """Returns the answer; an awaitable is awaited on the background loop, for at most `seconds`."""
    if not inspect.isawaitable(answer):
        return answer
    return _loop.wait_for(answer if inspect.iscoroutine(answer) else _await(answer), seconds)


async def _await(answer: Awaitable[T]) -> T:
    return await answer


def _blocks(items: Sequence[Any], size: int) -> list[list[Any]]:
    return [list(items[start : start + size]) for start in range(0, len(items), size)]


def _parse_numbers(answer: Any) -> Vectors | None:
    """Returns the answer as a float32 array, or None if it is not numbers of one shape."""
    if isinstance(answer, Iterator):
        answer = list(answer)
    if isinstance(answer, str | bytes | AsyncIterator) or answer is None:
        return None
    try:
        return np.array(answer, dtype=np.float32)
    except (TypeError, ValueError):
        return None
