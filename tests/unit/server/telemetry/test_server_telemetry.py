"""Metrics, logs and traces of a server: what they tell, and what they never do."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs fastapi: pip install 'eidet[server]'")
pytest.importorskip("prometheus_client", reason="needs prometheus-client: pip install 'eidet[server]'")
pytest.importorskip("mcp", reason="needs mcp: pip install 'eidet[server]'")

from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from eidet import AsyncMemory, Memory
from eidet.core.observers import observe
from eidet.server.serve import create_app
from eidet.server.server_settings import ServerSettings
from eidet.server.telemetry import MemoryMetrics
from eidet.server.telemetry.log_lines import LogLines, name_request

HASHING = "hashing:64"
SECRET = "the vault code is opal8241"
FORBIDDEN = ("opal8241", "82418241", "vault", "ann@example.com", "secret-ops", "secret-ann", "acme")


@contextmanager
def serve(**settings: Any) -> Iterator[TestClient]:
    app = create_app(AsyncMemory(embedder=HASHING), ServerSettings(**settings), closes=True)
    with TestClient(app, base_url="http://127.0.0.1:8765", raise_server_exceptions=False) as client:
        yield client


@contextmanager
def lines_of(formatter: logging.Formatter, level: int = logging.INFO) -> Iterator[io.StringIO]:
    """What the loggers of Eidet write meanwhile."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(formatter)
    logger = logging.getLogger("eidet")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield written
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name, tuple(sorted(sample.labels.items()))] = sample.value
    return found


def use(client: TestClient, **headers: str) -> None:
    scope = {"scope": "acme/ann@example.com"}
    stored = client.post("/v1/memories", params=scope, json={"memories": [{"text": SECRET}]}, headers=headers)
    assert stored.status_code in (200, 201), stored.text
    for path in ("/v1/recall", "/v1/context"):
        assert client.post(path, params=scope, json={"query": "vault"}, headers=headers).status_code == 200
    client.get("/v1/memories/none-opal8241", params=scope, headers=headers)
    client.get("/nothing/opal8241", headers=headers)
    client.post("/v1/recall", params=scope, json={"query": "vault", "limit": -82418241}, headers=headers)
    client.request("opal8241", "/v1/recall", headers=headers)


def test_metrics_tell_operations_results_and_requests() -> None:
    with serve() as client:
        use(client)
        answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = samples(answer.text)
    for operation in ("remember", "recall", "context"):
        labels = (("operation", operation), ("status", "ok"))
        assert found["eidet_operation_duration_seconds_count", labels] >= 1
    assert found["eidet_retrieval_results_sum", (("operation", "recall"),)] == 1
    assert found["eidet_context_tokens_count", ()] == 1
    assert found["eidet_records_written_total", (("operation", "remember"),)] == 1
    assert found["eidet_records", ()] == 1
    assert found["eidet_store_bytes", ()] > 0
    routes = {
        dict(labels)["route"] for name, labels in found if name.endswith("request_duration_seconds_count")
    }
    assert {"/v1/recall", "/v1/memories", "other"} <= routes
    assert any(route.startswith("/v1/memories/{id") for route in routes)


def test_no_label_and_no_value_names_anybody() -> None:
    with serve() as client:
        use(client)
        text = client.get("/metrics").text
    for word in FORBIDDEN:
        assert word not in text
    labels = set(re.findall(r"(\w+)=\"", text))
    assert labels <= {"operation", "status", "le", "tool", "method", "route"}


def test_a_verb_that_fails_is_counted_by_its_error() -> None:
    metrics = MemoryMetrics()
    with Memory(embedder=HASHING) as memory, observe(metrics):
        with pytest.raises(Exception, match="ISO 8601"):
            memory.recall("x", since="never")
        record = memory.remember("x")
        memory.forget(record.id)
    found = samples(metrics.text())
    labels = (("operation", "recall"), ("status", "bad_input"))
    assert found["eidet_operation_duration_seconds_count", labels] == 1
    assert found["eidet_records_forgotten_total", ()] == 1


def test_calls_of_tools_are_counted_and_unknown_names_are_not_labels() -> None:
    with serve() as client:
        for name in ("recall", "forget", "tool-opal8241"):
            call = {"name": name, "arguments": {"query": "x"}}
            client.post(
                "/mcp",
                json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": MODERN | call},
                headers={
                    "Accept": "application/json, text/event-stream",
                    "Mcp-Protocol-Version": "2026-07-28",
                    "Mcp-Method": "tools/call",
                    "Mcp-Name": name,
                },
            )
        found = samples(client.get("/metrics").text)
    assert found["eidet_tool_calls_total", (("status", "ok"), ("tool", "recall"))] == 1
    assert found["eidet_tool_calls_total", (("status", "error"), ("tool", "forget"))] == 1
    assert found["eidet_tool_calls_total", (("status", "error"), ("tool", "unknown"))] == 1


MODERN = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    }
}


def test_logs_are_json_with_ids_and_without_content() -> None:
    with lines_of(LogLines(as_json=True)) as written, serve() as client:
        use(client, **{"X-Request-Id": "req-77", "Authorization": "Bearer secret-ann"})
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert lines
    for word in FORBIDDEN:
        assert word not in written.getvalue()
    access = [line for line in lines if line["logger"] == "eidet.access"]
    assert {line["request_id"] for line in access} == {"req-77"}
    assert any(line["route"].startswith("/v1/memories/{id") for line in access)


def test_a_request_span_continues_the_caller_s_trace() -> None:
    pytest.importorskip("opentelemetry.sdk", reason="needs the SDK: pip install 'eidet[otel]'")
    trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"
    with lines_of(LogLines(as_json=True)) as written, serve() as client:
        client.post(
            "/v1/recall", json={"query": "x"}, headers={"traceparent": f"00-{trace_id}-00f067aa0ba902b7-01"}
        )
    (access,) = [json.loads(line) for line in written.getvalue().splitlines() if "eidet.access" in line]
    assert access["trace_id"] == trace_id


@pytest.mark.parametrize("content", [False, True])
@pytest.mark.parametrize("as_json", [False, True])
def test_what_another_handler_made_of_an_exception_is_not_repeated(as_json: bool, content: bool) -> None:
    try:
        int(SECRET)
    except ValueError:
        record = logging.makeLogRecord({"msg": "failed", "exc_info": sys.exc_info()})
    for before in (logging.Formatter(), LogLines(as_json=as_json, content=not content)):
        before.format(record)
        assert ("opal8241" in LogLines(as_json=as_json, content=content).format(record)) == content
        assert "opal8241" in logging.Formatter().format(record)


@pytest.mark.parametrize("content", [False, True])
@pytest.mark.parametrize("as_json", [False, True])
def test_the_message_of_an_exception_is_told_only_on_request(as_json: bool, content: bool) -> None:
    with lines_of(LogLines(as_json=as_json, content=content)) as written, name_request("req-9"):
        try:
            int(SECRET)
        except ValueError:
            logging.getLogger("eidet.server").exception("a request failed")
    said = written.getvalue()
    assert "ValueError" in said
    assert "test_server_telemetry.py" in said
    assert "req-9" in said
    assert ("opal8241" in said) == content
