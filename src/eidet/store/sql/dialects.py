"""SQLAlchemy's dialects, imported by the first filter that needs one."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Dialect


@cache
def sqlite_dialect() -> Dialect:
    from sqlalchemy.dialects import sqlite

    return sqlite.dialect(paramstyle="qmark")


@cache
def postgres_dialect() -> Dialect:
    from sqlalchemy.dialects.postgresql import psycopg

    return psycopg.dialect(paramstyle="format")  # type: ignore[no-untyped-call]
