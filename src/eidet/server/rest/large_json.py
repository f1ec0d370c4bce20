"""Large JSON in pieces. One call of the parser or the encoder keeps every other thread from running.

A list of a thousand records is parsed and written record by record, so that the event loop gets its turn
in between, while a thread does the work.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic_core import to_json

LARGE: Final = 100_000  # bytes of a body that a thread parses
_BLANKS: Final = " \t\n\r"
_DECODER: Final = json.JSONDecoder()


class LargeRequest(Request):
    """A request whose body, where it is large, is parsed in a thread."""

    async def json(self) -> Any:
        body = await self.body()
        if len(body) < LARGE:
            return await super().json()
        return await asyncio.to_thread(parse_pieces, body)


class PatientRoute(APIRoute):
    """A route that reads large bodies without holding up the loop."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def run(request: Request) -> Response:
            return await handle(LargeRequest(request.scope, request.receive))

        return run


def parse_pieces(body: bytes) -> Any:
    """What `json.loads` makes of a body; the lists of its outermost object are parsed item by item."""
    text = body.decode(json.detect_encoding(body), "surrogatepass")
    try:
        return _ObjectParser(text).parse()
    except (ValueError, IndexError):  # no object, or no JSON: the usual parser says what is wrong
        return json.loads(body)


class _ObjectParser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def parse(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._take("{")
        while True:
            self._skip_blanks()
            if self._text[self._at] != '"':
                raise ValueError("a name is missing")
            name = self._parse_item()
            self._take(":")
            found[name] = self._parse_value()
            if self._take_either(",", "}") == "}":
                break
        self._skip_blanks()
        if self._at != len(self._text):
            raise ValueError("there is more after the object")
        return found

    def _parse_value(self) -> Any:
        self._skip_blanks()
        if self._text[self._at] == "[":
            return self._parse_list()
        return self._parse_item()

    def _parse_list(self) -> list[Any]:
        items: list[Any] = []
        self._take("[")
        self._skip_blanks()
        if self._text[self._at] == "]":
            self._at += 1
            return items
        while True:
            self._skip_blanks()
            items.append(self._parse_item())
            if self._take_either(",", "]") == "]":
                return items

    def _parse_item(self) -> Any:
        value, self._at = _DECODER.raw_decode(self._text, self._at)
        return value

    def _take(self, sign: str) -> None:
        self._take_either(sign, sign)

    def _take_either(self, one: str, other: str) -> str:
        self._skip_blanks()
        sign = self._text[self._at]
        if sign != one and sign != other:
            raise ValueError(f"{one} or {other} is missing")
        self._at += 1
        return sign

    def _skip_blanks(self) -> None:
        while self._at < len(self._text) and self._text[self._at] in _BLANKS:
            self._at += 1


def dump_small(told: Mapping[str, Any]) -> bytes:
    """JSON in UTF-8, in one go."""
    return to_json(told, inf_nan_mode="null")


def dump_pieces(told: Mapping[str, Any]) -> bytes:
    """What `dump_small` makes of an answer; its lists are written item by item."""
    parts = []
    for name, value in told.items():
        if isinstance(value, list):
            items = []
            for item in value:
                items.append(to_json(item, inf_nan_mode="null"))
            written = b"[%b]" % b",".join(items)
        else:
            written = to_json(value, inf_nan_mode="null")
        parts.append(b"%b:%b" % (to_json(name), written))
    return b"{%b}" % b",".join(parts)
