"""Brings a file's tables up to the schema of this version: forward only, with a copy made first."""

from __future__ import annotations

import secrets
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...core.errors import Misconfigured
from ...core.private_files import create_private

if TYPE_CHECKING:
    from sqlalchemy import Connection

REVISION: Final = "0001"  # the schema of this version
HIDES_KEYS: Final = "exact_secret"  # the setting with the secret that hides exact keys
SCRIPTS = Path(__file__).parent / "migrations"
TABLES = SCRIPTS / "versions" / "0001_first_tables.sql"
_TYPES: Final = {  # of columns, in each dialect
    "sqlite": {"seq": "INTEGER", "name": "TEXT", "bytes": "BLOB"},
    "postgresql": {"seq": "BIGINT", "name": 'TEXT COLLATE "C"', "bytes": "BYTEA"},
}
_VERSION: Final = (  # as Alembic makes it
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)


def revision_of(connection: sqlite3.Connection) -> str | None:
    """Returns the schema of a file; None for a new file."""
    known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
    if known is None:
        return None
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return None if row is None else str(row[0])


def migrate(
    connection: sqlite3.Connection,
    path: Path,
    *,
    writable: bool = True,
    scripts: Path = SCRIPTS,
    target: str = REVISION,
) -> None:
    """Brings a file to the target schema; leaves one that has it alone. Only an old file needs Alembic."""
    current = revision_of(connection)
    if current == target:
        return
    if not writable:
        raise Misconfigured(f"{path} has an older schema and is write-protected; open it writable once")
    if current is None and target == REVISION:
        make_tables(connection)
        if revision_of(connection) == target:
            return
    with _transaction(connection) as wrapped:  # of several processes that open a new file, one migrates
        current = revision_of(connection)
        if current != target:
            _check_known(current, path, scripts)
            if current is not None:
                _copy(path, current)
            _upgrade(wrapped, scripts, target)


def first_settings() -> dict[str, str]:
    """Returns the settings of a new store."""
    return {"identity": uuid.uuid4().hex, "epoch": "0", HIDES_KEYS: secrets.token_hex(32)}


def list_first_tables(dialect: str) -> list[str]:
    """Returns the statements that create the tables of revision 0001."""
    statements = TABLES.read_text(encoding="utf-8").split(";\n")
    return [statement.format(**_TYPES[dialect]) for statement in statements if statement]


def make_tables(connection: sqlite3.Connection) -> None:
    """Creates the tables of a new file as Alembic would, all or none, unless another process was first."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if revision_of(connection) is None:
            for statement in (_VERSION, *list_first_tables("sqlite")):
                connection.execute(statement)
            connection.execute("INSERT INTO alembic_version VALUES (?)", (REVISION,))
            connection.executemany("INSERT INTO settings VALUES (?, ?)", first_settings().items())
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def upgrade(connection: Connection, current: str | None, name: str) -> None:
    """Brings the tables of any database up to date, inside the transaction that the connection is in."""
    if current != REVISION:
        _check_known(current, name, SCRIPTS)
        _upgrade(connection, SCRIPTS, REVISION)


def _check_known(current: str | None, path: Path | str, scripts: Path) -> None:
    known = {file.name.partition("_")[0] for file in (scripts / "versions").glob("*.py")}
    if current is not None and current not in known:
        raise Misconfigured(
            f"{path} has schema {current}, which is newer than this version of Eidet supports: "
            "pip install --upgrade eidet"
        )


def _copy(path: Path, revision: str) -> None:
    """Copies the committed state to a file, through a second connection, before any change."""
    source = sqlite3.connect(path.absolute().as_uri() + "?mode=ro", uri=True)
    create_private(Path(f"{path}.schema-{revision}"))
    target = sqlite3.connect(f"{path}.schema-{revision}")
    try:
        source.backup(target)
    finally:
        target.close()
        source.close()


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[Connection]:
    """Runs an exclusive transaction, begun after SQLAlchemy connects, which would end it."""
    from sqlalchemy import create_engine
    from sqlalchemy.pool import StaticPool

    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    with raise_plain(), engine.begin() as wrapped:
        connection.execute("BEGIN IMMEDIATE")
        yield wrapped


@contextmanager
def raise_plain() -> Iterator[None]:
    """Raises the driver's own error in place of SQLAlchemy's."""
    from sqlalchemy.exc import DBAPIError

    try:
        yield
    except DBAPIError as error:
        raise (error.orig or error) from error


def _upgrade(wrapped: Connection, scripts: Path, target: str) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    config.attributes["connection"] = wrapped
    command.upgrade(config, target)
