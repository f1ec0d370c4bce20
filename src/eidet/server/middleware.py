"""Checks the host, origin, key, rate and size of every request before any route, and sets who acts."""

from __future__ import annotations

import asyncio
import math
import re
import secrets
import time
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..core.errors import EidetError
from .access import LOCAL, Caller, Right
from .errors import LOG, Problem, make_internal, problem_of
from .server_settings import ServerSettings, is_loopback, parse_address
from .serving import CALLER, REQUEST_ID, STATUS, Serving, make_unauthorized
from .telemetry.log_lines import name_request
from .telemetry.request_telemetry import RequestTelemetry

_UPLOAD: Final = "/v1/load"  # the path whose body is a file
_ENCODED: Final = b"/v1/memories/"  # the path before ids, which may hold any character
_STRANGER_BYTES: Final = 65_536  # the largest body of a request without a valid key
_GIVEN_ID: Final = re.compile(r"[\w.-]{1,64}", re.ASCII)
_HOST: Final = re.compile(r"(?:\[(?P<number>[0-9a-fA-F:.]+)\]|(?P<name>[\w.-]+))(?::[0-9]{1,5})?", re.ASCII)
_BURST_SECONDS: Final = 2.0  # of unused rate that a caller may save up


class AccessMiddleware:
    """ASGI middleware that checks every request to the app, notes it, and answers errors of verbs."""

    def __init__(self, app: ASGIApp, serving: Serving, telemetry: RequestTelemetry) -> None:
        self._app = app
        self._serving = serving
        self._telemetry = telemetry
        self._rates = _RateLimiter(serving.settings.workers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        _keep_encoded(scope)
        _trim_headers(scope)
        headers = Headers(scope=scope)
        scope[REQUEST_ID] = _choose_request_id(headers.get("x-request-id"))
        answer = _Answer(send, scope)
        with self._telemetry.watch(scope):
            await self._serve(scope, headers, receive, answer)

    async def _serve(self, scope: Scope, headers: Headers, receive: Receive, answer: _Answer) -> None:
        try:
            caller = self._let_in(scope, headers)
            body = self._make_body(scope, caller, receive)
            body.check_announced(headers)
            with (caller or LOCAL).act(_client_of(scope)), name_request(scope[REQUEST_ID]):
                await self._app(scope, body, answer)
        except Problem as problem:
            await answer.fail(problem, receive)
        except EidetError as error:
            await answer.fail(problem_of(error), receive)
        except Exception:  # noqa: BLE001  # logged, and answered in the one shape
            LOG.exception("request %s failed", scope[REQUEST_ID])
            await answer.fail(make_internal(), receive)

    def _let_in(self, scope: Scope, headers: Headers) -> Caller | None:
        _check_host(headers.getlist("host"), self._serving.settings)
        _check_origin(headers, self._serving.settings)
        caller = self._find_caller(headers.get("authorization"))
        scope[CALLER] = caller
        if caller is not None:
            self._rates.take(caller)
        return caller

    def _find_caller(self, authorization: str | None) -> Caller | None:
        """Returns the caller of the key sent, or None without a key; raises 401 for a wrong one."""
        keys = self._serving.keys
        if not keys.required:
            return LOCAL
        if authorization is None:
            return None
        kind, _, key = authorization.partition(" ")
        found = None
        if kind.lower() == "bearer":
            found = keys.find(key.strip())
        if found is None:
            raise make_unauthorized()
        return found

    def _make_body(self, scope: Scope, caller: Caller | None, receive: Receive) -> _LimitedBody:
        settings = self._serving.settings
        if caller is None:
            return _LimitedBody(receive, _STRANGER_BYTES, settings.body_seconds)
        if scope["path"] == _UPLOAD and caller.may(Right.ADMIN):
            return _LimitedBody(receive, settings.upload_bytes, settings.body_seconds, pieces=True)
        return _LimitedBody(receive, caller.limits.body_bytes, settings.body_seconds)


def _keep_encoded(scope: Scope) -> None:
    """Keeps ids in the path percent-encoded, since they may hold a %2F; their route decodes them."""
    raw = scope.get("raw_path") or quote(scope["path"]).encode()
    if raw.startswith(_ENCODED):
        scope["path"] = raw.decode("ascii", "replace")


def _trim_headers(scope: Scope) -> None:
    """Trims blanks around header values, which not every parser removes."""
    scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]


def _choose_request_id(given: str | None) -> str:
    """Returns the id that the client gave if it is harmless, else a new one."""
    if given is not None and _GIVEN_ID.fullmatch(given):
        return given
    return secrets.token_hex(8)


def _client_of(scope: Scope) -> str | None:
    client = scope.get("client")
    if client is None:
        return None
    return str(client[0])


def _check_host(hosts: Sequence[str], settings: ServerSettings) -> None:
    """Raises 421 for a name that is not this server's: a page could have rebound it to this address.

    Raises 400 for a header that is missing, doubled or malformed: a proxy could read another name from it.
    """
    found = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
    if found is None:
        message = "a request needs one Host header, with a name and perhaps a port"
        raise Problem(400, "bad_host", message, field="header.Host")
    name = (found["number"] or found["name"]).lower()
    if name in settings.allow_hosts or name == settings.host or is_loopback(name):
        return
    if not settings.on_loopback and parse_address(name) is not None:  # an address cannot be rebound
        return
    raise Problem(
        421,
        "wrong_host",
        "this server does not answer to the host that the request names",
        hint="whoever runs it can allow a name with --allow-host NAME",
    )


def _check_origin(headers: Headers, settings: ServerSettings) -> None:
    """Raises 403 for a request from a page of another origin."""
    origin = headers.get("origin")
    if origin is None or origin in settings.cors_origins:
        return
    if urlsplit(origin).netloc.lower() == headers.get("host", "").lower():
        return
    raise Problem(
        403,
        "foreign_origin",
        "pages of another origin may not call this server",
        hint="whoever runs it can allow one with --cors-origin ORIGIN",
    )


class _RateLimiter:
    """Limits the rate of each caller by a token bucket; each of several workers enforces its share."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._buckets: dict[str | None, tuple[float, float]] = {}  # by name: tokens left, and at what time

    def take(self, caller: Caller) -> None:
        """Takes a token of the caller; raises 429 if none is left."""
        rate = caller.limits.requests_per_second / self._workers
        if math.isinf(rate):
            return
        now, most = time.monotonic(), max(1.0, rate * _BURST_SECONDS)
        left, when = self._buckets.get(caller.name, (most, now))
        left = min(most, left + (now - when) * rate)
        if left < 1:
            self._buckets[caller.name] = (left, now)
            raise _make_too_fast(math.ceil((1 - left) / rate))
        self._buckets[caller.name] = (left - 1, now)


def _make_too_fast(seconds: int) -> Problem:
    return Problem(
        429,
        "too_many_requests",
        "this key asks more often than its limit allows",
        hint="wait for the seconds that Retry-After names",
        headers={"Retry-After": str(max(1, seconds))},
    )


class _LimitedBody:
    """Receives a request body, limited in size and time.

    The whole body must arrive within `seconds`; with `pieces`, each piece of it.
    """

    def __init__(self, receive: Receive, largest: int, seconds: float, *, pieces: bool = False) -> None:
        self._receive = receive
        self._largest = largest
        self._seconds = seconds
        self._pieces = pieces
        self._deadline = 0.0
        self._taken = 0
        self._complete = False

    def check_announced(self, headers: Headers) -> None:
        """Raises 413 before reading a byte if the announced length exceeds the limit."""
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > self._largest:
            raise self._make_too_large()

    async def __call__(self) -> Message:
        if self._complete:
            return await self._receive()  # waits until the client disconnects
        now = asyncio.get_running_loop().time()
        if self._pieces or not self._deadline:
            self._deadline = now + self._seconds
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise Problem(
                408, "too_slow", "the request body did not arrive in time", headers={"Connection": "close"}
            ) from None
        self._taken += len(message.get("body", b""))
        self._complete = not message.get("more_body", False)
        if self._taken > self._largest:
            raise self._make_too_large()
        return message

    def _make_too_large(self) -> Problem:
        return Problem(
            413,
            "too_large",
            f"a request body has at most {self._largest:,} bytes",
            hint="send fewer records at once, or load a file with POST /v1/load",
            headers={"Connection": "close"},
        )


class _Answer:
    """Sends an answer with the headers that every answer has."""

    def __init__(self, send: Send, scope: Scope) -> None:
        self._send = send
        self._scope = scope
        self._started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started, self._scope[STATUS] = True, message["status"]
            headers = MutableHeaders(raw=message["headers"])
            headers["X-Request-Id"] = self._scope[REQUEST_ID]
            headers.setdefault("X-Content-Type-Options", "nosniff")
            headers.setdefault("Cache-Control", "no-store")
            message["headers"] = headers.raw
        await self._send(message)

    async def fail(self, problem: Problem, receive: Receive) -> None:
        """Answers with an error; if an answer has begun, raises it, which breaks the connection off."""
        if self._started:
            raise problem
        await problem.respond()(self._scope, receive, self)
