"""Records, hits and events as the pages get them: times in seconds, texts cut to what is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Final

from ...core.event import Event
from ...core.hit import Hit
from ...core.record import Record
from ...core.validate import Json

LIST_CHARS: Final = 400  # of a text in a list
PAGE_CHARS: Final = 20_000  # of a text on a page of its own, unless all of it is asked for

_PLAIN: Final = (
    "id",
    "scope",
    "kind",
    "tier",
    "who",
    "agent",
    "session",
    "step",
    "place",
    "importance",
    "created",
    "occurred",
    "uses",
    "last_used",
    "expires",
    "source",
    "trust",
    "version",
    "seq",
    "level",
)


def record_as_json(record: Record, chars: int = LIST_CHARS) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name in _PLAIN:
        result[name] = getattr(record, name)
    result["text"] = record.text[:chars]
    result["chars"] = len(record.text)
    result["pinned"] = record.state.pinned is not None
    result["held"] = record.state.hold is not None
    return result


def records_as_json(records: Iterable[Record | None], chars: int = LIST_CHARS) -> list[dict[str, Any]]:
    rows = []
    for record in records:
        if record is not None:
            rows.append(record_as_json(record, chars))
    return rows


def hit_as_json(hit: Hit) -> dict[str, Any]:
    reasons = hit.reasons()
    signals = []
    for signal in reasons.signals:
        signals.append(asdict(signal))
    return {
        "score": hit.score,
        "why": hit.why(),
        "matched": list(reasons.matched),
        "signals": signals,
        "record": record_as_json(hit.record),
    }


def event_as_json(event: Event) -> dict[str, Any]:
    return {
        "what": event.what,
        "at": event.at,
        "by": event.by,
        "version": event.version,
        "before": cut_texts(event.before),
    }


def cut_texts(content: Mapping[str, Json] | None) -> dict[str, Json] | None:
    """The content of an earlier version, its long texts cut."""
    if content is None:
        return None
    result = dict(content)
    for name, value in content.items():
        if isinstance(value, str):
            result[name] = value[:PAGE_CHARS]
    return result
