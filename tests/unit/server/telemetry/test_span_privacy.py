"""Spans of a server never tell a path or a query, which can name anybody; nor do those of its framework."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

for _package in ("opentelemetry.sdk", "fastapi", "httpx"):
    pytest.importorskip(_package, reason="needs pip install 'eidet[server,otel]'")

# In a process of its own: OpenTelemetry is configured once, for all.
SCRIPT = """
import asyncio, json, httpx
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import set_tracer_provider
from eidet import AsyncMemory
from eidet.server.serve import create_app

kept, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
set_tracer_provider(provider)

async def main():
    app = create_app(AsyncMemory())
    transport = httpx.ASGITransport(app)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport) as http:
        await http.post("http://localhost/v1/recall?scope=secret", json={"query": "secret"})
        await http.get("http://localhost/v1/memories/secret?vectors=true&scope=secret")
    print(json.dumps([[span.name, dict(span.attributes)] for span in kept.get_finished_spans()]))

asyncio.run(main())
"""


def test_no_span_tells_whom_a_request_is_about() -> None:
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=True
    )
    spans = json.loads(run.stdout)
    assert [name for name, _ in spans] == ["search_memory", "POST /v1/recall", "GET /v1/memories/{id}"]
    assert "secret" not in run.stdout
