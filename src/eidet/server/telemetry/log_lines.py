"""Logs as lines of text or of JSON. An exception is told by its type and its place, not by its message.

Messages of exceptions can quote what a caller has sent. `content` shows them, for those who look for a fault.
"""

from __future__ import annotations

import json
import logging
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final

FIELDS: Final = "eidet"  # the attribute of a log record that holds fields of ours: extra={"eidet": {…}}
Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class PlainLines(logging.Formatter):
    """`2026-11-17T09:00:00Z WARNING eidet.slow: a recall took 1.2 s [request 8f2c] searched=20000`."""

    def __init__(self, *, content: bool = False) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%SZ")
        self.converter = time.gmtime
        self._content = content

    def format(self, record: logging.LogRecord) -> str:
        """Formats without what another handler's formatter left on the record."""
        left, record.exc_text = record.exc_text, None
        try:
            return super().format(record)
        finally:
            record.exc_text = left

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        line = super().formatMessage(record)
        if (request := current_request()) is not None:
            line += f" [request {request}]"
        for name, value in _fields_of(record).items():
            line += f" {name}={value}"
        return line

    def formatException(self, ei: Raised) -> str:  # noqa: N802
        if self._content:
            return super().formatException(ei)
        return "\n".join(_describe_exception(ei))


class JsonLines(logging.Formatter):
    """Formats one JSON object per line, with the ids of request and trace."""

    def __init__(self, *, content: bool = False) -> None:
        super().__init__()
        self._content = content

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (request := current_request()) is not None:
            line["request_id"] = request
        line |= _trace_ids() | _fields_of(record)
        if record.exc_info:
            line["error"] = self._describe(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)

    def _describe(self, raised: Raised) -> dict[str, Any]:
        kind, error, _ = raised
        described: dict[str, Any] = {"stack": _describe_exception(raised)}
        if kind is not None:
            described["type"] = kind.__name__
        if self._content:
            described["message"] = str(error)
        return described


def _describe_exception(raised: Raised) -> list[str]:
    """Describes an exception by its stack and type, without its message."""
    kind, _, place = raised
    lines = []
    for frame in traceback.extract_tb(place):
        lines.append(f"{frame.filename}:{frame.lineno} in {frame.name}")
    if kind is not None:
        lines.append(kind.__name__)
    return lines


def _fields_of(record: logging.LogRecord) -> dict[str, Any]:
    found = record.__dict__.get(FIELDS)
    if isinstance(found, dict):
        return found
    return {}


def _trace_ids() -> dict[str, str]:
    """The trace and the span that this happens in, where OpenTelemetry is in use."""
    try:
        from opentelemetry.trace import get_current_span
    except ImportError:
        return {}
    span = get_current_span().get_span_context()
    if not span.is_valid:
        return {}
    return {"trace_id": f"{span.trace_id:032x}", "span_id": f"{span.span_id:016x}"}


def configure_lines(*, as_json: bool, content: bool = False) -> dict[str, Any]:
    """The logging of `eidet serve`, as `logging.config.dictConfig` takes it."""
    kind = JsonLines if as_json else PlainLines
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": {"()": f"{kind.__module__}.{kind.__name__}", "content": content}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines"}},
        "loggers": {
            "uvicorn": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
            "eidet": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        },
    }


_request: ContextVar[str | None] = ContextVar("eidet_request", default=None)


def current_request() -> str | None:
    """The id of the request that this task or thread works for."""
    return _request.get()


@contextmanager
def name_request(id: str) -> Iterator[None]:
    """Adds a request id to everything that is logged inside."""
    token = _request.set(id)
    try:
        yield
    finally:
        _request.reset(token)
