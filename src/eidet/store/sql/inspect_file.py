"""Inspects a SQLite file from outside, without changing it: for `eidet doctor` and the like."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from glob import escape
from itertools import chain
from pathlib import Path

from .migrate import revision_of
from .sqlite import APPLICATION_ID, MAGIC
from .sqlite_errors import translate_errors
from .stale_log import check_log


@dataclass(frozen=True, slots=True, kw_only=True)
class _FileFacts:
    """Facts about a database file. `staged`: vectors of an unfinished change of embedder."""

    foreign: bool
    revision: str | None
    staged: int


def sqlite_version() -> str:
    """Returns the version of the SQLite library that this Python uses."""
    return sqlite3.sqlite_version


def file_of(place: str) -> Path | None:
    """Returns the file that a place names; None if the memory is in RAM or on a server."""
    if place.endswith(":memory:"):
        return None
    name, colon, rest = place.partition("://")
    if not colon:
        return Path(place).expanduser()
    return Path(rest.removeprefix("/")).expanduser() if name == "sqlite" else None


def is_database(path: Path) -> bool:
    """Returns whether a file starts like a SQLite file; an empty one counts."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) in (b"", MAGIC)


def facts_of(path: Path) -> _FileFacts:
    with _peek(path) as database:
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        ours = database.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        staged = "vectors_next" in tables and database.execute("SELECT count(*) FROM vectors_next")
        return _FileFacts(
            foreign=bool(tables) and not ours,
            revision=revision_of(database) if ours else None,
            staged=staged.fetchone()[0] if staged and ours else 0,
        )


def damages(path: Path, *, thorough: bool = False) -> list[str]:
    """Lists up to 100 faults that SQLite finds in a file; `thorough` also compares indexes with tables.

    Reads the whole file. Raises `Corrupt` if it cannot be read at all.
    """
    check = "PRAGMA integrity_check(100)" if thorough else "PRAGMA quick_check(100)"
    with _peek(path) as database:
        found = [str(row[0]) for row in database.execute(check)]
    return [] if found == ["ok"] else found


def leftovers(path: Path) -> list[Path]:
    """Lists files beside a database that an upgrade, an export or a cache left behind, by name."""
    folder, name = path.absolute().parent, escape(path.name)
    beside = (f"{name}.schema-*", "*.partial", f"{name}-index/*.partial")
    return sorted(chain.from_iterable(map(folder.glob, beside)))


@contextmanager
def _peek(path: Path) -> Iterator[sqlite3.Connection]:
    """Opens a connection that creates no file; reads the database as it is if none may be written."""
    check_log(path)
    writable = os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)
    mode = "mode=rw"
    if not writable:
        mode = "mode=ro" if Path(f"{path}-wal").exists() else "mode=ro&immutable=1"
    with (
        translate_errors(path),
        closing(sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, timeout=60)) as database,
    ):
        database.execute("PRAGMA query_only = ON")
        yield database
