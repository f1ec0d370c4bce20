"""`Client` and `AsyncClient`: the verbs of a memory that is on a server.

    requests_of.py   the requests of each verb, and what it makes of the answers
    packing.py       arguments to JSON              unpacking.py    JSON to records, hits, contexts, facts
    sending.py       sends one request, with retries, and translates errors of the server
    by_address.py    `Memory("http://…")`

`Client` is a subclass of `Memory`; `serve` overrides its verbs by methods that ask a server, with the same
signatures, overloads and docstrings. `AsyncClient` is an `AsyncMemory` around a `Client`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache, update_wrapper
from typing import Any, Final, NoReturn, TypeVar

from ..aio import AsyncMemory
from ..core.errors import Misconfigured
from ..core.observers import observable
from ..memory import Memory
from ..memory.addresses import KeptByServer
from ..memory.admin import AdminNamespace
from ..memory.facts import FactsNamespace
from ..memory.keys import KeysNamespace
from ..memory.trust import TrustNamespace
from ..memory.upkeep import UpkeepNamespace
from ..net.hop import Threads
from .requests_of import ADMIN, FACT_VERBS, MEMORY, TRUST, UPKEEP, Arguments, Requests
from .sending import Sender

__all__ = ["AsyncClient", "Client", "connect"]

C = TypeVar("C")

_AT_ONCE: Final = 32  # concurrent requests of an `AsyncClient`


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


@observable("remember", "recall", "context", "find", "revise", "forget", "export", "load")
@serve(MEMORY, absent=("parts", "audit"))
class Client(Remote, Memory):
    """A memory on a server, with the verbs of `Memory`: `Client("http://127.0.0.1:8765")`.

    `key` authenticates the caller; `env:NAME` and `file:PATH` name where it is kept. Without one, the
    variable EIDET_API_KEY is read. A call that cannot reach the server, or that the server asks to wait, is
    retried until `timeout` seconds have passed; a retry never stores anything twice. Many threads can share
    a client. A verb that the server does not offer raises `Misconfigured`.
    """

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 30.0) -> None:
        sender = Sender(url, key, timeout)
        super().__init__(sender)
        vars(self).update(
            facts=make_namespace(FactsNamespace, FACT_VERBS, sender),
            upkeep=make_namespace(UpkeepNamespace, UPKEEP, sender),
            trust=make_namespace(TrustNamespace, TRUST, sender),
            keys=make_namespace(KeysNamespace, {}, sender),
            admin=make_namespace(AdminNamespace, ADMIN, sender),
        )

    def close(self) -> None:
        """Closes the connections; closing twice is fine."""
        self._sender.close()

    def __repr__(self) -> str:
        return f"Client({self.url})"


class AsyncClient(KeptByServer, AsyncMemory):
    """`Client` for asyncio, with the verbs of `AsyncMemory`; threads wait for the server."""

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 30.0) -> None:
        client = Client(url, key=key, timeout=timeout)
        self._begin(Threads(lambda: client, lambda _client: True, _AT_ONCE))

    def __repr__(self) -> str:
        return f"Async{self.core!r}"


def connect(url: str, *, key: str | None = None, timeout: float = 30.0) -> Client:
    """Opens a memory on a server, as `Memory(url)` does: `eidet.connect("http://127.0.0.1:8765")`.

    A call is retried for at most `timeout` seconds.
    """
    return Client(url, key=key, timeout=timeout)
