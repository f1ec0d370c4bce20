"""A new file has the tables of the schema, and a migration keeps what a file holds or changes nothing."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import create_engine
from sqlalchemy.pool import StaticPool

from eidet import Memory, Where
from eidet.core.record import Record
from eidet.store.sql import migrate as migrations
from eidet.store.sql.migrate import SCRIPTS, migrate, revision_of
from eidet.store.sql.rows import NULLABLE, TABLES
from eidet.store.sql.sqlite import APPLICATION_ID, SqliteStore

SCRIPT_NAMES = sorted(file.name.partition("_")[0] for file in (SCRIPTS / "versions").glob("*.py"))
MORE = '''
"""Only for a test."""
import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "{below}"


def upgrade() -> None:
    op.add_column("records", sa.Column("mood", sa.Text))
    op.execute("UPDATE records SET mood = 'fine'")
    op.create_index("records_by_mood", "records", ["scope", "mood"])
    {end}
'''


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with something in it."""
    path = tmp_path / "memory.db"
    with Memory(path, embedder="hashing:16", clock=lambda: 5.0) as memory:
        memory.remember(["one", "two"])
    return path


@pytest.fixture
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def records(path: Path) -> list[Record]:
    store = SqliteStore(path)
    try:
        return store.find(Where())
    finally:
        store.close()


def shape(connection: sqlite3.Connection) -> dict[str, Any]:
    """Tables with their columns (name, type, NOT NULL, key) and indexes with their definitions."""
    made = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return {
        name: " ".join(sql.split())
        if kind == "index"
        else [row[1:4] + row[5:] for row in connection.execute(f"PRAGMA table_info({name})")]
        for kind, name, sql in made
        if name != "alembic_version"
    }


def test_the_code_asks_for_the_newest_migration() -> None:
    assert SCRIPT_NAMES[-1] == migrations.REVISION
    assert len(set(SCRIPT_NAMES)) == len(SCRIPT_NAMES)


def test_a_new_file_has_the_tables_that_the_migrations_make(raw: sqlite3.Connection, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "by alembic.db", isolation_level=None)) as migrated:
        engine = create_engine("sqlite://", creator=lambda: migrated, poolclass=StaticPool)
        with engine.begin() as wrapped:
            migrations.upgrade(wrapped, None, "by alembic.db")
        assert shape(migrated) == shape(raw)
        assert revision_of(migrated) == revision_of(raw)
        kept = "SELECT name, length(value) FROM settings WHERE name IN ('identity', 'epoch') ORDER BY name"
        assert migrated.execute(kept).fetchall() == raw.execute(kept).fetchall()


def test_a_new_file_whose_tables_cannot_be_made_stays_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.sql"
    broken.write_text("CREATE TABLE settings (name TEXT);\nCREATE TABLE records (;\n")
    monkeypatch.setattr(migrations, "TABLES", broken)
    with closing(sqlite3.connect(tmp_path / "new.db", isolation_level=None)) as connection:
        with pytest.raises(sqlite3.OperationalError, match="incomplete input"):
            migrate(connection, tmp_path / "new.db")
        assert not connection.in_transaction
        assert shape(connection) == {}


def test_the_columns_are_those_of_a_new_file(raw: sqlite3.Connection) -> None:
    for table, types in TABLES.items():
        found = raw.execute(f"PRAGMA table_info({table})").fetchall()
        assert [name for _, name, *_ in found] == list(types)
    assert {row[1] for row in raw.execute("PRAGMA table_info(records)") if not row[3]} == NULLABLE


def test_the_types_of_columns_are_those_of_a_new_database(postgres_url: str) -> None:
    with Memory(postgres_url, embedder="hashing:16"), psycopg.connect(postgres_url) as connection:
        asked = "SELECT table_name, column_name, udt_name FROM information_schema.columns"
        found: dict[str, dict[str, str]] = {}
        for table, name, type_name in connection.execute(asked):
            found.setdefault(table, {})[name] = type_name
    assert {table: found[table] for table in TABLES} == TABLES


def scripts_with(tmp_path: Path, end: str = "") -> Path:
    """The migrations of this version and one more, which ends with the line given."""
    scripts = tmp_path / "scripts 100%"
    shutil.copytree(SCRIPTS, scripts)
    more = MORE.format(below=migrations.REVISION, end=end)
    (scripts / "versions" / "9999_more.py").write_text(more)
    return scripts


def test_a_migration_copies_the_file_first_and_keeps_the_data(
    path: Path, raw: sqlite3.Connection, tmp_path: Path
) -> None:
    before = records(path)
    migrate(raw, path, scripts=scripts_with(tmp_path), target="9999")
    assert revision_of(raw) == "9999"
    assert raw.execute("SELECT text, mood FROM records").fetchall() == [("one", "fine"), ("two", "fine")]
    assert not raw.in_transaction
    copy = Path(f"{path}.schema-{migrations.REVISION}")
    assert records(copy) == before


def test_a_migration_that_fails_changes_nothing(path: Path, raw: sqlite3.Connection, tmp_path: Path) -> None:
    before, tables = records(path), shape(raw)
    scripts = scripts_with(tmp_path, "raise RuntimeError('half way')")
    with pytest.raises(RuntimeError, match="half way"):
        migrate(raw, path, scripts=scripts, target="9999")
    assert not raw.in_transaction
    assert (revision_of(raw), shape(raw)) == (migrations.REVISION, tables)
    assert records(path) == before


def test_a_new_file_is_not_copied(path: Path) -> None:
    assert list(path.parent.glob("*.schema-*")) == []


def test_a_file_is_marked_as_ours(raw: sqlite3.Connection) -> None:
    assert raw.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)
