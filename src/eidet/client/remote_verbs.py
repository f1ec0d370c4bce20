"""Methods that a server answers, with the signatures, overloads and docstrings of the verbs they are.

`ServedVerbs` says once which verbs those are; `serve` makes the methods of a client of it, and those of a
client for asyncio.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, update_wrapper
from typing import Any, TypeVar

from ..core.errors import Misconfigured
from ..memory import Memory
from ..memory.addresses import KeptByServer
from ..net.hop import Hopping, Threads
from .requests_of import Arguments, Steps
from .sending import AsyncSender, Sender

C = TypeVar("C", bound=KeptByServer)
Requests = Callable[[Arguments], Steps[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedVerbs:
    """Which verbs a server answers, by the requests they make, and what to do instead of the others."""

    answered: Mapping[str, Requests] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


class Sync(KeptByServer):
    """Something whose verbs are asked of a server."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender


class Async(KeptByServer, Hopping[Any]):
    """The same for asyncio."""

    def __init__(self, sender: AsyncSender, threads: Threads[Memory], core: Callable[[], Any]) -> None:
        Hopping.__init__(self, threads, core)
        self._sender = sender


def serve(verbs: ServedVerbs) -> Callable[[type[C]], type[C]]:
    """Overrides the verbs that a class inherits: each asks the server, or says what to do instead."""

    def fill(owner: type[C]) -> type[C]:
        answer, refuse = ask, _refuse_to_ask
        if issubclass(owner, Async):
            answer, refuse = _await_answer, _await_refusal
        for name, requests in verbs.answered.items():
            setattr(owner, name, answer(getattr(owner, name), requests))
        for name, instead in verbs.refused.items():
            setattr(owner, name, refuse(getattr(owner, name), instead))
        return owner

    return fill


def ask(like: Callable[..., Any], requests: Requests) -> Callable[..., Any]:
    """Makes a method that sends the requests of a verb."""

    def run(self: Sync, /, *args: Any, **kwargs: Any) -> Any:
        return self._sender.run(requests(bind_arguments(like, args, kwargs)))

    return update_wrapper(run, like)


def _await_answer(like: Callable[..., Any], requests: Requests) -> Callable[..., Any]:
    """The same for asyncio."""

    async def run(self: Async, /, *args: Any, **kwargs: Any) -> Any:
        return await self._sender.run(requests(bind_arguments(like, args, kwargs)))

    return update_wrapper(run, like)


_read_signature = cache(inspect.signature)  # of a verb, when it is first called


def bind_arguments(verb: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Arguments:
    """What a call of a verb was given, by name, with defaults; a call that does not fit is a `TypeError`."""
    try:
        bound = _read_signature(verb).bind(None, *args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{verb.__name__}() {error}") from None
    bound.apply_defaults()
    given = dict(bound.arguments)
    del given["self"]
    return given


def _refuse_to_ask(like: Callable[..., Any], instead: str) -> Callable[..., Any]:
    """Makes a method for a verb that no server offers; its error says what to do instead."""

    def run(self: Sync, /, *_args: Any, **_kwargs: Any) -> Any:
        raise _make_refusal(self._sender.sending.url, like, instead)

    return update_wrapper(run, like)


def _await_refusal(like: Callable[..., Any], instead: str) -> Callable[..., Any]:
    """The same for asyncio."""

    async def run(self: Async, /, *_args: Any, **_kwargs: Any) -> Any:
        raise _make_refusal(self._sender.sending.url, like, instead)

    return update_wrapper(run, like)


def _make_refusal(url: str, verb: Callable[..., Any], instead: str) -> Misconfigured:
    return Misconfigured(f"the server {url} offers no {verb.__name__}(): {instead}")


def make_absence(url: str, what: str, instead: str) -> Misconfigured:
    """For an attribute that stays with the server."""
    return Misconfigured(f"{what} of this memory stays with the server {url}: {instead}")
