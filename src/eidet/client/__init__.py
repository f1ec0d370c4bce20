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
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar

from ..core.foreign_verbs import ForeignVerbs
from . import fact_requests, mark_requests, requests_of
from .host_only import HostOnly
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


class ClientTrust(Sync, HostOnly):
    """`client.trust`: what a forget would take along."""

    preview_forget: Final = _ask(requests_of.preview_forget)


class ClientUpkeep(Sync, HostOnly):
    """`client.upkeep`: marks on single records."""

    pin: Final = _ask(mark_requests.pin)
    unpin: Final = _ask(mark_requests.unpin)
    hold: Final = _ask(mark_requests.hold)
    release: Final = _ask(mark_requests.release)


class ClientFacts(Sync, HostOnly):
    """`client.facts`: what held when, and who is who."""

    add: Final = _ask(fact_requests.add)
    about: Final = _ask(fact_requests.about)
    match: Final = _ask(fact_requests.match)
    neighbours: Final = _ask(fact_requests.neighbours)
    paths: Final = _ask(fact_requests.paths)
    timeline: Final = _ask(fact_requests.timeline)
    entities: Final = _ask(fact_requests.entities)
    profile: Final = _ask(fact_requests.profile)
    why: Final = _ask(fact_requests.why)
    instructions: Final = _ask(fact_requests.instructions)
    contradictions: Final = _ask(fact_requests.contradictions)
    resolve: Final = _ask(fact_requests.resolve)
    retract: Final = _ask(fact_requests.retract)
    merge: Final = _ask(fact_requests.merge)
    split: Final = _ask(fact_requests.split)
    undo: Final = _ask(fact_requests.undo)
    decisions: Final = _ask(fact_requests.decisions)
    export: Final = _ask(fact_requests.export)


class ClientAdmin(Sync, HostOnly):
    """`client.admin`: how the memory on the server does."""

    stats: Final = _ask(requests_of.stats)
    health: Final = _ask(requests_of.health)
    sessions: Final = _ask(requests_of.sessions)


class Client(Sync, ForeignVerbs):
    """A memory on a server, with the verbs of `Memory`: `Client("http://127.0.0.1:8765")`.

    `key` is a key of the server's callers; `env:NAME` and `file:PATH` name where it is kept. A call that
    cannot reach the server, or that the server asks to wait with, is sent again until `timeout` seconds have
    passed. Storing is never doubled by that. Safe from many threads.
    """

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 30.0) -> None:
        super().__init__(Sender(Sending.of(url, key, timeout)))
        self.facts: ClientFacts = ClientFacts(self._sender)
        self.upkeep: ClientUpkeep = ClientUpkeep(self._sender)
        self.trust: ClientTrust = ClientTrust(self._sender)
        self.admin: ClientAdmin = ClientAdmin(self._sender)

    remember: Final = _ask(requests_of.remember)
    get: Final = _ask(requests_of.get)
    recall: Final = _ask(requests_of.recall)
    context: Final = _ask(requests_of.context)
    feedback: Final = _ask(requests_of.feedback)
    find: Final = _ask(requests_of.find)
    count: Final = _ask(requests_of.count)
    revise: Final = _ask(requests_of.revise)
    forget: Final = _ask(requests_of.forget)
    history: Final = _ask(requests_of.history)
    scopes: Final = _ask(requests_of.scopes)
    export: Final = _ask(requests_of.export)
    load: Final = _ask(requests_of.load)

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


class AsyncClientTrust(Async, HostOnly):
    """`client.trust` for asyncio."""

    preview_forget: Final = _await(requests_of.preview_forget)


class AsyncClientUpkeep(Async, HostOnly):
    """`client.upkeep` for asyncio."""

    pin: Final = _await(mark_requests.pin)
    unpin: Final = _await(mark_requests.unpin)
    hold: Final = _await(mark_requests.hold)
    release: Final = _await(mark_requests.release)


class AsyncClientFacts(Async, HostOnly):
    """`client.facts` for asyncio."""

    add: Final = _await(fact_requests.add)
    about: Final = _await(fact_requests.about)
    match: Final = _await(fact_requests.match)
    neighbours: Final = _await(fact_requests.neighbours)
    paths: Final = _await(fact_requests.paths)
    timeline: Final = _await(fact_requests.timeline)
    entities: Final = _await(fact_requests.entities)
    profile: Final = _await(fact_requests.profile)
    why: Final = _await(fact_requests.why)
    instructions: Final = _await(fact_requests.instructions)
    contradictions: Final = _await(fact_requests.contradictions)
    resolve: Final = _await(fact_requests.resolve)
    retract: Final = _await(fact_requests.retract)
    merge: Final = _await(fact_requests.merge)
    split: Final = _await(fact_requests.split)
    undo: Final = _await(fact_requests.undo)
    decisions: Final = _await(fact_requests.decisions)
    export: Final = _await(fact_requests.export)


class AsyncClientAdmin(Async, HostOnly):
    """`client.admin` for asyncio."""

    stats: Final = _await(requests_of.stats)
    health: Final = _await(requests_of.health)
    sessions: Final = _await(requests_of.sessions)


class AsyncClient(Async, ForeignVerbs):
    """`Client` for asyncio, with the verbs of `AsyncMemory`."""

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 30.0) -> None:
        super().__init__(AsyncSender(Sending.of(url, key, timeout)))
        self.facts: AsyncClientFacts = AsyncClientFacts(self._sender)
        self.upkeep: AsyncClientUpkeep = AsyncClientUpkeep(self._sender)
        self.trust: AsyncClientTrust = AsyncClientTrust(self._sender)
        self.admin: AsyncClientAdmin = AsyncClientAdmin(self._sender)

    remember: Final = _await(requests_of.remember)
    get: Final = _await(requests_of.get)
    recall: Final = _await(requests_of.recall)
    context: Final = _await(requests_of.context)
    feedback: Final = _await(requests_of.feedback)
    find: Final = _await(requests_of.find)
    count: Final = _await(requests_of.count)
    revise: Final = _await(requests_of.revise)
    forget: Final = _await(requests_of.forget)
    history: Final = _await(requests_of.history)
    scopes: Final = _await(requests_of.scopes)
    export: Final = _await(requests_of.export)
    load: Final = _await(requests_of.load)

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
