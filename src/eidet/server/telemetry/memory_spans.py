"""OpenTelemetry spans for the verbs of memories, by the `gen_ai.memory` conventions.

`gen_ai.memory.store.id` is the identity of the store: a random name that it keeps for life. A memory runs in
the process of its agent, so its spans are internal ones.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from ...core.errors import MissingExtra
from ...core.hit import Hit, Hits
from ...core.observers import VerbCall, observe
from ...core.record import Record
from ...core.validate import dump_json
from ...memory import Memory
from ...memory.addresses import is_remote
from ...recall.pack import Context

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

Attributes = dict[str, str | int | float | bool]

# Names of the conventions; no package has them yet.
_OPERATION: Final = "gen_ai.operation.name"
_PROVIDER: Final = "gen_ai.provider.name"
_STORE_ID: Final = "gen_ai.memory.store.id"
_RECORD_ID: Final = "gen_ai.memory.record.id"
_RECORD_COUNT: Final = "gen_ai.memory.record.count"
_QUERY_TEXT: Final = "gen_ai.memory.query.text"  # content: only on request
RECORDS: Final = "gen_ai.memory.records"  # content: only on request
_ERROR_TYPE: Final = "error.type"
VERB: Final = "eidet.verb"  # ours: distinguishes recall, context and find
SEARCHED: Final = "eidet.recall.searched"  # how many rows were considered

_OPERATIONS: Final = {
    "remember": "upsert_memory",  # the memory decides whether it is new, a version, or known already
    "load": "upsert_memory",
    "recall": "search_memory",
    "context": "search_memory",
    "find": "search_memory",
    "revise": "update_memory",
    "forget": "delete_memory",
}


@contextmanager
def trace_memories(*, content: bool = False, provider: TracerProvider | None = None) -> Iterator[None]:
    """Makes spans for the verbs of every memory in this process while the block lasts.

    Spans hold the operation, the store, ids and counts; with `content`, also queries and texts. They go to
    `provider`, or by default to the one that OpenTelemetry is configured with.
    """
    with observe(_MemorySpans(content=content, provider=provider)):
        yield


class _MemorySpans:
    """Observes verbs and makes a span for each call."""

    def __init__(self, *, content: bool = False, provider: TracerProvider | None = None) -> None:
        try:
            from opentelemetry.trace import get_tracer
        except ImportError:
            raise MissingExtra("tracing", extra="otel") from None
        self._tracer = get_tracer("eidet", tracer_provider=provider)
        self._has_provider = provider is not None
        self._content = content

    def __call__(self, call: VerbCall) -> AbstractContextManager[None]:
        operation = _OPERATIONS.get(call.verb)
        if operation is None or not (self._has_provider or has_listeners()):
            return nullcontext()
        return self._trace(call, operation)

    @contextmanager
    def _trace(self, call: VerbCall, operation: str) -> Iterator[None]:
        from opentelemetry.trace import SpanKind, StatusCode

        with self._tracer.start_as_current_span(
            operation,
            kind=SpanKind.INTERNAL,
            attributes=self._describe_call(call, operation),
            record_exception=False,  # its message may hold content
            set_status_on_exception=False,
        ) as span:
            try:
                yield
            except Exception as error:
                span.set_attribute(_ERROR_TYPE, type(error).__name__)
                span.set_status(StatusCode.ERROR)
                raise
            span.set_attributes(self._describe_answer(call))

    def _describe_call(self, call: VerbCall, operation: str) -> Attributes:
        attributes: Attributes = {_OPERATION: operation, _PROVIDER: "eidet", VERB: call.verb}
        owner = call.owner
        if isinstance(owner, Memory) and not is_remote(owner) and not owner.parts.closed:
            attributes[_STORE_ID] = owner.parts.store.identity
        if call.verb in ("revise", "forget"):
            named = call.arguments.get("id", call.arguments.get("ids"))
            if isinstance(named, str):
                attributes[_RECORD_ID] = named
        query = call.arguments.get("query")
        if self._content and isinstance(query, str):
            attributes[_QUERY_TEXT] = query
        return attributes

    def _describe_answer(self, call: VerbCall) -> Attributes:
        attributes: Attributes = {}
        found = records_in(call.answer)
        if found is not None:
            attributes[_RECORD_COUNT] = len(found)
        elif isinstance(call.answer, int):
            attributes[_RECORD_COUNT] = int(call.answer)
        if isinstance(call.answer, Record):
            attributes[_RECORD_ID] = call.answer.id
        if "searched" in call.details:
            attributes[SEARCHED] = int(call.details["searched"])
        for stage, millis in call.details.get("millis", {}).items():
            attributes[f"eidet.recall.{stage}_ms"] = round(millis, 3)
        if self._content and found is not None:
            attributes[RECORDS] = dump_json([_describe_record(one) for one in found])
        return attributes


def has_listeners() -> bool:
    """Returns whether OpenTelemetry is configured; if not, no spans are made."""
    from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider

    return not isinstance(get_tracer_provider(), ProxyTracerProvider)


def records_in(answer: object) -> Sequence[Hit | Record] | None:
    """Returns the records of an answer, as hits where they have scores; None if it holds none."""
    if isinstance(answer, Hits):
        return answer
    if isinstance(answer, Context):
        return answer.hits
    if isinstance(answer, Record):
        return [answer]
    if isinstance(answer, list):
        return [one for one in answer if isinstance(one, Record)]
    return None


def _describe_record(one: Hit | Record) -> dict[str, Any]:
    """Describes a record as the conventions do: content, id, score, metadata."""
    if isinstance(one, Hit):
        return {**_describe_record(one.record), "score": one.score}
    return {"content": one.text, "id": one.id, "metadata": dict(one.meta)}


LOG: Final = logging.getLogger("eidet.server")
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def export_spans(environment: Mapping[str, str]) -> bool:
    """Sends spans over OTLP if a variable names a collector; returns whether it does.

    Keeps a provider that is configured already, as `opentelemetry-instrument` does.
    """
    if not any(environment.get(name) for name in _ENDPOINTS):
        return False
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.trace import get_tracer_provider, set_tracer_provider
    except ImportError:
        LOG.warning("no spans are sent: that needs the otel extra: pip install 'eidet[otel]'")
        return False
    if isinstance(get_tracer_provider(), TracerProvider):
        return True
    provider = TracerProvider(resource=Resource.create({"service.name": "eidet"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    set_tracer_provider(provider)
    return True
