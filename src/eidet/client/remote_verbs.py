"""Methods that a server answers, with the signatures, overloads and docstrings of the verbs they are.

`serve` overrides the verbs that a client inherits, for a client that waits and for one of asyncio alike.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, update_wrapper
from typing import Any, Final, NoReturn, TypeVar

from ..core.errors import Misconfigured
from ..memory import Memory
from ..memory.addresses import KeptByServer
from ..net.hop import Hopping, Threads
from .requests_of import Arguments, Steps
from .sending import AsyncSender, Sender

C = TypeVar("C")
Requests = Callable[[Arguments], Steps[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedVerbs:
    """The verbs that a server answers, by the requests they make, and what to do instead of the others.

    `absent` names attributes that stay with the server: what they are, and what to do instead.
    """

    answered: Mapping[str, Requests] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, tuple[str, str]] = field(default_factory=dict)


class Sync(KeptByServer):
    """Base of classes whose verbs a server answers."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender


class Async(KeptByServer, Hopping[Any]):
    """Base of classes whose verbs a server answers, for asyncio."""

    def __init__(self, sender: AsyncSender, threads: Threads[Memory], core: Callable[[], Any]) -> None:
        Hopping.__init__(self, threads, core)
        self._sender = sender


def serve(verbs: ServedVerbs) -> Callable[[type[C]], type[C]]:
    """Overrides the verbs that a class inherits: each asks the server, or says what to do instead."""

    def fill(owner: type[C]) -> type[C]:
        for name in (*verbs.answered, *verbs.refused):
            verb = _ask(getattr(owner, name), verbs.answered.get(name), verbs.refused.get(name, ""))
            setattr(owner, name, _wait(verb) if issubclass(owner, Async) else verb)
        for name, (what, instead) in verbs.absent.items():
            setattr(owner, name, _make_absent(what, instead))
        return owner

    return fill


def make_namespace(base: type[C], verbs: ServedVerbs, *given: Any) -> C:
    """A namespace of a memory that a server keeps; `given` is what `Sync` or `Async` takes."""
    if base not in _classes:
        kind = Async if issubclass(base, Hopping) else Sync
        made = type(f"Remote{base.__name__}", (kind, base), {"__doc__": base.__doc__})
        _classes[base] = serve(verbs)(made)
    new: C = _classes[base](*given)
    return new


_classes: Final[dict[type, Any]] = {}  # made when a client first needs them


def _ask(like: Callable[..., Any], requests: Requests | None, instead: str) -> Callable[..., Any]:
    """Makes a method that sends the requests of a verb, or refuses if there are none."""

    def run(self: Sync | Async, /, *args: Any, **kwargs: Any) -> Any:
        if requests is None:
            url = self._sender.sending.url
            raise Misconfigured(f"the server {url} offers no {like.__name__}(): {instead}")
        return self._sender.run(requests(_bind(like, args, kwargs)))

    return update_wrapper(run, like)


def _wait(ask: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a method that returns an awaitable in a coroutine function."""

    async def run(self: Async, /, *args: Any, **kwargs: Any) -> Any:
        return await ask(self, *args, **kwargs)

    return update_wrapper(run, ask)


_signature_of = cache(inspect.signature)  # of a verb, when it is first called


def _bind(verb: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Arguments:
    """Binds the arguments of a call by name, with defaults; raises `TypeError` if they do not fit."""
    try:
        bound = _signature_of(verb).bind(None, *args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{verb.__name__}() {error}") from None
    bound.apply_defaults()
    given = dict(bound.arguments)
    del given["self"]
    return given


def _make_absent(what: str, instead: str) -> property:
    """Makes an attribute that stays with the server."""

    def refuse(self: Sync | Async) -> NoReturn:
        url = self._sender.sending.url
        raise Misconfigured(f"{what} of this memory stays with the server {url}: {instead}")

    return property(refuse, doc=f"Raises `Misconfigured`: {what} stays with the server.")
