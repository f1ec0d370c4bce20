"""What is typed, as values: spans and times, JSON, coordinates, lines of files."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from ..core.draft import Message
from ..core.errors import BadInput
from ..core.validate import Json

_SPAN: Final = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_MESSAGE: Final = {field.name for field in fields(Message)}


def end_of(text: str | None) -> str | timedelta | None:
    """`30d`, `12h` or `45m` from now; anything else is taken for an ISO time."""
    found = _SPAN.fullmatch(text or "")
    if found is None:
        return text
    try:
        return timedelta(**{_UNITS[found[2]]: float(found[1])})
    except OverflowError:
        raise BadInput(f"{text} from now is beyond the range of dates") from None


def place_of(text: str | None) -> list[float] | None:
    try:
        if text is None:
            return None
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise BadInput(f"a place must be x,y or x,y,z in numbers, not {text!r}") from None


def json_of(text: str | None, what: str) -> Json:
    try:
        if text is None:
            return None
        return json.loads(text)
    except ValueError as error:
        raise BadInput(f"{what} is not JSON: {error}") from None


def meta_of(pairs: Sequence[str]) -> dict[str, Json] | None:
    """`key=value`, where a value that is JSON means that JSON: `floor=3`, `tags=["a"]`."""
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
    """The lines of a file that say something; `-` is standard input."""
    return [line for _, line in _number_lines(file)]


def messages_of(file: str) -> list[Message]:
    """One message a line; what a message does not have a field for is kept as its metadata."""
    return [_message(line, f"{file}, line {number}") for number, line in _number_lines(file)]


def _number_lines(file: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(_content(file).splitlines(), 1):
        if line.strip():
            yield number, line


def _content(file: str) -> str:
    try:
        if file == "-":
            return sys.stdin.read()
        return Path(file).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{file} is not UTF-8 text: {error}") from None
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from None


def _message(line: str, where: str) -> Message:
    said = json_of(line, where)
    if not isinstance(said, dict) or not isinstance(said.get("role"), str):
        raise BadInput(f'{where} is not a message: it needs {{"role": …, "content": …}}')
    known: dict[str, Any] = {name: value for name, value in said.items() if name in _MESSAGE}
    other = {}
    for name, value in said.items():
        if name not in _MESSAGE:
            other[name] = value
    return Message(**known | {"metadata": other | (known.get("metadata") or {})})
