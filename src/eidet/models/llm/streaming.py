"""Answers as they are spoken: the streamed form of the Messages API, over the standard library."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import suppress
from http.client import HTTPException, HTTPResponse
from typing import Any

from ...core.errors import Misconfigured, Unavailable
from ...net.http import HttpClient, join_endpoint
from . import Request
from .claude import Anthropic

TRIES = 4


class Spoken(Iterator[str]):
    """The words of one answer as they come. `close` may be called from another thread, at any time."""

    def __init__(self, http: HttpClient, asked: Mapping[str, Any]) -> None:
        self._http, self._asked = http, asked
        self._reading = threading.Lock()
        self._response: HTTPResponse | None = None
        self._events: Iterator[Mapping[str, Any]] | None = None
        self._closed = False
        self.stop: str | None = None  # why the model stopped, once it did

    def __next__(self) -> str:
        with self._reading:
            if self._events is None and not self._closed:
                self._response = self._http.open_stream(self._asked)
                self._events = self._read(self._response)
            words = None if self._closed else self._next_words()
            if words is None:
                self._end()
                raise StopIteration
        return words

    def _next_words(self) -> str | None:
        """None at the end of the answer, or when somebody hung up."""
        for event in self._events or ():
            match event.get("type"):
                case "content_block_delta" if event["delta"].get("type") == "text_delta":
                    return str(event["delta"]["text"])
                case "message_delta":
                    self.stop = event["delta"].get("stop_reason")
                case "message_stop":
                    return None
                case "error":
                    raise self._break_off(str(event.get("error", {}).get("message") or event))
        if self._closed:
            return None
        raise self._break_off("it ended in the middle")

    def _break_off(self, why: str) -> Unavailable:
        self._end()
        return Unavailable(f"the answer of {self._http.endpoint} broke off: {self._http.redact(why)[:300]}")

    def _read(self, response: HTTPResponse) -> Iterator[Mapping[str, Any]]:
        try:
            for data in read_events(line.decode("utf-8", errors="replace") for line in response):
                yield self._event(data)
        except (OSError, HTTPException) as broken:
            if not self._closed:
                raise self._break_off(f"{type(broken).__name__}: {broken}") from broken

    def _event(self, data: str) -> Mapping[str, Any]:
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict):
            self._end()
            raise Misconfigured(
                f"{self._http.endpoint} streams something that is not the Messages API: {data[:80]!r}"
            )
        return event

    def _end(self) -> None:
        self._closed = True
        if self._response is not None:
            self._response.close()

    def close(self) -> None:
        """Hangs up. Whoever waits for the next words is told that there are none."""
        self._closed = True
        if self._reading.acquire(blocking=False):
            self._end()
            self._reading.release()
        elif self._response is not None:
            _hang_up(self._response)  # and whoever reads closes it


def _hang_up(response: HTTPResponse) -> None:
    """Ends the connection under a reader, who holds the file and would else wait for more."""
    with suppress(OSError, ValueError), socket.socket(fileno=os.dup(response.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


def read_events(lines: Iterable[str]) -> Iterator[str]:
    """The data of each server-sent event; comments, names and ids are passed over."""
    data: list[str] = []
    for line in lines:
        text = line.rstrip("\r\n")
        if not text and data:
            yield "\n".join(data)
            data = []
        elif text.startswith("data:"):
            data.append(text[5:].removeprefix(" "))


class StreamingAnthropic:
    """A model of the Messages API that is listened to while it speaks."""

    def __init__(
        self,
        model: str,
        *,
        key: str | None = None,
        url: str | None = None,
        timeout: float = 60.0,
        headers: Mapping[str, str] | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        dialect = Anthropic()
        at = url or environment.get("ANTHROPIC_BASE_URL", "").strip() or dialect.home
        # The key of the environment belongs to the address of the environment, never to another one.
        own = key or (None if url else environment.get("ANTHROPIC_API_KEY", "").strip() or None)
        if own is None and at == dialect.home and not headers:
            raise Misconfigured("the model needs a key: give api_key=… or set ANTHROPIC_API_KEY")
        self.name: str = f"anthropic:{model}"
        self._model, self._dialect = model, dialect
        self._http = HttpClient(
            endpoint=join_endpoint(at, dialect.path(at), "the Anthropic API"),
            headers=dialect.headers(own) | dict(headers or {}),
            secret=own,
            timeout=timeout,
            tries=TRIES,
        )

    def __repr__(self) -> str:
        return f"<streaming {self.name}>"

    def speak(self, request: Request) -> Spoken:
        """The words of the answer. Nothing is sent before the first is asked for."""
        body = self._dialect.body(request, self._model, frozenset())
        return Spoken(self._http, {**body, "stream": True})


async def listen(words: Spoken) -> AsyncIterator[str]:
    """The same for asyncio: each wait is in a thread, and whoever stops listening hangs up."""
    import asyncio

    try:
        while (piece := await asyncio.to_thread(next, words, None)) is not None:
            yield piece
    finally:
        words.close()
