"""The log of slow recalls: what each spent its time on, and how much it looked through."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final

from ...core.observers import VerbCall, observe
from .log_lines import FIELDS
from .memory_spans import records_in

LOG: Final = logging.getLogger("eidet.slow")
WATCHED: Final = ("recall", "context")


@contextmanager
def log_slow_recalls(*, seconds: float = 1.0, content: bool = False) -> Iterator[None]:
    """Logs every recall and context that takes longer, while the block lasts.

    A line tells the time of each stage, how many rows were searched and passed the filter, and how many
    hits there were. With `content` it also tells the query and the scope.
    """
    with observe(_SlowRecalls(seconds, content=content)):
        yield


class _SlowRecalls:
    """Observes recalls, and logs those that take long."""

    def __init__(self, seconds: float, *, content: bool = False) -> None:
        self._seconds = seconds
        self._content = content

    def __call__(self, call: VerbCall) -> AbstractContextManager[None]:
        if call.verb not in WATCHED:
            return nullcontext()
        return self._watch(call)

    @contextmanager
    def _watch(self, call: VerbCall) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - started
            if spent >= self._seconds:
                LOG.warning(
                    "a slow %s: %.3f s", call.verb, spent, extra={FIELDS: self._describe(call, spent)}
                )

    def _describe(self, call: VerbCall, spent: float) -> dict[str, Any]:
        described: dict[str, Any] = {"verb": call.verb, "seconds": round(spent, 4)}
        stages = {stage: round(millis, 2) for stage, millis in call.details.get("millis", {}).items()}
        described |= {
            "millis": stages,
            "searched": call.details.get("searched"),
            "kept": call.details.get("kept"),
        }
        found = records_in(call.answer)
        if found is not None:
            described["hits"] = len(found)
        if self._content:
            described |= {
                "query": call.arguments.get("query"),
                "scope": str(call.arguments.get("scope", "default")),
            }
        return described
