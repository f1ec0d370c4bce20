"""Spans, metrics and logs for operators; without content of memories, unless they ask for it.

    memory_spans.py        `trace_memories`: OpenTelemetry spans by the `gen_ai.memory` conventions
    memory_metrics.py      `MemoryMetrics`: durations, results and sizes for Prometheus
    log_lines.py           logs as text or as JSON, with request and trace ids
    request_telemetry.py   a span, a duration and a log line for every HTTP request; /metrics

The first two also work without a server, for every memory of the process:

    with trace_memories():
        memory.recall("where does Ann live?")
"""

from __future__ import annotations

from .memory_metrics import MemoryMetrics
from .memory_spans import trace_memories

__all__ = ["MemoryMetrics", "trace_memories"]
