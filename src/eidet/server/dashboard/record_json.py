"""Records, hits and events as the pages get them: times in seconds, texts cut to what is shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ...core.record import Record
from ...core.record_table import FIELDS

_LIST_CHARS: Final = 400  # of a text in a list
PAGE_CHARS: Final = 20_000  # of a text on a page of its own, unless all of it is asked for

_APART: Final = frozenset(("text", "data", "meta", "state", "derived_from"))  # of a page of its own
_PLAIN: Final = tuple(one.name for one in FIELDS if one.shown and one.name not in _APART)


def record_as_json(record: Record, chars: int = _LIST_CHARS) -> dict[str, Any]:
    return {name: getattr(record, name) for name in _PLAIN} | {
        "text": record.text[:chars],
        "chars": len(record.text),
        "pinned": record.state.pinned is not None,
        "held": record.state.hold is not None,
    }


def records_as_json(records: Iterable[Record | None], chars: int = _LIST_CHARS) -> list[dict[str, Any]]:
    return [record_as_json(record, chars) for record in records if record is not None]
