"""Any callable as an LLM: sync or async, for a prompt, for messages, or for a whole request."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from ...core.errors import Misconfigured
from ...core.plugins import translate_errors
from ...core.validate import dump_json
from ...net.hop import BackgroundLoop
from ...net.http import TooSlow
from ...net.retry import Retrier, RetryPolicy
from ..adapt import as_coroutine, find_qualified_name
from . import Answer, Request, add_instruction

Takes = Literal["prompt", "messages", "request"]
REST_SECONDS = 30.0  # for which a callable that failed again and again is left alone

_background = BackgroundLoop(
    "eidet-llm", inside="an asynchronous LLM waited for another LLM; await that one there instead"
)


def adapt(
    function: Any, *, name: str | None = None, takes: Takes | None = None, timeout: float = 60.0
) -> _CalledLLM:
    """An LLM around a callable that gives a string, a dict (the object asked for) or an `Answer`.

    `takes` says what it is called with: "prompt", one string with everything in it; "messages", a list
    of `{"role": …, "content": …}`; "request", our `Request`. Not given, it follows from the name or
    annotation of the first parameter; "prompt" if that says nothing.
    """
    if not callable(function):
        raise Misconfigured(
            f"a {type(function).__name__} is no LLM: give provider:model, a callable, "
            "or an object with name and ask"
        )
    return _CalledLLM(
        function, name or find_qualified_name(function), takes or guess_argument(function), timeout
    )


class _CalledLLM:
    """A callable as an LLM. What it has not answered after `timeout` seconds is no longer waited for.

    A coroutine is cancelled then, and runs on a loop of its own thread. A plain function cannot be
    stopped: it ends by itself on its thread. A callable that failed five times running is left alone for
    half a minute at a time, so a long upkeep does not wait for it again and again.
    """

    def __init__(self, function: Callable[[Any], Any], name: str, takes: Takes, timeout: float) -> None:
        self.name = name
        self._function = function
        self._takes = takes
        self._timeout = timeout
        self._retrier = Retrier(name, RetryPolicy(deadline_seconds=timeout, rest_seconds=REST_SECONDS))

    def __repr__(self) -> str:
        return f"<LLM {self.name}>"

    def ask(self, request: Request) -> Answer:
        argument = make_argument(request, self._takes)
        answer = self._answer(self._retrier.call(partial(self._call, argument), max_attempts=1))
        return replace(answer, model=answer.model or self.name)

    def _call(self, argument: Any, seconds: float) -> Any:
        ends = time.monotonic() + seconds
        future: Future[Any] = Future()
        work = partial(copy_context().run, self._run, argument, future)
        threading.Thread(target=work, name="eidet-llm-call", daemon=True).start()
        with translate_errors(self.name, self._timeout, late=TooSlow):
            result = future.result(seconds)
            if inspect.isawaitable(result):
                result = _background.wait_for(as_coroutine(result), max(ends - time.monotonic(), 0))
        return result

    def _run(self, argument: Any, future: Future[Any]) -> None:
        try:
            future.set_result(self._function(argument))
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
            future.set_exception(error)

    def _answer(self, result: Any) -> Answer:
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
    """What a callable is called with; the schema of the request is spelt out in it."""
    if takes == "request":
        return request
    system = add_instruction(request)
    if takes == "messages":
        turns = [{"role": turn.role, "content": turn.text} for turn in request.turns]
        if system:
            return [{"role": "system", "content": system}, *turns]
        return turns
    earlier = [f"{turn.role}: {turn.text}" for turn in request.before]
    return "\n\n".join(part for part in (system, *earlier, request.prompt) if part)


def guess_argument(function: Any) -> Takes:
    """What a callable wants to be called with, by the name or annotation of its first parameter."""
    try:
        first = next(iter(inspect.signature(function).parameters.values()), None)
    except (TypeError, ValueError):
        return "prompt"
    if first is None:
        raise Misconfigured(
            f"LLM {find_qualified_name(function)!r} takes no argument; it has to take the prompt"
        )
    annotation = str(first.annotation).lower()
    if first.name == "request" or first.annotation in (Request, "Request"):
        return "request"
    lists = ("list", "sequence", "iterable")
    if first.name == "messages" or annotation.startswith(lists):
        return "messages"
    return "prompt"
