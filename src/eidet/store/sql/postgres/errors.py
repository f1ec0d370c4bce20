"""Translates PostgreSQL's errors for callers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from ....core.errors import Corrupt, EidetError, Misconfigured, Unavailable
from ....net.retry import Full

_CROWDED: Final = (
    "too many clients",
    "remaining connection",
    "too many connections",
    "no more connections allowed",
)
_REFUSED: Final = (
    "authentication failed",
    "no password supplied",
    "does not exist",
    "pg_hba.conf",
    "no such database",  # these are PgBouncer's words
    "no such user",
    "unsupported startup parameter",
)


@contextmanager
def translate_errors(name: str) -> Iterator[None]:
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        raise _meaning(error, name) from error


def _meaning(error: Any, name: str) -> EidetError:
    """Translates a server's error and says what to do about it."""
    from psycopg import DataError, errors

    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    state = error.sqlstate or ""
    if isinstance(error, errors.DiskFull | errors.OutOfMemory):
        return Full(f"{name} is full ({text}): nothing of this call was stored; free some space")
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return Unavailable(f"{name} accepts no writes now ({text})")
    if any(words in text for words in _CROWDED):
        return Unavailable(
            f"{name} has no connection left ({text}): raise its max_connections, or lower eidet_connections"
        )
    if _is_refused(error, state, text):
        return Misconfigured(f"{name}: {text}; check the user, the password, the database and its rights")
    if isinstance(error, errors.SerializationFailure | errors.DeadlockDetected):
        return Unavailable(f"{name}: {text}", retry_after=0.05)
    if isinstance(error, DataError):
        return Corrupt(f"{name} can neither hold nor read a value: {text}")
    if state and not state.startswith(("08", "53", "57")):
        return Misconfigured(f"{name}: {text}")
    return Unavailable(f"{name}: {text}")


def _is_refused(error: Any, state: str, text: str) -> bool:
    """Returns whether access was refused; while connecting, libpq passes on words but no code."""
    from psycopg import errors

    if state:
        return state.startswith(("28", "3D")) or isinstance(error, errors.InsufficientPrivilege)
    return "FATAL" in text and any(words in text for words in _REFUSED)
