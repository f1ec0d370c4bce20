"""SQLite files of other programs: opened for reading only, and never changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from ..core.errors import BadInput

MAGIC: Final = b"SQLite format 3\0"


class ForeignDatabase:
    """The tables of another program's file."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path

    def list_columns(self, table: str) -> frozenset[str]:
        """The columns of a table; none if there is no such table."""
        rows = self.read("SELECT name FROM pragma_table_info(?)", table)
        return frozenset(str(row["name"]) for row in rows)

    def require_columns(self, table: str, columns: frozenset[str], owner: str) -> frozenset[str]:
        """All columns of a table; `BadInput` if it lacks one that must be there."""
        found = self.list_columns(table)
        if missing := sorted(columns - found):
            raise BadInput(f"{self._path} is not a file of {owner}: table {table} lacks {', '.join(missing)}")
        return found

    def read(self, query: str, *values: Any) -> Iterator[dict[str, Any]]:
        """The rows of a query, one after the other."""
        with _translate(self._path):
            cursor = self._connection.execute(query, values)
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True))


def is_sqlite(path: Path) -> bool:
    """Whether a file begins as SQLite files do."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


@contextmanager
def open_database(path: Path) -> Iterator[ForeignDatabase]:
    """A SQLite file, for reading."""
    if not is_sqlite(path):
        raise BadInput(f"{path} is not a SQLite file")
    with _translate(path):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    with closing(connection):
        yield ForeignDatabase(connection, path)


@contextmanager
def _translate(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise BadInput(f"{path} cannot be read: {error}") from error
