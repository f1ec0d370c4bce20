"""An event loop beside the threads: asynchronous code of the user runs there while synchronous code waits."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from ..core.errors import Misconfigured

T = TypeVar("T")


class BackgroundLoop:
    """One event loop in a daemon thread, started when first needed, and anew after a fork."""

    _lock: threading.Lock
    _loop: asyncio.AbstractEventLoop | None
    _thread: threading.Thread | None

    def __init__(self, name: str, *, inside: str) -> None:
        """`inside` is the message for code that runs on this loop and waits for it: it would hang."""
        self._name = name
        self._inside = inside
        self._reset()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)

    def wait_for(self, coroutine: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """The result of the coroutine. After `timeout` seconds it is cancelled and TimeoutError raised."""
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
