"""Spans of the verbs by the conventions for memories of generative AI; content only on request."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk", reason="needs the SDK: pip install 'eidet[otel]'")

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from eidet import AsyncMemory, BadInput, Memory
from eidet.core.observers import observe
from eidet.server.telemetry import trace_memories

HASHING = "hashing:64"
SECRET = "the vault code is opal8241"
# What each verb is, in the words of the conventions, and how many records it tells of.
VERBS = {
    "remember": ("upsert_memory", 1),
    "recall": ("search_memory", 1),
    "context": ("search_memory", 1),
    "find": ("search_memory", 1),
    "revise": ("update_memory", 1),
    "forget": ("delete_memory", 1),
}


class Tracing:
    """A provider whose spans are kept in RAM."""

    def __init__(self) -> None:
        self.provider = TracerProvider(shutdown_on_exit=False)
        self._exporter = InMemorySpanExporter()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        spans: Sequence[ReadableSpan] = self._exporter.get_finished_spans()
        return spans

    def attributes(self) -> list[dict[str, Any]]:
        return [dict(span.attributes or {}) for span in self.spans]


@pytest.fixture
def tracing() -> Iterator[Tracing]:
    tracing = Tracing()
    yield tracing
    tracing.provider.shutdown()


def use(memory: Memory) -> str:
    """Every verb of the table once, in its order."""
    record = memory.remember(SECRET, scope="ann", who="Ann")
    memory.recall("vault code", scope="ann")
    memory.context("vault code", scope="ann")
    memory.find(scope="ann")
    memory.revise(record.id, scope="ann", text=SECRET + " now")
    memory.forget(record.id, scope="ann")
    return record.id


def test_every_verb_is_a_span_of_the_conventions(tracing: Tracing) -> None:
    with Memory(embedder=HASHING) as memory, trace_memories(provider=tracing.provider):
        id = use(memory)
        identity = memory.parts.store.identity
    assert [span.name for span in tracing.spans] == [name for name, _ in VERBS.values()]
    for (verb, (operation, count)), span in zip(VERBS.items(), tracing.spans, strict=True):
        said = dict(span.attributes or {})
        assert span.kind is SpanKind.INTERNAL
        assert said["gen_ai.operation.name"] == operation
        assert said["gen_ai.provider.name"] == "eidet"
        assert said["gen_ai.memory.store.id"] == identity
        assert said["gen_ai.memory.record.count"] == count
        assert said["eidet.verb"] == verb
        if verb in ("remember", "revise", "forget"):
            assert said["gen_ai.memory.record.id"] == id
    recalled = tracing.attributes()[1]
    assert recalled["eidet.recall.searched"] == 1
    assert recalled["eidet.recall.search_ms"] >= 0


def test_content_is_told_only_on_request(tracing: Tracing) -> None:
    with Memory(embedder=HASHING) as memory:
        with trace_memories(provider=tracing.provider):
            use(memory)
        told = " ".join(map(str, tracing.attributes()))
        for word in ("vault", "opal8241", "ann", "Ann"):
            assert word not in told
        with trace_memories(provider=tracing.provider, content=True):
            memory.remember(SECRET, scope="ben", again=True, meta={"room": 4})
            memory.recall("vault code", scope="ben")
    asked = tracing.attributes()[-1]
    assert asked["gen_ai.memory.query.text"] == "vault code"
    (shown,) = json.loads(asked["gen_ai.memory.records"])
    assert shown["content"] == SECRET
    assert shown["metadata"] == {"room": 4}
    assert 0 < shown["score"] <= 1
    assert shown["id"]


def test_a_verb_that_fails_tells_its_error_without_its_message(tracing: Tracing) -> None:
    memory = Memory(embedder=HASHING)
    with memory, trace_memories(provider=tracing.provider), pytest.raises(BadInput):
        memory.recall("vault opal8241", scope="ann", since="not a time opal8241")
    (span,) = tracing.spans
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description is None
    assert dict(span.attributes or {})["error.type"] == "BadInput"
    assert span.events == ()
    assert "opal8241" not in span.to_json()


def test_a_span_belongs_to_the_trace_of_its_caller_in_threads_too(tracing: Tracing) -> None:
    tracer = tracing.provider.get_tracer("test")

    async def go() -> None:
        async with AsyncMemory(embedder=HASHING) as memory:
            memory.threads.hop_always()
            with tracer.start_as_current_span("agent"):
                await memory.remember("Ann lives in Porto")

    with trace_memories(provider=tracing.provider):
        asyncio.run(go())
    inner, outer = tracing.spans
    assert (inner.name, outer.name) == ("upsert_memory", "agent")
    assert inner.parent is not None
    assert outer.context is not None
    assert inner.parent.span_id == outer.context.span_id


def test_nobody_watches_once_the_block_is_left(tracing: Tracing) -> None:
    with Memory(embedder=HASHING) as memory:
        with trace_memories(provider=tracing.provider):
            memory.remember("one")
        memory.remember("two")
    assert len(tracing.spans) == 1


def test_observers_see_calls_of_all_threads_and_may_come_and_go_meanwhile() -> None:
    seen: list[str] = []
    start = threading.Barrier(4)

    def work() -> None:
        start.wait()
        for number in range(20):
            memory.remember(f"{threading.get_ident()} {number}")

    @contextmanager
    def note(call: Any) -> Iterator[None]:
        yield
        seen.append(call.answer.text)

    with Memory(embedder=HASHING) as memory, observe(note):
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        start.wait()
        for _ in range(50):
            with observe(note):
                pass
        for thread in threads:
            thread.join()
    assert len(set(seen)) == 60
