"""`Client` and `AsyncClient`: the verbs of a memory that is on a server.

    requests_of.py   the requests of each verb, and what it makes of the answers
    remote_verbs.py  methods that send requests     by_address.py   `Memory("http://…")`
    packing.py       arguments to JSON              unpacking.py    JSON to records, hits, contexts, facts
    sending.py       sends one request, with retries, and translates errors of the server

`Client` is a subclass of `Memory`; `serve` overrides its verbs. `AsyncClient` is an `AsyncMemory` around a
`Client`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from ..aio import AsyncMemory
from ..core.fact_verb_table import FACTS as FACT_VERBS
from ..core.observers import observable
from ..core.record import Record
from ..memory import Memory
from ..memory.addresses import KeptByServer
from ..memory.admin import AdminNamespace
from ..memory.facts import FactsNamespace
from ..memory.feed import ChangePage
from ..memory.keys import KeysNamespace
from ..memory.trust import TrustNamespace
from ..memory.upkeep import UpkeepNamespace
from ..net.hop import Threads
from ..recall.pack import Context
from . import requests_of
from .remote_verbs import Remote, Requests, make_namespace, serve
from .requests_of import ask, ask_facts, mark
from .sending import Sender
from .unpacking import unpack, unpack_all_hits, unpack_forgotten, unpack_hits, unpack_preview

_MEMORY: Final[Mapping[str, Requests]] = {
    "remember": requests_of.remember,
    "get": requests_of.get,
    "recall": ask("recall", unpack_hits),
    "recall_all": ask("recall_all", unpack_all_hits),
    "context": ask("context", partial(unpack, Context)),
    "feedback": requests_of.feedback,
    "find": requests_of.find,
    "count": ask("count", int),
    "revise": requests_of.revise,
    "promote": requests_of.promote,
    "forget": ask("forget", unpack_forgotten),
    "history": requests_of.history,
    "scopes": requests_of.scopes,
    "export": requests_of.export,
    "load": requests_of.load,
}
_FACTS: Final[Mapping[str, Requests]] = {name: ask_facts(name) for name in FACT_VERBS}
_UPKEEP: Final[Mapping[str, Requests]] = {
    "pin": mark("PUT", "pin"),
    "unpin": mark("DELETE", "pin"),
    "hold": mark("PUT", "hold"),
    "release": mark("DELETE", "hold"),
}
_TRUST: Final[Mapping[str, Requests]] = {
    "preview_forget": ask("forget", unpack_preview, preview=True),
    "review": ask("review", partial(unpack, list[Record])),
    "approve": ask("approve", partial(unpack, Record)),
    "reject": ask("reject", unpack_forgotten),
}
_ADMIN: Final[Mapping[str, Requests]] = {
    "stats": requests_of.stats,
    "health": requests_of.health,
    "sessions": requests_of.sessions,
    "changes": ask("changes", partial(unpack, ChangePage)),
}
_AT_ONCE: Final = 32  # concurrent requests of an `AsyncClient`


__all__ = ["AsyncClient", "Client", "connect"]


@observable("remember", "recall", "context", "find", "revise", "forget", "export", "load")
@serve(_MEMORY, absent=("parts", "audit"))
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
        self.facts = make_namespace(FactsNamespace, _FACTS, sender)
        self.upkeep = make_namespace(UpkeepNamespace, _UPKEEP, sender)
        self.trust = make_namespace(TrustNamespace, _TRUST, sender)
        self.keys = make_namespace(KeysNamespace, {}, sender)
        self.admin = make_namespace(AdminNamespace, _ADMIN, sender)


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
