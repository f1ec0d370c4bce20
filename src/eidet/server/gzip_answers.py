"""Answers in fewer bytes for clients that take them so; large ones are packed in a thread."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import MutableMapping
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders

from .doorway import AsgiApp, Message, Receive, Send

SMALLEST: Final = 1000  # bytes; less is not worth it
LARGE: Final = 100_000  # bytes that take a thread
LEVEL: Final = 4
PACKABLE: Final = ("application/json", "application/x-ndjson", "text/", "image/svg")


class Gzip:
    """ASGI middleware: packs whole answers, and streams piece by piece. Event streams pass as they are."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and "gzip" in Headers(scope=scope).get("accept-encoding", ""):
            send = GzipSender(send)
        await self._app(scope, receive, send)


class GzipSender:
    """Holds the start of an answer until its first piece shows whether to pack it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._packer: Any = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
        elif message["type"] != "http.response.body":
            await self._send(message)
        elif self._start is not None:
            await self._begin(self._start, message)
        else:
            await self._go_on(message)

    async def _begin(self, start: Message, message: Message) -> None:
        self._start = None
        headers = MutableHeaders(raw=start["headers"])
        body, more = message.get("body", b""), message.get("more_body", False)
        if is_packable(headers, len(body), more):
            headers["Content-Encoding"] = "gzip"
            headers.add_vary_header("Accept-Encoding")
            del headers["Content-Length"]
            if more:
                self._packer = zlib.compressobj(LEVEL, wbits=31)
            else:
                message = {**message, "body": await pack_whole(body)}
                headers["Content-Length"] = str(len(message["body"]))
        await self._send(start)
        await self._go_on(message)

    async def _go_on(self, message: Message) -> None:
        if self._packer is not None:
            body = self._packer.compress(message.get("body", b""))
            if not message.get("more_body", False):
                body += self._packer.flush()
            message = {**message, "body": body}
        await self._send(message)


def is_packable(headers: Headers | MutableHeaders, size: int, more: bool) -> bool:
    kind = headers.get("content-type", "")
    if "content-encoding" in headers or kind.startswith("text/event-stream"):
        return False
    return kind.startswith(PACKABLE) and (more or size >= SMALLEST)


async def pack_whole(body: bytes) -> bytes:
    if len(body) < LARGE:
        return gzip.compress(body, LEVEL)
    return await asyncio.to_thread(gzip.compress, body, LEVEL)
