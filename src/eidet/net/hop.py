"""Bridges event loops and threads: blocking calls run in threads, coroutines on a background loop."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor, wait
from functools import update_wrapper
from typing import Any, Concatenate, Final, Generic, NoReturn, ParamSpec, TypeVar, cast

from ..core.errors import Misconfigured, Unavailable
from ..core.foreground import watch_for_giving_up

C = TypeVar("C")
P = ParamSpec("P")
T = TypeVar("T")
U = TypeVar("U")
V = TypeVar("V")


class Threads(Generic[C]):
    """Threads for an object that is opened on first use; calls that may block run in them.

    `waits` takes the open object and returns whether its calls may block, for example on a disk or a server.
    """

    def __init__(self, make: Callable[[], C], waits: Callable[[C], bool], workers: int = 8) -> None:
        self._make, self._waits = make, waits
        self._opened: C | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="eidet")

    def __reduce__(self) -> NoReturn:
        raise Misconfigured("an open memory cannot be pickled: open it anew where it is needed")

    def hop_always(self) -> None:
        """Runs every call in a thread from now on, for loops whose other tasks must never be blocked."""
        self._waits = lambda _opened: True

    def core(self) -> C:
        """Returns the open object; opens it in this thread if it is not open yet."""
        with self._lock:
            if self._opened is None:
                if self._closed:
                    raise Misconfigured("the memory was closed before it was used; open it again")
                self._opened = self._make()
            return self._opened

    async def open(self) -> C:
        """Returns the open object; opens it in a thread if it is not open yet."""
        if self._opened is None and not self._closed:
            return await self._hop(self.core)
        return self.core()

    async def run(self, call: Callable[[], T]) -> T:
        """Makes a call, in a thread unless it cannot block. Context variables are passed on."""
        if self._closed or not self._waits(await self.open()):
            return call()
        return await self._hop(lend_loop(call))

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
        """Runs a verb, and then `finish` on its answer in the same thread, so that one hop serves both."""
        return cast("U", await verb(Hopping(self, self.core, finish), *args, **kwargs))

    async def close(self, close: Callable[[C], None]) -> None:
        """Closes the object and ends the threads, once running calls have returned."""
        opened = self._opened
        if opened is not None:
            await self.run(lambda: close(opened))
        self._closed = True
        self._pool.shutdown()


class Hopping(Generic[V]):
    """The base of classes whose methods run in threads. `core` returns the object that has them.

    `finish` is applied to each answer in the thread that made it.
    """

    def __init__(
        self, threads: Threads[Any], core: Callable[[], V], finish: Callable[[Any], Any] | None = None
    ) -> None:
        self.threads = threads
        self._core, self._finish = core, finish

    async def _run(self, method: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        def call() -> T:
            answer = getattr(self._core(), method.__name__)(*args, **kwargs)  # a subclass may override it
            return cast("T", answer if self._finish is None else self._finish(answer))

        return await self.threads.run(call)


def hop(
    method: Callable[Concatenate[V, P], T],
) -> Callable[Concatenate[Hopping[V], P], Coroutine[Any, Any, T]]:
    """Makes a coroutine of a method, with its signature, overloads and docstring."""

    async def verb(self: Hopping[V], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(method, *args, **kwargs)

    return update_wrapper(verb, method)


def taking(
    init: Callable[Concatenate[Any, P], None],
) -> Callable[[Callable[..., T]], Callable[Concatenate[Any, P], T]]:
    """Gives the decorated function the signature of a constructor."""
    return lambda function: update_wrapper(function, init)


class _Lent(threading.local):
    loop: asyncio.AbstractEventLoop | None = None


_lent: Final = _Lent()


def lend_loop(call: Callable[[], T]) -> Callable[[], T]:
    """Returns the call for another thread; a user's embedder that it needs is awaited in the present loop."""
    loop = asyncio.get_running_loop()

    def lent() -> T:
        _lent.loop = loop
        try:
            return call()
        finally:
            _lent.loop = None

    return lent


def wait_for_caller(coroutine: Coroutine[Any, Any, T], otherwise: BackgroundLoop) -> T:
    """Runs a coroutine on the loop lent to this thread, or on another one if there is none."""
    loop = _lent.loop
    if loop is None or loop.is_closed():
        return otherwise.wait_for(coroutine)
    future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    while not wait([future], timeout=1.0).done:
        if loop.is_closed():
            raise Unavailable("the event loop of the caller was closed before the embedder had answered")
    return future.result()


class BackgroundLoop:
    """An event loop in a daemon thread, started on first use and again after a fork."""

    _lock: threading.Lock
    _loop: asyncio.AbstractEventLoop | None
    _thread: threading.Thread | None

    def __init__(self, name: str, *, inside: str) -> None:
        """`inside` is the error message for code on this loop that waits for it, which would deadlock."""
        self._name = name
        self._inside = inside
        self._reset()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)

    def wait_for(self, coroutine: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Returns the result of the coroutine; cancels it and raises TimeoutError after `timeout` seconds."""
        loop = self._start()
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise Misconfigured(self._inside)
        future = asyncio.run_coroutine_threadsafe(coroutine, loop)
        try:
            return future.result(timeout)
        finally:
            future.cancel()

    def _start(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
                self._thread.start()
            return self._loop

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._loop = self._thread = None
