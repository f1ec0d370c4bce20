"""The SQLite file of a store without the store: for erasing, sealing and proving that nothing is left."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ...core.errors import Unavailable

RawConnection = sqlite3.Connection


@contextmanager
def open_alone(path: Path) -> Iterator[RawConnection]:
    """Opens the file exclusively; `Unavailable` while anybody else has it open."""
    raw = sqlite3.connect(path, isolation_level=None, timeout=1.0)
    try:
        raw.execute("PRAGMA locking_mode = EXCLUSIVE")
        raw.execute("PRAGMA secure_delete = ON")
        try:
            raw.execute("PRAGMA journal_mode = DELETE").fetchall()
            raw.execute("BEGIN EXCLUSIVE")
            raw.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise Unavailable(
                f"{path} is open elsewhere ({error}): close every memory on it and call again"
            ) from error
        yield raw
        raw.execute("PRAGMA locking_mode = NORMAL")
        raw.execute("PRAGMA journal_mode = WAL").fetchall()
    finally:
        raw.close()


def read_packed_originals(path: Path) -> list[bytes]:
    """The compressed originals of records; none for a file that is no database of ours."""
    address = path.absolute().as_uri() + "?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as raw:
        try:
            rows = raw.execute("SELECT original FROM records WHERE original IS NOT NULL").fetchall()
        except sqlite3.DatabaseError:
            return []
    return [row[0] for row in rows]
