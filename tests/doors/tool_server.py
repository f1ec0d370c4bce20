"""The server of `anthropic_server`, for answers that end otherwise: cut off, refused, paused."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.doors.anthropic_server import KEY, Asked, Block, Server, _Handler, blocks, message


@dataclass(frozen=True, slots=True)
class Stopped:
    """An answer that stopped for a reason of its own."""

    content: str | list[Block]
    reason: str


class _Stopping(_Handler):
    def _give(self, asked: Asked, reply: Any) -> None:
        if isinstance(reply, Stopped):
            self._json(200, message(asked, blocks(reply.content), stop=reply.reason))
        else:
            super()._give(asked, reply)


@contextmanager
def stopping(script: Callable[[Asked], Any]) -> Iterator[Server]:
    """A server for the time of the block; the script may also answer `Stopped`."""
    with Server([script], KEY) as server:
        server.RequestHandlerClass = _Stopping
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
