"""Methods that ask a server, with the signatures, overloads and docstrings of the verbs they replace.

`serve` overrides the verbs that a client inherits.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache, update_wrapper
from typing import Any, Final, NoReturn, TypeVar

from ..core.errors import Misconfigured
from ..memory.addresses import KeptByServer
from .requests_of import Arguments, Requests
from .sending import Sender

C = TypeVar("C")


class Remote(KeptByServer):
    """Base of classes whose verbs ask a server."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    @property
    def url(self) -> str:
        """The address of the server."""
        return self._sender.url


def serve(answered: Mapping[str, Requests], absent: Iterable[str] = ()) -> Callable[[type[C]], type[C]]:
    """Overrides inherited verbs to ask the server; those in `absent` raise `Misconfigured`."""

    def fill(owner: type[C]) -> type[C]:
        for name, requests in answered.items():
            setattr(owner, name, _ask(getattr(owner, name), requests))
        for name in absent:
            setattr(owner, name, _refuse(getattr(owner, name), name))
        return owner

    return fill


def make_namespace(base: type[C], answered: Mapping[str, Requests], sender: Sender) -> C:
    """Makes a namespace whose verbs ask the server; all others raise `Misconfigured`."""
    if base not in _classes:
        made = type(f"Remote{base.__name__}", (Remote, base), {"__doc__": base.__doc__})
        rest = [name for name in vars(base) if not name.startswith("_") and name not in answered]
        _classes[base] = serve(answered, rest)(made)
    new: C = _classes[base](sender)
    return new


_classes: Final[dict[type, Any]] = {}  # each is made when a client first needs it


def _ask(like: Callable[..., Any], requests: Requests) -> Callable[..., Any]:
    """Makes a method that sends the requests of a verb."""

    def run(self: Remote, /, *args: Any, **kwargs: Any) -> Any:
        return requests(self._sender, _bind(like, args, kwargs))

    return update_wrapper(run, like)


def _refuse(like: Any, name: str) -> Any:
    """Makes a method or property that raises `Misconfigured` with a hint of what to do instead."""
    if not callable(like):
        return property(lambda self: _raise_absent(self, name), doc=f"Stays with the server: {name}.")

    def run(self: Remote, /, *_args: Any, **_kwargs: Any) -> NoReturn:
        _raise_absent(self, f"{name}()")

    return update_wrapper(run, like)


def _raise_absent(remote: Remote, what: str) -> NoReturn:
    raise Misconfigured(
        f"the server {remote.url} offers no {what}: it stays with the server. `eidet --help` "
        "lists the commands for it, to be run where the store can be opened; Memory(…) opens it, too"
    )


_signature_of = cache(inspect.signature)  # computed when a verb is first called


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
