"""Escapes texts that PostgreSQL cannot hold as they are, and restores them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

Row = tuple[Any, ...]

_AS_IT_IS: Final = frozenset((type(None), float, int, bool, bytes))


def escape(values: Sequence[Any]) -> list[Any]:
    """Replaces NUL, which PostgreSQL cannot hold, neither as it is nor as an escape in JSON.

    Substitute characters take its place: NUL becomes SUB 0, and SUB itself SUB 1.
    """
    return [value if type(value) in _AS_IT_IS else _storable(value) for value in values]


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return _escape(value)
    return escape(value) if isinstance(value, list) else value


def _escape(text: str) -> str:
    if "\0" not in text and "\x1a" not in text and "\\u00" not in text:
        return text
    text = text.replace("\x1a", "\x1a1").replace("\0", "\x1a0")
    return text.replace("\\u001a", "\\u001a1").replace("\\u0000", "\\u001a0")


def unescape_row(row: Sequence[Any]) -> Row:
    return tuple(_plain(value) if isinstance(value, str) else value for value in row)


def _plain(text: str) -> str:
    if "\x1a" not in text and "\\u001a" not in text:
        return text
    text = text.replace("\\u001a0", "\\u0000").replace("\\u001a1", "\\u001a")
    return text.replace("\x1a0", "\0").replace("\x1a1", "\x1a")


def rows_of(cursor: Any) -> list[Row]:
    return list(map(unescape_row, cursor.fetchall()))


def array_of(seqs: Iterable[int]) -> str:
    """Formats seqs as an array for the server; the driver would inspect each."""
    return f"{{{','.join(map(str, seqs))}}}"
