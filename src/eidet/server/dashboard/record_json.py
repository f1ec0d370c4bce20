"""Records, hits and events as the pages get them: times in seconds, texts cut to what is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Final

from ...core.event import Event
from ...core.hit import Hit
from ...core.record import Record
from ...core.record_table import FIELDS
from ...core.validate import Json

LIST_CHARS: Final = 400  # of a text in a list
PAGE_CHARS: Final = 20_000  # of a text on a page of its own, unless all of it is asked for

_APART: Final = frozenset(("text", "data", "meta", "state", "derived_from"))  # of a page of its own
_PLAIN: Final = tuple(one.name for one in FIELDS if one.shown and one.name not in _APART)


def record_as_json(record: Record, chars: int = LIST_CHARS) -> dict[str, Any]:
    return {name: getattr(record, name) for name in _PLAIN} | {
        "text": record.text[:chars],
        "chars": len(record.text),
        "pinned": record.state.pinned is not None,
        "held": record.state.hold is not None,
    }


def records_as_json(records: Iterable[Record | None], chars: int = LIST_CHARS) -> list[dict[str, Any]]:
    return [record_as_json(record, chars) for record in records if record is not None]


def hit_as_json(hit: Hit) -> dict[str, Any]:
    reasons = hit.reasons()
    return {
        "score": hit.score,
        "why": hit.why(),
        "matched": list(reasons.matched),
        "signals": [asdict(signal) for signal in reasons.signals],
        "record": record_as_json(hit.record),
    }


def event_as_json(event: Event) -> dict[str, Any]:
    """Without its id and scope; long texts of the earlier version are cut."""
    told = {name: getattr(event, name) for name in ("what", "at", "by", "version")}
    before = event.before and {name: _cut(value) for name, value in event.before.items()}
    return told | {"before": before}


def _cut(value: Json) -> Json:
    return value[:PAGE_CHARS] if isinstance(value, str) else value
