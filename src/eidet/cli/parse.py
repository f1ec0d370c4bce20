"""Parses what users type: spans and times, JSON, coordinates, lines of files."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from ..core.errors import BadInput
from ..core.validate import Json

_SPAN: Final = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def end_of(text: str | None) -> str | timedelta | None:
    """Parses `30d`, `12h` or `45m` as a span; returns anything else as it is, for an ISO time."""
    found = _SPAN.fullmatch(text or "")
    if found is None:
        return text
    try:
        return timedelta(**{_UNITS[found[2]]: float(found[1])})
    except OverflowError:
        raise BadInput(f"{text} from now is beyond the range of dates") from None


def place_of(text: str | None) -> list[float] | None:
    try:
        return None if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        raise BadInput(f"a place must be x,y or x,y,z in numbers, not {text!r}") from None


def json_of(text: str | None, what: str) -> Json:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{what} is not JSON{_locate(error)}") from None


def _locate(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f": it goes wrong at line {error.lineno}, character {error.colno}"
    return ": it holds a number or a nesting that is too large"


def meta_of(pairs: Sequence[str]) -> dict[str, Json] | None:
    """Parses pairs `key=value`; a value is parsed as JSON if it is that: `floor=3`, `tags=["a"]`."""
    return dict(map(_pair, pairs)) or None


def _pair(pair: str) -> tuple[str, Json]:
    key, sign, value = pair.partition("=")
    if not sign or not key:
        raise BadInput(f"--meta takes key=value, not {pair!r}")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def lines_of(file: str) -> list[str]:
    """Returns the lines of a file that are not blank; `-` is standard input."""
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{file} is not UTF-8 text: {error}") from None
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from None
    return [line for line in text.split("\n") if line.strip()]
