"""Programs that forget and die on the way; see `test_erasure.py`."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any, NoReturn

from tests.faults.children import opened, tell

from eidet import Where
from eidet.store.sql.ports import Cursor
from eidet.store.sql.sqlite import SqliteDriver

SESSIONS = 4


def die(*_: object, **__: object) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


def forget_and_die(path: str, where: str) -> None:
    """Dies inside of the write, right after it, or while the file is written anew."""
    if where == "write":
        SqliteDriver.write = _dying_write  # type: ignore[method-assign, assignment]
    elif where == "scrub":
        SqliteDriver.scrub = die  # type: ignore[method-assign]
    else:
        SqliteDriver._empty_log = die  # type: ignore[method-assign]
    memory = opened(path)
    tell("begun")
    memory.forget(where=Where(session="s1"))


_write = SqliteDriver.write


def _dying_write(driver: SqliteDriver, job: Callable[[Cursor], Any]) -> Any:
    """Dies when all of a forgetting is done but for its commit."""

    def dying(cursor: Cursor) -> Any:
        answer = job(cursor)
        if cursor.execute("SELECT count(*) FROM tombstones").fetchone()[0]:
            die()
        return answer

    return _write(driver, dying)


def forget_all(path: str) -> None:
    memory = opened(path)
    tell("ready")
    for session in range(SESSIONS):
        tell(["begin", session])
        memory.forget(where=Where(session=f"s{session}"))
        tell(["done", session])
    tell(["end"])
