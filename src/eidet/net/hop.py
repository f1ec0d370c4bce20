"""One hop into a thread for each call that may wait, so that an event loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import update_wrapper
from typing import Any, Concatenate, Final, Generic, NoReturn, ParamSpec, TypeVar, cast

from ..core.errors import Misconfigured
from ..core.foreground import watch_for_giving_up

C = TypeVar("C")
P = ParamSpec("P")
T = TypeVar("T")
U = TypeVar("U")
V = TypeVar("V")


class Threads(Generic[C]):
    """Opens something in a thread when it is first used, and makes calls in threads where they may wait.

    `waits` says of what is open whether a call of it may wait: for a disk, say, or for a server.
    """

    def __init__(self, make: Callable[[], C], waits: Callable[[C], bool]) -> None:
        self._make, self._waits = make, waits
        self._opened: C | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._pool = ThreadPoolExecutor(max_workers=8, thread_name_prefix="eidet")

    def __reduce__(self) -> NoReturn:
        raise Misconfigured("an open memory cannot be pickled: open it anew where it is needed")

    def hop_always(self) -> None:
        """Makes every call in a thread from now on: for loops whose other tasks may not wait at all."""
        self._waits = _wait_always

    def core(self) -> C:
        """Returns the open object; opens it in this thread if nobody has yet."""
        with self._lock:
            if self._opened is None:
                if self._closed:
                    raise Misconfigured("the memory was closed before it was used; open it again")
                self._opened = self._make()
            return self._opened

    async def open(self) -> C:
        """Returns the open object; opens it in a thread if nobody has yet."""
        if self._opened is None and not self._closed:
            return await self._hop(self.core)
        return self.core()

    async def run(self, call: Callable[[], T]) -> T:
        """Makes a call: in a thread, unless nothing in it waits. Context variables travel along."""
        return call() if self._closed or not self._waits(await self.open()) else await self._hop(call)

    async def _hop(self, call: Callable[[], T]) -> T:
        context = contextvars.copy_context()
        given_up = watch_for_giving_up(context)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, context.run, call)
        except asyncio.CancelledError:
            given_up.set()
            raise

    async def finish(
        self,
        verb: Callable[Concatenate[Hopping[C], P], Coroutine[Any, Any, T]],
        finish: Callable[[T], U],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> U:
        """Runs a verb and then `finish` on its answer in the same thread, with one hop."""
        return cast("U", await verb(_Finishing(self, finish), *args, **kwargs))

    async def close(self, close: Callable[[C], None]) -> None:
        """Closes what is open, and ends the threads."""
        opened = self._opened
        if opened is not None:
            await self.run(lambda: close(opened))
        self._closed = True
        self._pool.shutdown()


def _wait_always(_opened: object) -> bool:
    return True


class Hopping(Generic[V]):
    """Something whose methods run in threads. `core` gives the object that has them."""

    def __init__(self, threads: Threads[Any], core: Callable[[], V]) -> None:
        self.threads = threads
        self._core = core

    async def _run(self, method: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        return await self.threads.run(lambda: method(self._core(), *args, **kwargs))


class _Finishing(Hopping[V]):
    """The same methods, with one more step in the thread that made the answer."""

    def __init__(self, threads: Threads[V], finish: Callable[[Any], Any]) -> None:
        super().__init__(threads, threads.core)
        self._finish = finish

    async def _run(self, method: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        def call() -> T:
            made: T = self._finish(method(self._core(), *args, **kwargs))
            return made

        return await self.threads.run(call)


class Hop:
    """Makes coroutines of methods, with their signatures, overloads and docstrings.

    `ready` is awaited first, with the threads, what gives the object of the method, and the same arguments.
    """

    def __init__(self, ready: Callable[..., Coroutine[Any, Any, None]] | None = None) -> None:
        self._ready = ready

    def __call__(
        self, method: Callable[Concatenate[V, P], T]
    ) -> Callable[Concatenate[Hopping[V], P], Coroutine[Any, Any, T]]:
        ready = self._ready

        async def verb(self: Hopping[V], /, *args: P.args, **kwargs: P.kwargs) -> T:
            if ready is not None:
                await ready(self.threads, self._core, *args, **kwargs)
            return await self._run(method, *args, **kwargs)

        return update_wrapper(verb, method)


hop: Final = Hop()


def taking(
    init: Callable[Concatenate[Any, P], None],
) -> Callable[[Callable[..., T]], Callable[Concatenate[Any, P], T]]:
    """Gives a function the parameters of a constructor."""
    return lambda function: update_wrapper(function, init)
