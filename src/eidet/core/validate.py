"""Checks that turn what a caller gives into what can be stored exactly, or say why not."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from .errors import BadInput

Json = Any  # None, bool, int, float, str, list or dict with str keys; checked by `clean_json`
Moment = float | int | datetime | str

EARLIEST, LATEST = -62135596800.0, 253402300799.0  # years 1 to 9999, UTC


def moment(value: Moment, what: str = "time") -> float:
    """Seconds since 1970 UTC, from a number, a datetime (naive: local time) or an ISO 8601 string."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise BadInput(f"{what} {value!r} is not an ISO 8601 date or time") from None
    if isinstance(value, datetime):
        value = _seconds(value, what)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{what} needs a number, a datetime or an ISO string, not {type(value).__name__}")
    if not EARLIEST <= value <= LATEST:
        raise BadInput(f"{what} {value!r} is outside the years 1 to 9999")
    return float(value)


def _seconds(value: datetime, what: str) -> float:
    try:
        return value.timestamp()
    except (ValueError, OverflowError):
        raise BadInput(f"{what} {value} is outside the range of this machine's clock") from None


def local(seconds: float) -> datetime:
    """The moment in the zone of this machine, in which days are meant."""
    when = datetime.fromtimestamp(seconds, UTC)
    try:
        return when.astimezone()
    except OverflowError:  # the first and the last day that there is have no other zone
        return when


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_SORTER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)


def dump_json(value: Json, *, sort_keys: bool = False) -> str:
    """By encoders that are made once: `json.dumps` makes one at each call."""
    if sort_keys:
        return _SORTER.encode(value)
    return _ENCODER.encode(value)


def clean_json(value: Json, what: str) -> Json:
    """A copy that JSON gives back exactly (tuples become lists); what JSON would change is refused."""
    return _clean(value, what, ())


def _clean(value: Json, what: str, inside: tuple[int, ...]) -> Json:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _clean_int(value, what)
    if isinstance(value, str):
        return clean_text(value, what)
    if isinstance(value, float):
        return _clean_float(value, what)
    if not isinstance(value, Mapping | list | tuple):
        raise BadInput(
            f"{what} holds a {type(value).__name__}, which JSON cannot represent; "
            "convert it to numbers, strings, lists and dicts first"
        )
    if id(value) in inside:
        raise BadInput(f"{what} contains itself; a cycle cannot be stored")
    if len(inside) >= 200:
        raise BadInput(f"{what} is nested more than 200 levels deep")
    inside = (*inside, id(value))
    if isinstance(value, Mapping):
        return {_clean_key(key, what): _clean(item, what, inside) for key, item in value.items()}
    return [_clean(item, what, inside) for item in value]


def _clean_int(value: int, what: str) -> int:
    if value.bit_length() > 4096:
        raise BadInput(f"{what} holds a whole number of {value.bit_length():,} bits; the limit is 4,096")
    return value


def _clean_float(value: float, what: str) -> float:
    if not math.isfinite(value):
        raise BadInput(f"{what} holds {value!r}, which JSON cannot represent; use None or a string")
    return float(value)


def _clean_key(key: Json, what: str) -> str:
    if not isinstance(key, str):
        raise BadInput(f"{what} has the key {key!r}; JSON keys are strings")
    return clean_text(key, what)


def clean_text(value: str, what: str) -> str:
    """The same text, or a clear error where it could not be stored as UTF-8."""
    if not isinstance(value, str):
        raise BadInput(f"{what} needs a string, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as bad:
        raise BadInput(
            f"{what} has a lone surrogate at character {bad.start}, which UTF-8 cannot encode; "
            "decode the source with errors='replace'"
        ) from None
    return value
