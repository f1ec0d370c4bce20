"""The ports between the relational store and a SQL database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from ...core.condition import Condition
from .. import Scrubbed

T = TypeVar("T")
Row = tuple[Any, ...]
Ask = Callable[[str, Sequence[Any]], list[Row]]  # SQL and its values -> rows


class Cursor(Protocol):
    """A DB-API cursor, reduced to what is used here."""

    @property
    def rowcount(self) -> int: ...
    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Any: ...
    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Any: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...


class Sql(NamedTuple):
    """A piece of SQL, and the values of its placeholders in order."""

    text: str
    values: tuple[Any, ...] = ()

    @property
    def enclosed(self) -> Sql:
        return Sql(f"({self.text})", self.values)


class JsonSql(Protocol):
    """The points on which SQL dialects differ."""

    @property
    def mark(self) -> str:
        """The placeholder for a value: `?` or `%s`."""

    def answers(self, condition: Condition) -> bool:
        """Returns whether `test` decides a condition exactly."""

    def test(self, column: str, condition: Condition) -> Sql:
        """Builds a test of the JSON document in a column; false, not NULL, if there is none."""

    def among(self, found: Sql, values: Sequence[str]) -> Sql:
        """Builds a test whether a text that is never NULL is one of the values, however many."""


class Driver(Protocol):
    """One SQL database. Raises Eidet's errors, never its own."""

    @property
    def json(self) -> JsonSql: ...
    @property
    def writable(self) -> bool: ...

    def read(self, sql: str, values: Sequence[Any]) -> list[Row]: ...

    def snapshot(self, job: Callable[[Cursor], T]) -> T:
        """Runs reads as of one moment."""

    def write(self, job: Callable[[Cursor], T]) -> T:
        """Runs a job exclusively in a transaction, and commits it before returning."""

    def trim(self, most: int) -> int:
        """Works like `MaintainsStorage.trim`."""

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        """Works like `MaintainsStorage.scrub`."""

    def size(self) -> int: ...
    def close(self) -> None: ...
