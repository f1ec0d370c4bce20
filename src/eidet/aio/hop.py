"""One hop into a thread for every verb, with its signature and docstring, and what must be awaited first."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial, update_wrapper
from typing import Any, Concatenate, Generic, NoReturn, ParamSpec, Protocol, TypeVar, runtime_checkable

from ..core.arguments import check_query
from ..core.errors import Misconfigured
from ..core.scope import Scope
from ..core.validate import Json, Moment
from ..memory import Memory
from ..store.ram import RamStore
from ..write import text_said, texts_of

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")


@runtime_checkable
class AsyncEmbedding(Protocol):
    """An embedder made of asynchronous code: it is awaited in the caller's loop, ahead of the verb."""

    async def warm(self, texts: Sequence[str]) -> None:
        """Embeds texts, so that the verb finds their vectors ready."""


class Threads:
    """Opens a memory in a thread when it is first used, and runs verbs in threads where they may wait."""

    def __init__(self, make: Callable[[], Memory]) -> None:
        self._make = make
        self._memory: Memory | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._pool = ThreadPoolExecutor(max_workers=8, thread_name_prefix="eidet")

    def __reduce__(self) -> NoReturn:
        raise Misconfigured("an open memory cannot be pickled: open it anew where it is needed")

    def core(self) -> Memory:
        """The memory; opens it in this thread if nobody has yet."""
        with self._lock:
            if self._memory is None:
                if self._closed:
                    raise Misconfigured("the memory was closed before it was used; open it again")
                self._memory = self._make()
            return self._memory

    async def open(self) -> Memory:
        """The memory; opens it in a thread if nobody has yet."""
        if self._memory is None and not self._closed:
            return await self._hop(self.core)
        return self.core()

    async def run(self, verb: Callable[[], T]) -> T:
        """Calls a verb: in a thread, unless nothing in it waits. Context variables travel along."""
        memory = await self.open()
        if self._closed or not _waits(memory):
            return verb()
        return await self._hop(verb)

    async def _hop(self, call: Callable[[], T]) -> T:
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._pool, context.run, call)

    async def close(self) -> None:
        if self._memory is not None:
            await self.run(self._memory.close)
        self._closed = True
        self._pool.shutdown()

    async def embed(self, texts: Sequence[str]) -> None:
        """Awaits an asynchronous embedder in the caller's loop."""
        embedder = (await self.open()).parts.embedder
        if isinstance(embedder, AsyncEmbedding) and texts:
            await embedder.warm(texts)

    async def embed_said(self, what: Any, details: Mapping[str, Any]) -> None:
        """Embeds what `remember` will, as it will be kept."""
        memory = await self.open()
        guarding = memory.trust.guarding
        if not isinstance(memory.parts.embedder, AsyncEmbedding):
            return
        if guarding.guards:
            await self.embed(guarding.texts(what, details))
        elif details.get("vector") is None:
            await self.embed(text_said(details) if what is None else texts_of(what))

    async def embed_query(
        self, query: str | Mapping[str, Json], scope: str | Scope, now: Moment | None, understand: bool
    ) -> None:
        """Embeds a query as the recall will ask for it: what it names may be left out."""
        memory = await self.open()
        embedder = memory.parts.embedder
        if isinstance(query, Mapping):
            query, understand = check_query(query), False
        if isinstance(embedder, AsyncEmbedding) and isinstance(query, str) and query.strip():
            text = memory.trust.guarding.query(check_query(query))
            if understand:
                text = await self.run(partial(memory.admin.phrase_query, query, scope=scope, now=now))
            await embedder.warm([text])


def _waits(memory: Memory) -> bool:
    """Whether a verb may wait for a disk or a server. A closed memory answers at once."""
    parts = memory.parts
    ram = parts.closed or isinstance(parts.store, RamStore)
    return not ram or isinstance(parts.embedder, AsyncEmbedding)


class Hopping(Generic[V]):
    """Something whose methods run in the threads of an `AsyncMemory`."""

    def __init__(self, threads: Threads, core: Callable[[], V]) -> None:
        self._threads = threads
        self._core = core

    async def _run(self, method: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        return await self._threads.run(lambda: method(self._core(), *args, **kwargs))


def hop(
    method: Callable[Concatenate[V, P], T], ready: Callable[..., Coroutine[Any, Any, None]] | None = None
) -> Callable[Concatenate[Hopping[V], P], Coroutine[Any, Any, T]]:
    """A method as a coroutine, with its signature and docstring.

    `ready` is awaited first, with the threads, what gives the object of the method, and the same
    arguments: it embeds what the method will need.
    """

    async def verb(self: Hopping[V], /, *args: P.args, **kwargs: P.kwargs) -> T:
        if ready is not None:
            await ready(self._threads, self._core, *args, **kwargs)
        return await self._run(method, *args, **kwargs)

    return update_wrapper(verb, method)


def taking(
    init: Callable[Concatenate[Any, P], None],
) -> Callable[[Callable[..., T]], Callable[Concatenate[Any, P], T]]:
    """Gives a function the parameters of a constructor."""
    return lambda function: update_wrapper(function, init)


def like(method: Callable[..., Any]) -> Callable[[F], F]:
    """Carries signature and docstring over to a verb whose overloads a type checker must see."""

    def carry(verb: F) -> F:
        update_wrapper(verb, method)
        return verb

    return carry
