"""The verbs of a memory that a server keeps: `Client` and `AsyncClient`.

    requests_of.py   each verb as the requests it makes and what it does with the answers
    mark_requests.py, fact_requests.py   the same for `client.upkeep` and `client.facts`
    packing.py       what a caller gives, as JSON          unpacking.py   JSON as records, hits, contexts
    sending.py       one request over the wire, and what an error of the server means here

A verb is written once, as a generator that yields requests. `Client` sends them and waits; `AsyncClient`
awaits them.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import update_wrapper
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from . import fact_requests, mark_requests, requests_of
from .requests_of import Steps
from .sending import AsyncSender, Sender, Sending

__all__ = ["AsyncClient", "Client", "connect"]

P = ParamSpec("P")
T = TypeVar("T")


class Sync:
    """Something whose verbs are asked of a server."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender


class Async:
    """The same for asyncio."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender


def _ask(verb: Callable[P, Steps[T]]) -> Callable[Concatenate[Sync, P], T]:
    """Makes a method that sends the requests of a verb."""

    def run(self: Sync, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._sender.run(verb(*args, **kwargs))

    return update_wrapper(run, verb)


def _await(verb: Callable[P, Steps[T]]) -> Callable[Concatenate[Async, P], Coroutine[Any, Any, T]]:
    """The same for asyncio."""

    async def run(self: Async, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._sender.run(verb(*args, **kwargs))

    return update_wrapper(run, verb)


class ClientTrust(Sync):
    """`client.trust`: what a forget would take along."""

    preview_forget = _ask(requests_of.preview_forget)


class ClientUpkeep(Sync):
    """`client.upkeep`: marks on single records."""

    pin = _ask(mark_requests.pin)
    unpin = _ask(mark_requests.unpin)
    hold = _ask(mark_requests.hold)
    release = _ask(mark_requests.release)


class ClientFacts(Sync):
    """`client.facts`: what held when, and who is who."""

    add = _ask(fact_requests.add)
    about = _ask(fact_requests.about)
    match = _ask(fact_requests.match)
    neighbours = _ask(fact_requests.neighbours)
    paths = _ask(fact_requests.paths)
    timeline = _ask(fact_requests.timeline)
    entities = _ask(fact_requests.entities)
    profile = _ask(fact_requests.profile)
    why = _ask(fact_requests.why)
    instructions = _ask(fact_requests.instructions)
    contradictions = _ask(fact_requests.contradictions)
    resolve = _ask(fact_requests.resolve)
    retract = _ask(fact_requests.retract)
    merge = _ask(fact_requests.merge)
    split = _ask(fact_requests.split)
    undo = _ask(fact_requests.undo)
    decisions = _ask(fact_requests.decisions)
    export = _ask(fact_requests.export)


class ClientAdmin(Sync):
    """`client.admin`: how the memory on the server does."""

    stats = _ask(requests_of.stats)
    health = _ask(requests_of.health)


class Client(Sync):
    """A memory on a server, with the verbs of `Memory`: `Client("http://127.0.0.1:8765")`.

    `key` is a key of the server's callers; `env:NAME` and `file:PATH` name where it is kept. A call that
    cannot reach the server, or that the server asks to wait with, is sent again until `timeout` seconds have
    passed. Storing is never doubled by that. Safe from many threads.
    """

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 30.0) -> None:
        super().__init__(Sender(Sending.of(url, key, timeout)))
        self.facts = ClientFacts(self._sender)
        self.upkeep = ClientUpkeep(self._sender)
        self.trust = ClientTrust(self._sender)
        self.admin = ClientAdmin(self._sender)

    remember = _ask(requests_of.remember)
    get = _ask(requests_of.get)
    recall = _ask(requests_of.recall)
    context = _ask(requests_of.context)
    feedback = _ask(requests_of.feedback)
    find = _ask(requests_of.find)
    count = _ask(requests_of.count)
    revise = _ask(requests_of.revise)
    forget = _ask(requests_of.forget)
    history = _ask(requests_of.history)
    scopes = _ask(requests_of.scopes)
    export = _ask(requests_of.export)
    load = _ask(requests_of.load)

    def close(self) -> None:
        """Closes the connections; closing twice is fine."""
        self._sender.close()

    def __repr__(self) -> str:
        return f"Client({self._sender.sending.url})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClientTrust(Async):
    """`client.trust` for asyncio."""

    preview_forget = _await(requests_of.preview_forget)


class AsyncClientUpkeep(Async):
    """`client.upkeep` for asyncio."""

    pin = _await(mark_requests.pin)
    unpin = _await(mark_requests.unpin)
    hold = _await(mark_requests.hold)
    release = _await(mark_requests.release)


class AsyncClientFacts(Async):
    """`client.facts` for asyncio."""

    add = _await(fact_requests.add)
    about = _await(fact_requests.about)
    match = _await(fact_requests.match)
    neighbours = _await(fact_requests.neighbours)
    paths = _await(fact_requests.paths)
    timeline = _await(fact_requests.timeline)
    entities = _await(fact_requests.entities)
    profile = _await(fact_requests.profile)
    why = _await(fact_requests.why)
    instructions = _await(fact_requests.instructions)
    contradictions = _await(fact_requests.contradictions)
    resolve = _await(fact_requests.resolve)
    retract = _await(fact_requests.retract)
    merge = _await(fact_requests.merge)
    split = _await(fact_requests.split)
    undo = _await(fact_requests.undo)
    decisions = _await(fact_requests.decisions)
    export = _await(fact_requests.export)


class AsyncClientAdmin(Async):
    """`client.admin` for asyncio."""

    stats = _await(requests_of.stats)
    health = _await(requests_of.health)


class AsyncClient(Async):
    """`Client` for asyncio, with the verbs of `AsyncMemory`."""

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 30.0) -> None:
        super().__init__(AsyncSender(Sending.of(url, key, timeout)))
        self.facts = AsyncClientFacts(self._sender)
        self.upkeep = AsyncClientUpkeep(self._sender)
        self.trust = AsyncClientTrust(self._sender)
        self.admin = AsyncClientAdmin(self._sender)

    remember = _await(requests_of.remember)
    get = _await(requests_of.get)
    recall = _await(requests_of.recall)
    context = _await(requests_of.context)
    feedback = _await(requests_of.feedback)
    find = _await(requests_of.find)
    count = _await(requests_of.count)
    revise = _await(requests_of.revise)
    forget = _await(requests_of.forget)
    history = _await(requests_of.history)
    scopes = _await(requests_of.scopes)
    export = _await(requests_of.export)
    load = _await(requests_of.load)

    async def close(self) -> None:
        """Closes the connections; closing twice is fine."""
        await self._sender.close()

    def __repr__(self) -> str:
        return f"AsyncClient({self._sender.sending.url})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def connect(url: str, *, key: str | None = None, timeout: float = 30.0) -> Client:
    """Opens a memory on a server: `eidet.connect("http://127.0.0.1:8765")`, with the verbs of `Memory`."""
    return Client(url, key=key, timeout=timeout)
