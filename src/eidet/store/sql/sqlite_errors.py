"""Translates SQLite's errors for callers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ...core.errors import Corrupt, EidetError, Misconfigured, Refused, Unavailable

BUSY_SECONDS: Final = 60.0  # that a writer waits for another one


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise meaning(error, path) from error


def meaning(error: sqlite3.Error, path: Path) -> EidetError:
    """Translates a SQLite error for the caller and says what to do about it."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR:
        return Unavailable(
            f"{path} could not be written ({error}): is the disk full? Nothing of this call was stored; "
            "free some space and call again"
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Unavailable(
            f"{path} was locked by another writer for {BUSY_SECONDS:.0f} s; call again", retry_after=1.0
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "decode to UTF-8" in str(error):
        return Corrupt(f"{path} is damaged ({error}); restore a copy or an export, `eidet doctor` shows more")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return Refused(f"{path} is write-protected ({error})")
    if code == sqlite3.SQLITE_CANTOPEN:
        return Misconfigured(f"{path} cannot be opened ({error}); check the folder and its permissions")
    return Unavailable(f"{path}: {error}")
