"""Answers as JSON: times are ISO 8601 in UTC, vectors are left out unless asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import typer

from ..core.event import Event
from ..core.hit import Hit, Hits
from ..core.record import Record
from ..core.validate import dump_json

if TYPE_CHECKING:
    from ..recall.pack import Context

_TIMES: Final = {"created", "occurred", "last_used", "expires"}
_DERIVED: Final = {"vector", "terms", "original"}


def emit(answer: object) -> None:
    """One JSON document, on one line."""
    typer.echo(dump_json(answer))


def emit_each(answers: Iterable[object]) -> None:
    """JSON lines."""
    for answer in answers:
        emit(answer)


def time_json(moment: float | None) -> str | None:
    if moment is None:
        return None
    return datetime.fromtimestamp(moment, UTC).isoformat()


def record_json(record: Record, *, vectors: bool = False) -> dict[str, Any]:
    said = {}
    for field in fields(record):
        if field.name not in _DERIVED:
            said[field.name] = getattr(record, field.name)
    said |= {name: time_json(said[name]) for name in _TIMES}
    said["state"] = record.state.to_json()
    return said | {"vector": vector_json(record.vector)} if vectors else said


def vector_json(vector: bytes | None) -> list[float] | None:
    from ..models.embed.quantise import row_of

    return None if vector is None else row_of(vector).tolist()


def hit_json(hit: Hit, *, vectors: bool = False) -> dict[str, Any]:
    return {
        "score": hit.score,
        "why": hit.why(),
        "matched": hit.matched,
        "signals": [asdict(signal) for signal in hit.signals],
        "record": record_json(hit.record, vectors=vectors),
    }


def hits_json(query: str, hits: Hits, *, vectors: bool = False) -> dict[str, Any]:
    answer = {"query": query, "hits": [hit_json(hit, vectors=vectors) for hit in hits]}
    if hits.trace is None:
        return answer
    return answer | {"trace": asdict(hits.trace)}


def context_json(context: Context) -> dict[str, Any]:
    return {
        "text": context.text,
        "tokens": context.tokens,
        "budget": context.budget,
        "used": [hit.id for hit in context.hits],
        "told": [record.id for record in context.records],
        "left_out": [hit.id for hit in context.left_out],
        "sections": dict(context.sections),
    }


def event_json(event: Event) -> dict[str, Any]:
    return asdict(event) | {"at": time_json(event.at)}
