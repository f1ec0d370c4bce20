"""Logs as lines of text or of JSON. An exception is logged by its type and stack, without its message.

Messages of exceptions can quote what a caller has sent. `content` shows them, for debugging.
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


class LogLines(logging.Formatter):
    """Formats a log record as a line with its request id; `as_json`, as an object with trace ids too.

    As text: `2026-11-17T09:00:00.125Z WARNING eidet.server: the memory is unavailable request_id=8f2c`.
    """

    def __init__(self, *, as_json: bool = False, content: bool = False) -> None:
        super().__init__()
        self._as_json = as_json
        self._content = content

    def format(self, record: logging.LogRecord) -> str:
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        at, message = f"{seconds}.{int(record.msecs):03}Z", record.getMessage()
        fields: dict[str, Any] = {} if (id := current_request()) is None else {"request_id": id}
        fields |= _trace_ids() | record.__dict__.get(FIELDS, {})
        stack = self._describe(record.exc_info)
        if not self._as_json:
            told = "".join(f" {name}={value}" for name, value in fields.items())
            return "\n".join([f"{at} {record.levelname} {record.name}: {message}{told}", *stack])
        head = {"time": at, "level": record.levelname.lower(), "logger": record.name, "message": message}
        error = {"error": {"stack": stack}} if stack else {}
        return json.dumps(head | fields | error, ensure_ascii=False, default=str)

    def _describe(self, raised: Raised | None) -> list[str]:
        """Returns the stack and the type of an exception, with `content` also its message."""
        if raised is None or raised[0] is None:
            return []
        kind, error, place = raised
        stack = [f"{one.filename}:{one.lineno} in {one.name}" for one in traceback.extract_tb(place)]
        return [*stack, f"{kind.__name__}: {error}" if self._content else kind.__name__]


def _trace_ids() -> dict[str, str]:
    """Returns the ids of the current trace and span, if there is one."""
    from opentelemetry.trace import get_current_span

    span = get_current_span().get_span_context()
    if not span.is_valid:
        return {}
    return {"trace_id": f"{span.trace_id:032x}", "span_id": f"{span.span_id:016x}"}


def configure_lines(*, as_json: bool, content: bool = False) -> dict[str, Any]:
    """Returns the logging configuration of `eidet serve` for `logging.config.dictConfig`."""
    lines = {"()": f"{__name__}.{LogLines.__name__}", "as_json": as_json, "content": content}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": lines},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines"}},
        "loggers": {
            "uvicorn": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
            "eidet": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        },
    }


_request: ContextVar[str | None] = ContextVar("eidet_request", default=None)


def current_request() -> str | None:
    """Returns the id of the request that this task or thread works for, or None."""
    return _request.get()


@contextmanager
def name_request(id: str) -> Iterator[None]:
    """Adds a request id to everything that is logged inside."""
    token = _request.set(id)
    try:
        yield
    finally:
        _request.reset(token)
