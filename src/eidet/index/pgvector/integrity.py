"""What is wrong with a copy: it is of an earlier state, or somebody took part of it away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from ..change_pages import Stale

if TYPE_CHECKING:
    from psycopg import Connection

    from .tables import Build

_UNREADABLE: Final = (
    "42P01",  # no such table
    "42703",  # no such column
    "42704",  # no such type: the extension is gone
    "42883",  # no such operator: the same
    "42804",  # a column of another type
    "XX001",  # damaged pages
    "XX002",  # a damaged index
)
_HELD: Final = "SELECT EXISTS (SELECT 1 FROM {units}), EXISTS (SELECT 1 FROM {words})"


class Damaged(Stale):
    """What was copied cannot be read, or is not all there."""


@contextmanager
def readable() -> Iterator[None]:
    """`Damaged` where the server cannot read the index's own tables, or what was in them is no such thing."""
    from psycopg import Error

    try:
        yield
    except Error as error:
        if error.sqlstate in _UNREADABLE:
            raise Damaged(str(error).splitlines()[0]) from error
        raise


def check_held(connection: Connection[Any], build: Build) -> None:
    """`Damaged` if a table that must hold something is empty."""
    with readable():
        row = connection.execute(_HELD.format(units=build.units, words=build.words)).fetchone()
    units, words = row or (False, False)
    if (build.live > 0 and not units) or (build.total > 0 and not words):
        raise Damaged(f"{build.units} or {build.words} was emptied")
