"""Durations, results and sizes for Prometheus. Labels are operations and outcomes, never persons."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from ...core.errors import EidetError, MissingExtra
from ...core.hit import Hits
from ...core.observers import VerbCall
from ...recall.pack import Context
from ...trust.erase import Forgotten
from .memory_spans import records_in

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

SHARED: Final = "PROMETHEUS_MULTIPROC_DIR"  # names the folder that several workers keep their metrics in
SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
COUNTS: Final = (0, 1, 2, 5, 10, 20, 50, 100)
TOKENS: Final = (50, 100, 250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000)


class MemoryMetrics:
    """Observes verbs (`observe(metrics)`), tools and requests; `text()` returns metrics for Prometheus."""

    def __init__(self) -> None:
        try:
            from prometheus_client import CollectorRegistry, Counter, Histogram
        except ImportError:
            raise MissingExtra("metrics", extra="server") from None
        self._registry = CollectorRegistry()

        def count(name: str, about: str, *labels: str) -> Counter:
            return Counter(f"eidet_{name}", about, labels, registry=self._registry)

        def spread(name: str, about: str, buckets: Sequence[float], *labels: str) -> Histogram:
            return Histogram(f"eidet_{name}", about, labels, buckets=buckets, registry=self._registry)

        self._seconds = spread("operation_duration_seconds", "Time of a verb", SECONDS, "operation", "status")
        self._results = spread("retrieval_results", "Hits of a recall", COUNTS, "operation")
        self._tokens = spread("context_tokens", "Tokens of a context", TOKENS)
        asked = ("method", "route", "status")
        self._requests = spread("http_request_duration_seconds", "Time of a request", SECONDS, *asked)
        self._written = count("records_written", "Records stored or revised", "operation")
        self._forgotten = count("records_forgotten", "Records forgotten")
        self._tools = count("tool_calls", "Calls of MCP tools", "tool", "status")

    @contextmanager
    def __call__(self, call: VerbCall) -> Iterator[None]:
        started = time.perf_counter()
        status = "error"
        try:
            yield
            status = "ok"
        except EidetError as error:
            status = _name_status(error)
            raise
        finally:
            self._seconds.labels(call.verb, status).observe(time.perf_counter() - started)
        self._count_answer(call.verb, call.answer)

    def _count_answer(self, verb: str, answer: object) -> None:
        if isinstance(answer, Hits):
            self._results.labels(verb).observe(len(answer))
        elif isinstance(answer, Context):
            self._results.labels(verb).observe(len(answer.hits))
            self._tokens.observe(answer.tokens)
        elif isinstance(answer, Forgotten):
            self._forgotten.inc(int(answer))
        elif verb in ("remember", "revise"):
            self._written.labels(verb).inc(len(records_in(answer) or ()))

    def count_tool(self, tool: str, status: str) -> None:
        self._tools.labels(tool, status).inc()

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method, route, str(status)).observe(seconds)

    def text(self) -> str:
        """Returns all metrics in Prometheus' text format, of this process or of all workers."""
        from prometheus_client import generate_latest

        return generate_latest(self._all_workers()).decode()

    def _all_workers(self) -> CollectorRegistry:
        if SHARED not in os.environ:
            return self._registry
        from prometheus_client import CollectorRegistry
        from prometheus_client.multiprocess import MultiProcessCollector

        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return registry


def _name_status(error: EidetError) -> str:
    """Returns the name of an error as a label: bad_input for `BadInput`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__).lower()


@contextmanager
def share_metrics() -> Iterator[None]:
    """Provides a folder for metrics of workers started inside, unless the environment names one."""
    if SHARED in os.environ:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="eidet-metrics-") as folder:
        os.environ[SHARED] = folder
        try:
            yield
        finally:
            del os.environ[SHARED]
