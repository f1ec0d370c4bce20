"""The SQLite file of a store without the store: for proving that nothing is left."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def read_packed_originals(path: Path) -> list[bytes]:
    """The compressed originals of records; none for a file that is no database of ours."""
    address = path.absolute().as_uri() + "?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as raw:
        try:
            rows = raw.execute("SELECT original FROM records WHERE original IS NOT NULL").fetchall()
        except sqlite3.DatabaseError:
            return []
    return [row[0] for row in rows]
