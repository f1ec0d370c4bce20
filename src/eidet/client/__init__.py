"""The verbs of a memory that a server keeps: `Client` and `AsyncClient`.

    requests_of.py   each verb as the requests it makes and what it does with the answers
    remote_verbs.py  methods from requests        refusals.py   what to do instead of verbs that no server has
    client_namespaces.py   `client.facts`, `.upkeep`, `.trust`, `.keys`, `.admin`
    by_address.py    `Memory("http://…")` and `AsyncMemory("http://…")`
    packing.py       what a caller gives, as JSON          unpacking.py   JSON as records, hits, contexts
    sending.py       one request over the wire, and what an error of the server means here

A verb is written once, as a generator that yields requests. `Client` sends them and waits; `AsyncClient`
awaits them. Both are subclasses of the memories whose verbs they have, and `serve` overrides those verbs.
"""

from __future__ import annotations

from functools import partial
from types import TracebackType
from typing import Final, NoReturn, Self

from ..aio import AsyncMemory
from ..core.observers import observable
from ..memory import Memory
from ..net.hop import Threads
from ..recall.pack import Context
from . import refusals, requests_of
from .client_namespaces import (
    AsyncClientAdmin,
    AsyncClientFacts,
    AsyncClientKeys,
    AsyncClientTrust,
    AsyncClientUpkeep,
    ClientAdmin,
    ClientFacts,
    ClientKeys,
    ClientTrust,
    ClientUpkeep,
)
from .remote_verbs import Async, ServedVerbs, Sync, make_absence, serve
from .sending import AsyncSender, Sender, Sending
from .unpacking import unpack, unpack_forgotten, unpack_hits

__all__ = ["AsyncClient", "Client", "connect"]


VERBS: Final = ServedVerbs(
    answered={
        "remember": requests_of.remember,
        "get": requests_of.get,
        "recall": requests_of.ask("recall", unpack_hits),
        "context": requests_of.ask("context", partial(unpack, Context)),
        "feedback": requests_of.feedback,
        "find": requests_of.find,
        "count": requests_of.ask("count", int),
        "revise": requests_of.revise,
        "forget": requests_of.ask("forget", unpack_forgotten),
        "history": requests_of.history,
        "scopes": requests_of.scopes,
        "export": requests_of.export,
        "load": requests_of.load,
    }
)


@observable("remember", "recall", "context", "find", "revise", "forget", "export", "load")
@serve(VERBS)
class Client(Sync, Memory):
    """A memory on a server, with the verbs of `Memory`: `Client("http://127.0.0.1:8765")`.

    `key` is a key of the server's callers; `env:NAME` and `file:PATH` name where it is kept. Without one, the
    variable EIDET_API_KEY is read. A call that cannot reach the server, or that the server asks to wait with,
    is sent again until `timeout` seconds have passed. Storing is never doubled by that. Safe from many
    threads. A verb that no server offers raises `Misconfigured`, whose message says what to do instead.
    """

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 30.0) -> None:
        super().__init__(Sender(Sending.of(url, key, timeout)))
        self._facts = ClientFacts(self._sender)
        self._upkeep = ClientUpkeep(self._sender)
        self._trust = ClientTrust(self._sender)
        self._keys = ClientKeys(self._sender)
        self._admin = ClientAdmin(self._sender)

    @property
    def parts(self) -> NoReturn:
        """Raises `Misconfigured`: store, index and embedder are the server's."""
        raise make_absence(self._sender.sending.url, "the store", refusals.OPEN_STORE)

    @property
    def audit(self) -> NoReturn:
        """Raises `Misconfigured`: the server writes the audit log."""
        raise make_absence(self._sender.sending.url, "the audit log", "`eidet audit` reads its file")

    @property
    def facts(self) -> ClientFacts:
        """What held when, and who is who: `client.facts.about("Ann", as_of="2024-03-01")`."""
        return self._facts

    @property
    def upkeep(self) -> ClientUpkeep:
        """Pins and legal holds."""
        return self._upkeep

    @property
    def trust(self) -> ClientTrust:
        """What a forget would take along, and what waits for a look."""
        return self._trust

    @property
    def keys(self) -> ClientKeys:
        """Keys of a sealed memory stay with the server: each verb says so."""
        return self._keys

    @property
    def admin(self) -> ClientAdmin:
        """How the memory on the server does: `client.admin.stats()`."""
        return self._admin

    def close(self) -> None:
        """Closes the connections; closing twice is fine."""
        self._sender.close()

    def __repr__(self) -> str:
        return f"Client({self._sender.sending.url})"


@serve(VERBS)
class AsyncClient(Async, AsyncMemory):
    """`Client` for asyncio, with the verbs of `AsyncMemory`: each awaits the server, none hops to a thread.

    `core` and `threads` are a `Client` of the same server and its threads, for views and doors.
    """

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 30.0) -> None:
        sender = AsyncSender(Sending.of(url, key, timeout))
        threads: Threads[Memory] = Threads(partial(Client, url, key=key, timeout=timeout), _waits)
        super().__init__(sender, threads, threads.core)
        self.facts: AsyncClientFacts = AsyncClientFacts(self._sender, threads, lambda: threads.core().facts)
        self.upkeep: AsyncClientUpkeep = AsyncClientUpkeep(
            self._sender, threads, lambda: threads.core().upkeep
        )
        self.trust: AsyncClientTrust = AsyncClientTrust(self._sender, threads, lambda: threads.core().trust)
        self.keys: AsyncClientKeys = AsyncClientKeys(self._sender, threads, lambda: threads.core().keys)
        self.admin: AsyncClientAdmin = AsyncClientAdmin(self._sender, threads, lambda: threads.core().admin)

    @property
    def parts(self) -> NoReturn:
        """Raises `Misconfigured`: store, index and embedder are the server's."""
        raise make_absence(self._sender.sending.url, "the store", refusals.OPEN_STORE)

    @property
    def audit(self) -> NoReturn:
        """Raises `Misconfigured`: the server writes the audit log."""
        raise make_absence(self._sender.sending.url, "the audit log", "`eidet audit` reads its file")

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
