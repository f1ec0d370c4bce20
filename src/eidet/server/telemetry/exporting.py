"""Where the spans of `eidet serve` go: to the collector that OpenTelemetry's variables name."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

LOG: Final = logging.getLogger("eidet.server")
ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def export_spans(environment: Mapping[str, str]) -> bool:
    """Sends spans over OTLP if a variable names a collector; says whether it does.

    Whoever starts the server through `opentelemetry-instrument` has configured OpenTelemetry already.
    """
    if not any(environment.get(name) for name in ENDPOINTS):
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
