"""/metrics, and all that watches the memory while it is served."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from functools import partial

from fastapi import FastAPI, Request, Response

from ...aio import AsyncMemory
from ...core.observers import observe
from ...quality.metrics import exposition
from ..access import Right
from ..errors import make_not_found
from ..server_settings import ServerSettings
from ..serving import Serving, caller_of, check_rights
from .memory_metrics import MemoryMetrics
from .memory_spans import trace_memories
from .request_telemetry import RequestTelemetry
from .slow_recalls import log_slow_recalls

PAUSE_SECONDS = 60.0  # between two looks at all records
PAUSE_FACTOR = 20.0  # a look that took a second is not repeated for twenty
TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8"


class MemoryGauges:
    """What only a look at all records tells: how many there are, how large, how they do.

    On a large memory that takes long, so the answer is kept for a while.
    """

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory
        self._text = ""
        self._again = 0.0

    async def text(self) -> str:
        started = time.monotonic()
        if started >= self._again:
            self._again = started + PAUSE_SECONDS  # others who ask meanwhile get the last answer
            self._text = exposition(await self._memory.admin.metrics())
            spent = time.monotonic() - started
            self._again = started + max(PAUSE_SECONDS, PAUSE_FACTOR * spent)
        return self._text


@asynccontextmanager
async def watch_memory(metrics: MemoryMetrics, settings: ServerSettings) -> AsyncIterator[None]:
    """Measures, traces and logs what the verbs do, for as long as the server runs."""
    with ExitStack() as stack:
        stack.enter_context(observe(metrics))
        stack.enter_context(trace_memories(content=settings.log_content))
        if settings.slow_seconds is not None:
            stack.enter_context(log_slow_recalls(seconds=settings.slow_seconds, content=settings.log_content))
        yield


def add_telemetry(app: FastAPI, serving: Serving) -> None:
    """Watches the memory while the app lives, and answers /metrics.

    Where keys are needed, metrics need one with the right `admin` in every scope.
    """
    metrics, gauges = MemoryMetrics(), MemoryGauges(serving.memory)

    async def show_metrics(request: Request) -> Response:
        caller = caller_of(request)
        check_rights(caller, Right.ADMIN)
        if not caller.sees_all:
            raise make_not_found()
        return Response(metrics.text() + await gauges.text(), headers={"Content-Type": TEXT_FORMAT})

    serving.lifespans.append(partial(watch_memory, metrics, serving.settings))
    app.add_api_route("/metrics", show_metrics, include_in_schema=False)
    app.state.metrics = metrics


def surround(app: FastAPI) -> None:
    """Adds what sees every request; after all other middleware, so that it stands outside of it."""
    app.add_middleware(RequestTelemetry, metrics=app.state.metrics)
