"""Methods that a server answers, with the signatures, overloads and docstrings of the verbs they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar, cast

from ..core.errors import Misconfigured
from ..memory.addresses import KeptByServer
from .requests_of import Steps
from .sending import AsyncSender, Sender

V = TypeVar("V", bound=Callable[..., Any])


class Sync(KeptByServer):
    """Something whose verbs are asked of a server."""

    _sender: Sender


class Async(KeptByServer):
    """The same for asyncio."""

    _sender: AsyncSender


def ask(like: V, steps: Callable[..., Steps[Any]]) -> V:
    """Makes a method that sends the requests of a verb."""

    def run(self: Sync, /, *args: Any, **kwargs: Any) -> Any:
        return self._sender.run(steps(*args, **kwargs))

    return cast("V", update_wrapper(run, like))


def await_answer(like: V, steps: Callable[..., Steps[Any]]) -> V:
    """The same for asyncio."""

    async def run(self: Async, /, *args: Any, **kwargs: Any) -> Any:
        return await self._sender.run(steps(*args, **kwargs))

    return cast("V", update_wrapper(run, like))


def refuse(like: V, instead: str) -> V:
    """Makes a method for a verb that no server offers; its error says what to do instead."""

    def run(self: Sync, /, *_args: Any, **_kwargs: Any) -> Any:
        raise make_refusal(self._sender.sending.url, like, instead)

    return cast("V", update_wrapper(run, like))


def await_refusal(like: V, instead: str) -> V:
    """The same for asyncio."""

    async def run(self: Async, /, *_args: Any, **_kwargs: Any) -> Any:
        raise make_refusal(self._sender.sending.url, like, instead)

    return cast("V", update_wrapper(run, like))


def make_refusal(url: str, verb: Callable[..., Any], instead: str) -> Misconfigured:
    return Misconfigured(f"the server {url} offers no {verb.__name__}(): {instead}")


def make_absence(url: str, what: str, instead: str) -> Misconfigured:
    """For an attribute that stays with the server."""
    return Misconfigured(f"{what} of this memory stays with the server {url}: {instead}")
