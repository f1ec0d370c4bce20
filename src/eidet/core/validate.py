"""Checks of caller input: each returns a value that can be stored exactly, or says why it cannot."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, tzinfo
from typing import Any, Final

from .errors import BadInput

# How much a caller may hand in at once, as docs/operate/security.md lists it. What is larger is refused
# before any work is done. The length of a text is the setting `text_chars`.

QUERY_CHARS: Final = 100_000  # of a query
DOCUMENT_CHARS: Final = 10_000_000  # of `data` or `meta`, written as JSON
DOCUMENT_DEPTH: Final = 200  # lists and dicts inside of each other
NUMBER_BITS: Final = 4096  # of a whole number in `data` or `meta`
DERIVED_FROM: Final = 10_000  # ids of the records that one record was made from
CONDITIONS: Final = 2000  # in one filter, with all that is nested in it
FILTER_DEPTH: Final = 30  # filters inside of each other
FILTER_VALUES: Final = 1_000_000  # ids, and values of `in`
REGEX_CHARS: Final = 1_000  # of a regular expression; `regex` prepares a long one in cubic time


def check_length(text: str, most: int, what: str) -> str:
    if len(text) > most:
        raise BadInput(f"{what} has at most {most:,} characters; this one has {len(text):,}")
    return text


def check_count(count: int, most: int, what: str) -> None:
    if count > most:
        raise BadInput(f"{what}: at most {most:,} are allowed, and there are {count:,}")


def check_whole(value: int, low: int, high: float, what: str) -> int:
    """Returns a whole number within this range; else raises `BadInput`."""
    value = plain_value(value)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        reach = f"from {low:,} up" if high == math.inf else f"from {low:,} to {high:,}"
        raise BadInput(f"{what} must be a whole number {reach}, not {value!r:.80}")
    return value


Json = Any  # None, bool, int, float, str, list or dict with str keys; checked by `clean_json`
Moment = float | int | datetime | date | str

_PLAIN = frozenset((str, int, float, bool, dict, list, tuple, type(None)))

EARLIEST, LATEST = -62135596800.0, 253402300799.0  # years 1 to 9999, UTC


def moment(value: Moment, what: str = "time", *, zone: tzinfo | None = None) -> float:
    """Returns seconds since 1970 UTC for a number, a datetime, a date (its midnight) or an ISO 8601 string.

    A datetime without a zone and a date are meant in `zone`, by default in local time.
    """
    value = plain_value(value)
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise BadInput(f"{what} {value!r} is not an ISO 8601 date or time") from None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if isinstance(value, datetime):
        value = _seconds(value if value.tzinfo else value.replace(tzinfo=zone), what)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{what} needs a number, a date, a datetime or ISO text, not {type(value).__name__}")
    if not EARLIEST <= value <= LATEST:
        raise BadInput(f"{what} {value!r} is outside the years 1 to 9999")
    return float(value)


def _seconds(value: datetime, what: str) -> float:
    try:
        return value.timestamp()
    except (ValueError, OverflowError):
        raise BadInput(f"{what} {value} is outside the range of this machine's clock") from None


def local(seconds: float) -> datetime:
    """Converts a time to this machine's time zone, in which days are counted."""
    when = datetime.fromtimestamp(seconds, UTC)
    try:
        return when.astimezone()
    except OverflowError:  # the first and the last possible day cannot be converted
        return when


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_SORTER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)


def dump_json(value: Json, *, sort_keys: bool = False) -> str:
    """Encodes JSON with cached encoders: `json.dumps` builds one at each call."""
    if sort_keys:
        return _SORTER.encode(value)
    return _ENCODER.encode(value)


def copy_json(value: Json) -> Json:
    """Copies JSON at a fifth of the cost of deepcopy."""
    if isinstance(value, dict):
        return {name: copy_json(item) for name, item in value.items()}
    if isinstance(value, list):
        return [copy_json(item) for item in value]
    return value


def plain_value(value: Any) -> Any:
    """Converts a number or text of NumPy to Python's own type; returns anything else as it is."""
    if type(value) in _PLAIN:
        return value
    numpy = sys.modules.get("numpy")  # never imported here: unless it is loaded, no value can be NumPy's
    if numpy is not None and isinstance(value, numpy.generic):
        return value.item()
    return value


def clean_json(value: Json, what: str) -> Json:
    """Returns a copy that JSON restores exactly (tuples become lists); refuses what JSON would change.

    Scalars of NumPy become Python's own. An error names the place inside: `data.items[2].price`.
    """
    return _Cleaner(what).clean(value, what, ())


class _Cleaner:
    """A copier of one document that counts its characters as JSON; shared parts count each time."""

    def __init__(self, whole: str) -> None:
        self._whole = whole
        self._left = DOCUMENT_CHARS

    def clean(self, value: Json, what: str, inside: tuple[int, ...]) -> Json:
        value = plain_value(value)
        if value is None or isinstance(value, bool):
            self._take(1)
            return value
        if isinstance(value, int):
            self._take(1)
            return _clean_int(value, what)
        if isinstance(value, str):
            self._take(len(value) + 2)
            return clean_text(value, what)
        if isinstance(value, float):
            self._take(1)
            return _clean_float(value, what)
        self._check_nesting(value, what, inside)
        self._take(2)
        inside = (*inside, id(value))
        if isinstance(value, Mapping):
            return {
                self._clean_key(key, what): self.clean(item, f"{what}.{key}", inside)
                for key, item in value.items()
            }
        return [self.clean(item, f"{what}[{step}]", inside) for step, item in enumerate(value)]

    def _check_nesting(self, value: Json, what: str, inside: tuple[int, ...]) -> None:
        if not isinstance(value, Mapping | list | tuple):
            raise BadInput(
                f"{what} holds a {type(value).__name__}, which JSON cannot represent; "
                "convert it to numbers, strings, lists and dicts first"
            )
        if id(value) in inside:
            raise BadInput(f"{self._whole} contains itself; a cycle cannot be stored")
        if len(inside) >= DOCUMENT_DEPTH:
            raise BadInput(f"{self._whole} is nested more than {DOCUMENT_DEPTH} levels deep")

    def _clean_key(self, key: Json, what: str) -> str:
        if not isinstance(key, str):
            raise BadInput(f"{what} has the key {key!r}; JSON keys are strings")
        self._take(len(key) + 3)
        return clean_text(key, what)

    def _take(self, characters: int) -> None:
        self._left -= characters
        if self._left < 0:
            raise BadInput(
                f"{self._whole} is larger than {DOCUMENT_CHARS:,} characters of JSON; "
                "split it, or store the large part elsewhere and name it here"
            )


def _clean_int(value: int, what: str) -> int:
    if value.bit_length() > NUMBER_BITS:
        raise BadInput(f"{what} holds a whole number of {value.bit_length():,} bits; the limit is 4,096")
    return value


def _clean_float(value: float, what: str) -> float:
    if not math.isfinite(value):
        raise BadInput(f"{what} holds {value!r}, which JSON cannot represent; use None or a string")
    return float(value)


def clean_text(value: str, what: str) -> str:
    """Returns the text; raises `BadInput` if it cannot be stored as UTF-8."""
    if not isinstance(value, str):
        raise BadInput(f"{what} needs a string, not {type(value).__name__}")
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError as bad:
        raise BadInput(
            f"{what} has a lone surrogate at character {bad.start}, which UTF-8 cannot encode; "
            "decode the source with errors='replace'"
        ) from None
    return value


# Data as a line of text.


def describe_data(data: Json) -> str:
    """Describes data in a line of text, for search and for people: `health: 0.85; inventory wood: 5`."""
    match data:
        case dict():
            return "; ".join(
                f"{key} {describe_data(value)}"
                if isinstance(value, dict)
                else f"{key}: {describe_data(value)}"
                for key, value in data.items()
            )
        case list():
            return ", ".join(describe_data(item) for item in data)
    return str(data)
