"""What the relational store needs of a SQL database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from sqlalchemy import Dialect

from .. import Scrubbed
from .filters import JsonSql

T = TypeVar("T")
Row = tuple[Any, ...]
Ask = Callable[[str, Sequence[Any]], list[Row]]  # SQL and its values -> rows


class Cursor(Protocol):
    """What a driver hands out to run statements on: DB-API, reduced to what is used here."""

    @property
    def rowcount(self) -> int: ...
    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Any: ...
    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Any: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...


class Driver(Protocol):
    """One SQL database. Raises Eidet's errors, never its own."""

    @property
    def dialect(self) -> Dialect: ...
    @property
    def json(self) -> JsonSql: ...
    @property
    def writable(self) -> bool: ...

    def read(self, sql: str, values: Sequence[Any]) -> list[Row]: ...

    def snapshot(self, job: Callable[[Cursor], T]) -> T:
        """Runs reads as of one moment."""

    def write(self, job: Callable[[Cursor], T]) -> T:
        """Runs a job alone in a transaction and commits it before it answers."""

    def trim(self, most: int) -> int:
        """As `Compacts.trim`."""

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        """As `ScrubsFiles.scrub`."""

    def size(self) -> int: ...
    def close(self) -> None: ...


def ask_on(cursor: Cursor) -> Ask:
    """Runs statements on a cursor and gives their rows."""

    def ask(sql: str, values: Sequence[Any]) -> list[Row]:
        cursor.execute(sql, values)
        return cursor.fetchall()

    return ask
