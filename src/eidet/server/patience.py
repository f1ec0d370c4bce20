"""Connections that send or read nothing for long are closed, so that they hold nothing up."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

SECONDS = 30.0  # between two looks at a connection


class PatientProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # one of two, as installed
    """Looks at its connection from time to time.

    It closes one that has not sent a whole request since the last look, and breaks one off whose client has
    read nothing since then.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def _watch(self) -> None:
        self._last: Any = self.cycle
        self._left: int = self.transport.get_write_buffer_size()
        self._timer: asyncio.TimerHandle = self.loop.call_later(SECONDS, self._look)

    def _look(self) -> None:
        left = self.transport.get_write_buffer_size()
        waiting = self.cycle is None or self.cycle.response_complete
        if left >= self._left > 0:
            self.transport.abort()
        elif waiting and self.cycle is self._last and not left:  # to close it would wait for what is left
            self.transport.close()
        else:
            self._watch()
