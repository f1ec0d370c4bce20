"""All that an answer tells: its words, its ids, and the scopes it names."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass

from ..core.hit import Hit, Hits, Trace
from ..core.record import Event, Record


def strings(value: object) -> Iterator[str]:
    """Yields every string in an answer at any depth; bytes as text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif isinstance(value, BaseException):
        yield from (str(value), repr(value))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from strings(key)
            yield from strings(item)
    else:
        yield from _parts(value)


def _parts(value: object) -> Iterator[str]:
    if isinstance(value, Hit):
        yield from (value.why(), *value.matched)
        yield from strings(value.record)
    elif isinstance(value, Hits):
        for part in (value.scope, value.trace, *value):
            yield from strings(part)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from strings(getattr(value, field.name))
    elif isinstance(value, Sequence | AbstractSet):
        for item in value:
            yield from strings(item)


def scopes_told(value: object) -> Iterator[str]:
    """Lists the scopes of the records, events and traces in an answer."""
    if isinstance(value, Record | Event):
        yield value.scope
    elif isinstance(value, Trace):
        yield from (*value.scopes, value.scope)
    else:
        for part in _inside(value):
            yield from scopes_told(part)


def _inside(value: object) -> Iterator[object]:
    """Yields the parts of an answer."""
    if isinstance(value, Hits):
        yield from (value.trace, *value)
    elif isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list | tuple):
        yield from value
    elif is_dataclass(value) and not isinstance(value, type):
        yield from (getattr(value, field.name) for field in fields(value))


class LogLines(logging.Handler):
    """Collects log lines until they are taken."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self._lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(record.getMessage())

    def take(self) -> list[str]:
        taken, self._lines = self._lines, []
        return taken
