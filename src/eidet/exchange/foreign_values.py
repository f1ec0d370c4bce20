"""Values of other programs as Eidet keeps them: times with their zone, and metadata that JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from ..core.errors import BadInput


def read_time(value: Any, what: str) -> float | None:
    """Seconds since 1970, from ISO text, a datetime or a number; without a zone, UTC is meant."""
    if value is None or value == "":
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        value = _parse_time(value, what)
    if isinstance(value, date):
        return _read_date(value)
    raise BadInput(f"{what} is not a time: {value!r:.80}")


def _read_date(value: date) -> float:
    if not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if value.tzinfo is None:
        value = value.replace(tzinfo=UTC)
    return value.timestamp()


def _parse_time(text: str, what: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise BadInput(f"{what} is not an ISO 8601 date or time: {text!r:.80}") from None


def end_of_day(value: Any, what: str) -> float | None:
    """The end of a day in UTC, for dates up to and including which something is valid."""
    start = read_time(value, what)
    if start is None:
        return None
    return start + timedelta(days=1).total_seconds()


def plain_json(value: Any) -> Any:
    """The same in values of JSON: times become ISO text, keys become text."""
    if isinstance(value, Mapping):
        return {str(key): plain_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_json(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    return value


def with_origin(meta: Mapping[str, Any], name: str, own: Mapping[str, Any]) -> dict[str, Any] | None:
    """The metadata of a source, and under a name of its own what else the source said; None if empty."""
    made = dict(meta)
    if own:
        while name in made:
            name += "_"
        made[name] = dict(own)
    return made or None
