"""Metrics for monitoring systems: flat names that carry their units, and the meaning of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from . import DAY, RESPONSIVE, WINDOW_DAYS, Quality, Rate, Survey
from .drift import Drift

MEANINGS: Final = {
    "eidet_records": "Living records",
    "eidet_store_bytes": "Bytes of the whole store",
    "eidet_store_bytes_per_record": "Bytes of the whole store, by its records",
    "eidet_recalls": "Recalls by a query, in the window",
    "eidet_recall_latency_seconds_mean": "Mean time of a recall",
    "eidet_recall_latency_seconds_p50": "Half of the recalls were at least this fast",
    "eidet_recall_latency_seconds_p95": "95 of 100 recalls were at least this fast",
    "eidet_recall_latency_seconds_p99": "99 of 100 recalls were at least this fast",
    "eidet_recall_responsive_ratio": f"Recalls that took at most {RESPONSIVE:g} seconds, of all",
    "eidet_recall_hit_ratio": "Recalls with at least one hit, of all",
    "eidet_recall_empty_ratio": "Recalls without any hit, of all",
    "eidet_recall_hits_mean": "Mean number of hits of a recall",
    "eidet_recall_top_score_median": "Median score of the best hit",
    "eidet_retrieval_success_ratio": "Judgements that said useful, of all",
    "eidet_answer_accuracy_ratio": "Judgements of whole answers that said useful, of these",
    "eidet_hit_relevance_ratio": "Judgements of single hits that said useful, of these",
    "eidet_judgements": "Judgements given, in the window",
    "eidet_contexts": "Contexts made, in the window",
    "eidet_context_budget_used_ratio": "Tokens used in contexts, of those allowed",
    "eidet_memory_used_ratio": "Records that were recalled at least once, of all",
    "eidet_memory_never_recalled_ratio": "Records never recalled, of those old enough to have been",
    "eidet_memory_stale_ratio": "Records neither created nor used for long, of all",
    "eidet_memory_duplicate_ratio": "Facts and documents that repeat one of their scope, of these",
    "eidet_memory_growth_records_per_day": "Records created a day that are still there, in the window",
    "eidet_memory_retention_ratio": "Records there now, of these and those forgotten in the window",
    "eidet_drift_detected": "1 if retrieval changed against the weeks before, 0 if not",
    "eidet_drift_statistic": "z of the comparison with the smallest p-value",
    "eidet_drift_p_value": "The chance of so much change if nothing had changed",
}


def metrics_of(
    quality: Quality, drift: Drift, survey: Survey, *, size: int, stored: int, now: float
) -> dict[str, float]:
    """Returns every metric with data, by name, in the order of MEANINGS.

    `size` is the bytes and `stored` the records of the whole store, whatever the scope is.
    """
    found = (
        survey.records,
        size,
        _divide(size, stored),
        quality.recalls,
        quality.seconds_mean,
        quality.seconds_p50,
        quality.seconds_p95,
        quality.seconds_p99,
        _value(quality.responsive),
        _value(quality.hit_ratio),
        _value(quality.empty_rate),
        quality.hits_per_recall,
        quality.top_score_median,
        _value(quality.success_rate),
        _value(quality.answer_accuracy),
        _value(quality.hit_relevance),
        quality.success_rate.of if quality.success_rate else 0,
        quality.contexts,
        quality.context_use,
        _divide(survey.used, survey.records),
        _divide(survey.never, survey.ripe),
        _divide(survey.stale, survey.records),
        _divide(survey.duplicates, survey.distinct + survey.duplicates),
        growth(survey, now),
        _divide(survey.records, survey.records + quality.forgotten),
        None if drift.verdict == "unknown" else float(drift.verdict == "drifted"),
        drift.statistic,
        drift.p_value,
    )
    return {name: float(value) for name, value in zip(MEANINGS, found, strict=True) if value is not None}


def quality_as_json(quality: Quality, drift: Drift) -> dict[str, Any]:
    """Returns the rates with their intervals and the drift verdict with its reasons as plain values."""
    changed = [asdict(shift) | {"worse": shift.worse} for shift in drift.changed]
    return {"window_days": WINDOW_DAYS, **asdict(quality), "drift": asdict(drift) | {"changed": changed}}


def exposition(metrics: Mapping[str, float], scope: str | None = None) -> str:
    """Formats the metrics as Prometheus text, each as a gauge; `scope` becomes a label."""
    label = f'{{scope="{_escape_label(scope)}"}}' if scope is not None else ""
    lines = (
        f"# HELP {name} {MEANINGS[name]}.\n# TYPE {name} gauge\n{name}{label} {value!r}\n"
        for name, value in metrics.items()
    )
    return "".join(lines)


def growth(survey: Survey, now: float) -> float | None:
    """Returns new records per day over the window, or over the age of a younger memory; None if empty."""
    if survey.oldest is None:
        return None
    return survey.fresh / min(WINDOW_DAYS, max(1.0, (now - survey.oldest) / DAY))


def _divide(part: float, of: float) -> float | None:
    return part / of if of else None


def _value(rate: Rate | None) -> float | None:
    return None if rate is None else rate.value


def _escape_label(label: str) -> str:
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
