"""How a memory does, for those who run it: spans, metrics, logs. Without content, unless they ask for it.

    memory_spans.py        `trace_memories`: OpenTelemetry spans by the `gen_ai.memory` conventions
    memory_metrics.py      `MemoryMetrics`: durations, results and sizes for Prometheus
    slow_recalls.py        `log_slow_recalls`: what a slow recall spent its time on
    log_lines.py           logs as text or as JSON, with request and trace ids
    request_telemetry.py   what is told of every HTTP request, and /metrics

The first three also work without a server, for every memory of the process:

    with trace_memories(), log_slow_recalls(seconds=0.5):
        memory.recall("where does Ann live?")
"""

from __future__ import annotations

from .memory_metrics import MemoryMetrics
from .memory_spans import trace_memories
from .slow_recalls import log_slow_recalls

__all__ = ["MemoryMetrics", "log_slow_recalls", "trace_memories"]
