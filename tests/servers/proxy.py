"""A TCP proxy on loopback that makes a line slow, silent, refused, or cut in the middle of a reply."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from collections.abc import Callable

PIECE = 65_536
TURN_SECONDS = 0.02


class Proxy:
    """Stands before one port. `delay`, `silent` and `cut_after` act on open lines and on new ones."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self._target = (host, port)
        self.delay = 0.0  # seconds before each piece of a reply
        self.silent = False  # a black hole: nothing comes back any more
        self.cut_after: int | None = None  # bytes of reply after which a line is closed
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._ended = False
        self._door: socket.socket | None = None
        self.port = 0
        self.accept()

    def accept(self) -> None:
        """Lets new lines in, on the same port as before."""
        self._door = socket.create_server(("127.0.0.1", self.port))
        self.port = int(self._door.getsockname()[1])
        self._begin(self._welcome, self._door)

    def refuse(self) -> None:
        """No new lines; those that are open are cut."""
        if self._door is not None:
            with contextlib.suppress(OSError):
                self._door.shutdown(socket.SHUT_RDWR)
            self._door.close()
            self._door = None
        self.cut()

    def cut(self) -> None:
        """Closes every line that is open, without a word."""
        with self._lock:
            pairs, self._pairs = self._pairs, set()
        for end in (end for pair in pairs for end in pair):
            _close(end)

    def heal(self) -> None:
        self.delay, self.silent, self.cut_after = 0.0, False, None
        if self._door is None:
            self.accept()

    def stop(self) -> None:
        self._ended = True
        self.refuse()
        for thread in self._threads:
            thread.join(10)

    def _begin(self, what: Callable[..., None], *arguments: socket.socket) -> None:
        thread = threading.Thread(target=what, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _welcome(self, door: socket.socket) -> None:
        while True:
            try:
                caller, _ = door.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(self._target, timeout=5)
            except OSError:
                _close(caller)
                continue
            with self._lock:
                self._pairs.add((caller, server))
            self._begin(self._carry, caller, server)

    def _carry(self, caller: socket.socket, server: socket.socket) -> None:
        """Both ways in one thread; replies are what faults act on."""
        replied = 0
        with selectors.DefaultSelector() as ready, contextlib.suppress(OSError, ValueError):
            ready.register(caller, selectors.EVENT_READ)
            ready.register(server, selectors.EVENT_READ)
            while not self._ended:
                for key, _ in ready.select(TURN_SECONDS):
                    piece = key.fileobj.recv(PIECE)  # type: ignore[union-attr]
                    if not piece:
                        return self._drop(caller, server)
                    if key.fileobj is caller:
                        server.sendall(piece)
                        continue
                    time.sleep(self.delay)
                    if self.silent:
                        continue
                    if self.cut_after is not None and replied + len(piece) > self.cut_after:
                        caller.sendall(piece[: max(self.cut_after - replied, 0)])
                        return self._drop(caller, server)
                    replied += len(piece)
                    caller.sendall(piece)
        return self._drop(caller, server)

    def _drop(self, *pair: socket.socket) -> None:
        with self._lock:
            self._pairs.discard((pair[0], pair[1]))
        for end in pair:
            _close(end)


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
