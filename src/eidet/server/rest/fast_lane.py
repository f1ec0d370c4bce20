"""A short way to the routes that are asked most. FastAPI declares them, and words every error.

A plain, valid request needs little of FastAPI: its body is read and checked by the model that the route
declares, and the route is called. Whatever is unusual goes the long way, with all that was read: another
parameter than the scope in the query, a body that is large, damaged, not valid or not marked as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any, Final, cast, get_args, get_type_hints

from fastapi import FastAPI, Request, Response
from fastapi.params import Depends, Header, Path
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.datastructures import Headers, QueryParams

from ...core.errors import EidetError
from ..doorway import AsgiApp, Message, Receive, Send
from ..errors import Problem, problem_of
from ..serving import Grant
from .large_json import LARGE

FAST: Final = frozenset(
    ("recall", "context", "find", "count", "feedback", "remember", "get", "get_memory", "revise_memory")
)
JSON: Final = "application/json"
SCOPE, SCOPE_HEADER = "scope", "eidet-scope"


class UnusualRequest(Exception):  # not an error: the request takes the long way
    """FastAPI has to look at this request."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a route gets from a header or from the path, and how it is checked."""

    name: str
    alias: str
    adapter: TypeAdapter[Any]


@dataclass(frozen=True, slots=True)
class Lane:
    """What one route takes, as its signature declares it."""

    route: APIRoute
    grant: Callable[..., Awaitable[Grant]]
    body: type[BaseModel] | None
    headers: tuple[Parameter, ...]
    path: Parameter | None
    takes_request: bool

    async def call(self, scope: MutableMapping[str, Any], body: BodyRecord) -> Response:
        """Runs the route; `UnusualRequest` before anything has happened if this way is not for it."""
        headers = Headers(scope=scope)
        given = self._read_given(scope, headers)
        if self.body is not None:
            given["body"] = await self._read_body(headers, body)
        request = Request(scope, body.replay())
        if self.takes_request:
            given["request"] = request
        scope["route"] = self.route  # by which telemetry names the request
        given["grant"] = await self.grant(request, find_scope(scope), headers.get(SCOPE_HEADER))
        return cast("Response", await self.route.endpoint(**given))

    def _read_given(self, scope: MutableMapping[str, Any], headers: Headers) -> dict[str, Any]:
        given: dict[str, Any] = {}
        for one in self.headers:
            value = headers.get(one.alias)
            if value is not None:
                given[one.name] = check_value(one.adapter, value)
        if self.path is not None:
            given[self.path.name] = check_value(self.path.adapter, scope["path"].rpartition("/")[2])
        return given

    async def _read_body(self, headers: Headers, body: BodyRecord) -> BaseModel:
        if headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            raise UnusualRequest
        try:
            content = json.loads(await body.read())
            return cast("type[BaseModel]", self.body).model_validate(content)
        except (ValueError, RecursionError):  # no JSON, too deep, not in UTF-8, or not what the model takes
            raise UnusualRequest from None


def check_value(adapter: TypeAdapter[Any], value: str) -> Any:
    try:
        return adapter.validate_python(value)
    except ValidationError:
        raise UnusualRequest from None


def find_scope(scope: MutableMapping[str, Any]) -> str | None:
    """The scope that the query names. Any other parameter is for FastAPI."""
    query = scope["query_string"]
    if not query:
        return None
    asked = QueryParams(query)
    if asked.keys() - {SCOPE}:
        raise UnusualRequest
    return asked.get(SCOPE)


class BodyRecord:
    """Reads a body, and keeps what came, so that others can read it again."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._messages: list[Message] = []

    async def read(self) -> bytes:
        """The whole body, unless it is large or breaks off."""
        pieces, size = [], 0
        while True:
            message = await self._receive()
            self._messages.append(message)
            if message["type"] != "http.request":
                raise UnusualRequest
            piece = message.get("body", b"")
            pieces.append(piece)
            size += len(piece)
            if size >= LARGE:
                raise UnusualRequest
            if not message.get("more_body", False):
                return b"".join(pieces)

    def replay(self) -> Receive:
        """What came, from the beginning, and then whatever comes."""
        left = iter(self._messages)

        async def receive() -> Message:
            for message in left:
                return message
            return await self._receive()

        return receive


class FastLane:
    """ASGI middleware next to the routes."""

    def __init__(self, app: AsgiApp, lanes: Lanes) -> None:
        self._app = app
        self._lanes = lanes

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        lane = None
        if scope["type"] == "http" and not scope.get("root_path"):
            lane = self._lanes.find(scope["method"], scope["path"])
        if lane is None:
            await self._app(scope, receive, send)
            return
        body = BodyRecord(receive)
        try:
            response = await lane.call(scope, body)
        except UnusualRequest:
            await self._app(scope, body.replay(), send)
            return
        except Problem as problem:
            response = problem.respond(scope["path"])
        except EidetError as error:
            response = problem_of(error).respond(scope["path"])
        await response(scope, receive, send)


class Lanes:
    """The lanes of some routes, by method and path. A path ends in a parameter, or has none."""

    def __init__(self, routes: Iterable[APIRoute]) -> None:
        self._exact: dict[tuple[str, str], Lane] = {}
        self._below: dict[tuple[str, str], Lane] = {}
        for route in routes:
            lane = read_lane(route)
            for method in route.methods or ():
                if lane.path is None:
                    self._exact[method, route.path] = lane
                else:
                    self._below[method, route.path.rpartition("/")[0]] = lane

    def find(self, method: str, path: str) -> Lane | None:
        lane = self._exact.get((method, path))
        if lane is not None:
            return lane
        parent, _, last = path.rpartition("/")
        if not last:
            return None
        return self._below.get((method, parent))


def read_lane(route: APIRoute) -> Lane:
    """What the signature of a route asks for."""
    grant, body, path, headers = None, None, None, []
    hints = get_type_hints(route.endpoint, include_extras=True)
    for name, hint in hints.items():
        mark = mark_of(hint)
        if isinstance(mark, Depends):
            grant = mark.dependency
        elif isinstance(mark, Header):
            headers.append(Parameter(name, mark.alias or name, TypeAdapter(hint)))
        elif isinstance(mark, Path):
            path = Parameter(name, mark.alias or name, TypeAdapter(hint))
        elif name == "body":
            body = hint
    assert grant is not None, f"{route.path} grants nothing"
    return Lane(route, grant, body, tuple(headers), path, hints.get("request") is Request)


def mark_of(hint: Any) -> object:
    """What FastAPI reads of a parameter: where it comes from."""
    for mark in get_args(hint)[1:]:
        if isinstance(mark, Depends | Header | Path):
            return mark
    return None


def add_fast_lane(app: FastAPI) -> None:
    """Gives the routes that are asked most their short way."""
    found = []
    for route in app.routes:
        if isinstance(route, APIRoute) and route.operation_id in FAST:
            found.append(route)
    app.add_middleware(FastLane, lanes=Lanes(found))
