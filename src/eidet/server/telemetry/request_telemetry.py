"""A span, a duration and a log line for every HTTP request, never with its full path or its query."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from functools import partial
from typing import Final

from fastapi import FastAPI, Request, Response
from opentelemetry.propagate import extract, get_global_textmap
from opentelemetry.trace import Span, SpanKind, StatusCode, get_tracer
from starlette.types import Scope

from ...aio import AsyncMemory
from ...core.observers import observe
from ...quality.metrics import exposition
from ..access import Right
from ..errors import make_not_found
from ..server_settings import ServerSettings
from ..serving import CALLER, REQUEST_ID, STATUS, Serving, caller_of, check_rights
from .log_lines import FIELDS
from .memory_metrics import MemoryMetrics
from .memory_spans import has_listeners, trace_memories

LOG: Final = logging.getLogger("eidet.access")
_PLAIN_PATHS: Final = frozenset(("/", "/mcp", "/metrics", "/docs", "/openapi.json"))
METHODS: Final = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
OTHER: Final = "other"  # the label of paths without a route: their number has no limit


class RequestTelemetry:
    """Notes every HTTP request, also those that `AccessMiddleware` refuses."""

    def __init__(self, metrics: MemoryMetrics) -> None:
        self._metrics = metrics
        self._tracer = get_tracer("eidet")
        self._trace_headers = frozenset(name.lower().encode() for name in get_global_textmap().fields)

    @contextmanager
    def watch(self, scope: Scope) -> Iterator[None]:
        """Measures a request that is answered inside."""
        started = time.perf_counter()
        with self._open_span(scope) if self._is_traced(scope) else nullcontext():
            try:
                yield
            finally:
                self._note(scope, time.perf_counter() - started)

    def _is_traced(self, scope: Scope) -> bool:
        """Returns whether spans are collected, or the request is part of a trace, whose id logs show."""
        if has_listeners():
            return True
        return any(name in self._trace_headers for name, _ in scope["headers"])

    @contextmanager
    def _open_span(self, scope: Scope) -> Iterator[None]:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        with self._tracer.start_as_current_span(
            _method_of(scope), context=extract(headers), kind=SpanKind.SERVER, record_exception=False
        ) as span:
            try:
                yield
            finally:
                _describe_request(span, scope)

    def _note(self, scope: Scope, seconds: float) -> None:
        method, route, status = _method_of(scope), _route_of(scope), _status_of(scope)
        self._metrics.count_request(method, route, status, seconds)
        if not LOG.isEnabledFor(logging.INFO):
            return
        fields = {"method": method, "route": route, "status": status, "seconds": round(seconds, 4)}
        fields["request_id"] = scope[REQUEST_ID]
        caller = scope.get(CALLER)
        if caller is not None and caller.name is not None:
            fields["key"] = caller.name
        LOG.info("request", extra={FIELDS: fields})


def _describe_request(span: Span, scope: Scope) -> None:
    method, route, status = _method_of(scope), _route_of(scope), _status_of(scope)
    span.update_name(f"{method} {route}")
    span.set_attributes(
        {
            "http.request.method": method,
            "http.route": route,
            "http.response.status_code": status,
            "eidet.request_id": scope[REQUEST_ID],
        }
    )
    if status >= 500:
        span.set_status(StatusCode.ERROR)


def _status_of(scope: Scope) -> int:
    """Returns the status of the answer; 499 if the client left before it began."""
    return int(scope.get(STATUS, 499))


def _method_of(scope: Scope) -> str:
    """Returns the method if HTTP defines it; others are arbitrary text from the client."""
    if scope["method"] in METHODS:
        return str(scope["method"])
    return "_OTHER"


def _route_of(scope: Scope) -> str:
    """Returns the template of a path, such as /v1/memories/{id}: the path may name a person."""
    route = scope.get("route")
    if route is not None:
        return str(route.path)
    if scope["path"] in _PLAIN_PATHS:
        return str(scope["path"])
    return OTHER


PAUSE_SECONDS = 60.0  # between two scans of all records
_PAUSE_FACTOR = 20.0  # a scan that took a second is not repeated for twenty
_TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8"


class _MemoryGauges:
    """Gauges that need a scan of all records: counts, sizes, quality.

    A scan of a large memory takes long, so its result is cached for a while.
    """

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory
        self._text = ""
        self._again = 0.0

    async def text(self) -> str:
        started = time.monotonic()
        if started >= self._again:
            self._again = started + PAUSE_SECONDS  # requests meanwhile get the cached text
            self._text = exposition(await self._memory.admin.metrics())
            spent = time.monotonic() - started
            self._again = started + max(PAUSE_SECONDS, _PAUSE_FACTOR * spent)
        return self._text


@asynccontextmanager
async def _watch_memory(metrics: MemoryMetrics, settings: ServerSettings) -> AsyncIterator[None]:
    """Measures and traces the verbs for as long as the server runs."""
    with observe(metrics), trace_memories(content=settings.log_content):
        yield


def add_telemetry(app: FastAPI, serving: Serving) -> None:
    """Observes the memory while the app runs, and serves /metrics.

    Where keys are needed, metrics need one with the right `admin` in every scope.
    """
    metrics, gauges = MemoryMetrics(), _MemoryGauges(serving.memory)

    async def show_metrics(request: Request) -> Response:
        caller = caller_of(request)
        check_rights(caller, Right.ADMIN)
        if not caller.sees_all:
            raise make_not_found()
        return Response(metrics.text() + await gauges.text(), headers={"Content-Type": _TEXT_FORMAT})

    serving.lifespans.append(partial(_watch_memory, metrics, serving.settings))
    app.add_api_route("/metrics", show_metrics, include_in_schema=False)
    app.state.metrics = metrics
