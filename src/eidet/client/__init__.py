"""`Client` and `AsyncClient`: the verbs of a memory that is on a server.

    requests_of.py   the requests of each verb, and what it makes of the answers
    remote_verbs.py  methods that send requests     by_address.py   `Memory("http://…")`
    packing.py       arguments to JSON              unpacking.py    JSON to records, hits, contexts, facts
    sending.py       sends one request, with retries, and translates errors of the server

`Client` is a subclass of `Memory`; `serve` overrides its verbs. `AsyncClient` is an `AsyncMemory` around a
`Client`.
"""

from __future__ import annotations

from typing import Any, Final

from ..aio import AsyncMemory
from ..core.observers import observable
from ..memory import Memory
from ..memory.addresses import KeptByServer
from ..memory.admin import AdminNamespace
from ..memory.facts import FactsNamespace
from ..memory.keys import KeysNamespace
from ..memory.trust import TrustNamespace
from ..memory.upkeep import UpkeepNamespace
from ..net.hop import Threads
from .remote_verbs import Remote, make_namespace, serve
from .requests_of import ADMIN, FACT_VERBS, MEMORY, TRUST, UPKEEP
from .sending import Sender

_AT_ONCE: Final = 32  # concurrent requests of an `AsyncClient`


__all__ = ["AsyncClient", "Client", "connect"]


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
        namespaces: Any = _ClientNamespaces(sender)
        vars(self).update(vars(namespaces))

    def close(self) -> None:
        """Closes the connections; closing twice is fine."""
        self._sender.close()

    def __repr__(self) -> str:
        return f"Client({self.url})"


class _ClientNamespaces:
    """The namespaces of a client, in place of those of `Memory`."""

    def __init__(self, sender: Sender) -> None:
        self.facts = make_namespace(FactsNamespace, FACT_VERBS, sender)
        self.upkeep = make_namespace(UpkeepNamespace, UPKEEP, sender)
        self.trust = make_namespace(TrustNamespace, TRUST, sender)
        self.keys = make_namespace(KeysNamespace, {}, sender)
        self.admin = make_namespace(AdminNamespace, ADMIN, sender)


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
