"""The verbs of a memory that a server keeps: `Client` and `AsyncClient`.

    requests_of.py   each verb as the requests it makes and what it does with the answers
    served_verbs.py  which verbs a server answers, and what to do instead of the others
    remote_verbs.py  methods from requests          by_address.py   `Memory("http://…")`
    packing.py       what a caller gives, as JSON   unpacking.py    JSON as records, hits, contexts, facts
    sending.py       one request over the wire, and what an error of the server means here

A verb is written once, as a generator that yields requests. `Client` sends them and waits; `AsyncClient`
awaits them. Both are subclasses of the memories whose verbs they have, and `serve` overrides those verbs.
"""

from __future__ import annotations

from functools import partial
from types import TracebackType
from typing import Any, Self

from ..aio import AsyncAdmin, AsyncKeys, AsyncMemory, AsyncTrust, AsyncUpkeep
from ..core.observers import observable
from ..memory import Memory
from ..memory.admin import AdminNamespace
from ..memory.async_facts import AsyncFacts
from ..memory.facts import FactsNamespace
from ..memory.keys import KeysNamespace
from ..memory.trust import TrustNamespace
from ..memory.upkeep import UpkeepNamespace
from ..net.hop import Threads
from .remote_verbs import Async, Sync, make_namespace, serve
from .sending import AsyncSender, Sender, Sending
from .served_verbs import ADMIN, FACTS, KEYS, MEMORY, TRUST, UPKEEP

__all__ = ["AsyncClient", "Client", "connect"]


@observable("remember", "recall", "context", "find", "revise", "forget", "export", "load")
@serve(MEMORY)
class Client(Sync, Memory):
    """A memory on a server, with the verbs of `Memory`: `Client("http://127.0.0.1:8765")`.

    `key` is a key of the server's callers; `env:NAME` and `file:PATH` name where it is kept. Without one, the
    variable EIDET_API_KEY is read. A call that cannot reach the server, or that the server asks to wait with,
    is sent again until `timeout` seconds have passed. Storing is never doubled by that. Safe from many
    threads. A verb that no server offers raises `Misconfigured`, whose message says what to do instead.
    """

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 30.0) -> None:
        sender = Sender(Sending.of(url, key, timeout))
        super().__init__(sender)
        self._namespaces: Any = _ClientNamespaces(sender)

    def close(self) -> None:
        """Closes the connections; closing twice is fine."""
        self._sender.close()

    def __repr__(self) -> str:
        return f"Client({self._sender.sending.url})"


class _ClientNamespaces:
    """The namespaces of a client, where `Memory` looks for its own."""

    def __init__(self, sender: Sender) -> None:
        self.facts = make_namespace(FactsNamespace, FACTS, sender)
        self.upkeep = make_namespace(UpkeepNamespace, UPKEEP, sender)
        self.trust = make_namespace(TrustNamespace, TRUST, sender)
        self.keys = make_namespace(KeysNamespace, KEYS, sender)
        self.admin = make_namespace(AdminNamespace, ADMIN, sender)


@serve(MEMORY)
class AsyncClient(Async, AsyncMemory):
    """`Client` for asyncio, with the verbs of `AsyncMemory`: each awaits the server, none hops to a thread.

    `core` and `threads` are a `Client` of the same server and its threads, for views and doors.
    """

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 30.0) -> None:
        sender = AsyncSender(Sending.of(url, key, timeout))
        threads: Threads[Memory] = Threads(partial(Client, url, key=key, timeout=timeout), _waits)
        super().__init__(sender, threads, threads.core)
        core = threads.core
        self.facts = make_namespace(AsyncFacts, FACTS, sender, threads, lambda: core().facts)
        self.upkeep = make_namespace(AsyncUpkeep, UPKEEP, sender, threads, lambda: core().upkeep)
        self.trust = make_namespace(AsyncTrust, TRUST, sender, threads, lambda: core().trust)
        self.keys = make_namespace(AsyncKeys, KEYS, sender, threads, lambda: core().keys)
        self.admin = make_namespace(AsyncAdmin, ADMIN, sender, threads, lambda: core().admin)

    async def close(self) -> None:
        """Closes the connections; closing twice is fine."""
        await self._sender.close()
        await self.threads.close(_close)

    def __repr__(self) -> str:
        return f"AsyncClient({self._sender.sending.url})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _close(client: Memory) -> None:
    client.close()


def _waits(_client: Memory) -> bool:
    return True


def connect(url: str, *, key: str | None = None, timeout: float = 30.0) -> Client:
    """Opens a memory on a server, as `Memory(url)` does: `eidet.connect("http://127.0.0.1:8765")`.

    `timeout` says for how many seconds a call is tried.
    """
    return Client(url, key=key, timeout=timeout)
