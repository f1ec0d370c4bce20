"""The success metrics of a memory management system, from what `memory.admin.metrics` counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FIGURES: Final = {
    "performance": {
        "memory_usage_efficiency": "eidet_memory_used_ratio",
        "retrieval_seconds_p50": "eidet_recall_latency_seconds_p50",
        "retrieval_seconds_p95": "eidet_recall_latency_seconds_p95",
        "storage_bytes": "eidet_store_bytes",
        "storage_bytes_per_record": "eidet_store_bytes_per_record",
        "storage_duplicate_ratio": "eidet_memory_duplicate_ratio",
    },
    "quality": {
        "context_relevance": "eidet_hit_relevance_ratio",
        "context_top_score": "eidet_recall_top_score_median",
        "information_retention": "eidet_memory_retention_ratio",
        "response_accuracy": "eidet_answer_accuracy_ratio",
        "retrieval_success_rate": "eidet_retrieval_success_ratio",
        "hit_ratio": "eidet_recall_hit_ratio",
    },
    "scale": {
        "records": "eidet_records",
        "memory_growth_per_day": "eidet_memory_growth_records_per_day",
        "drift_detected": "eidet_drift_detected",
        "stale_ratio": "eidet_memory_stale_ratio",
        "system_responsiveness": "eidet_recall_responsive_ratio",
    },
}


def figures(metrics: Mapping[str, float]) -> dict[str, dict[str, float | None]]:
    """The same numbers under the names and headings that people of this door look for."""
    return {
        heading: {name: metrics.get(native) for name, native in names.items()}
        for heading, names in FIGURES.items()
    }
