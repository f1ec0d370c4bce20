"""Makes our tables in a PostgreSQL database, or brings them up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ....core.errors import Misconfigured
from ..migrate import REVISION, upgrade
from .address import PostgresAddress, connect_options
from .errors import translate_errors
from .text import read_one
from .write import LOCK

if TYPE_CHECKING:
    from psycopg import Connection

CONNECT_SECONDS: Final = 10.0


def prepare_tables(connection: Connection[Any], address: PostgresAddress, name: str) -> None:
    """Of several processes that want to make the tables, one does."""
    current = _revision(connection)
    if current is None:
        _check_encoding(connection, name)
    if current != REVISION:
        with translate_errors(name), _engine(address).begin() as wrapped:
            wrapped.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")
            raw = wrapped.connection.driver_connection
            upgrade(wrapped, _revision(raw), name, partitions=address.partitions)
    if address.partitions:
        _check_partitions(connection, address.partitions, name)


def _check_encoding(connection: Connection[Any], name: str) -> None:
    encoding = read_one(connection, "SHOW server_encoding")
    if encoding != "UTF8":
        raise Misconfigured(
            f"{name} stores texts as {encoding}, which cannot hold all of them: "
            "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
        )


def _check_partitions(connection: Connection[Any], wanted: int, name: str) -> None:
    there = read_one(connection, "SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass('records')")
    if there != wanted:
        has = f"{there} partitions" if there else "no partitions"
        raise Misconfigured(
            f"{name} was created with {has}, and eidet_partitions={wanted} needs a new database: "
            "leave the option out, or export into a new one"
        )


def _revision(connection: Any) -> str | None:
    if read_one(connection, "SELECT to_regclass('alembic_version')") is None:
        return None
    revision = read_one(connection, "SELECT version_num FROM alembic_version")
    return None if revision is None else str(revision)


def _engine(address: PostgresAddress) -> Any:
    """For migrations only: SQLAlchemy around a connection of its own."""
    import psycopg
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    def begin() -> Connection[Any]:
        options = {**connect_options(address.url, CONNECT_SECONDS), "autocommit": False}
        return psycopg.connect(address.url, prepare_threshold=None, **options)

    return create_engine("postgresql+psycopg://", creator=begin, poolclass=NullPool)
