"""The tables, once, for every relational store. Migrations are the history of this file."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)

# Scopes are found by ranges of their names, so they are ordered by code points in every database.
PLAIN: Final = Text().with_variant(Text(collation="C"), "postgresql")

metadata: MetaData = MetaData()

records: Table = Table(
    "records",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False),
    Column("scope", PLAIN, nullable=False),
    Column("kind", Text, nullable=False),
    Column("tier", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("data", Text),
    Column("who", Text),
    Column("agent", Text),
    Column("session", Text),
    Column("step", BigInteger),
    Column("x", Float),
    Column("y", Float),
    Column("z", Float),
    Column("importance", Float, nullable=False),
    Column("created", Float, nullable=False),
    Column("occurred", Float, nullable=False),
    Column("uses", Integer, nullable=False),
    Column("last_used", Float),
    Column("expires", Float),
    Column("source", Text),
    Column("meta", Text),
    Column("level", Integer, nullable=False),
    Column("derived_from", Text),
    Column("version", Integer, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("terms", LargeBinary, nullable=False),
    Column("vector", LargeBinary),
    Column("original", LargeBinary),
    Column("trust", Text, nullable=False, server_default="user"),
    Column("sealed", LargeBinary),
    Column("state", Text),
    Column("statement", LargeBinary),  # NULL until many records have the same content
    Index("records_by_id", "scope", "id", unique=True),
    Index(
        "records_by_content",
        "scope",
        "digest",
        "statement",
        sqlite_where=text("kind IN ('fact', 'document')"),
        postgresql_where=text("kind IN ('fact', 'document')"),
    ),
    Index(
        "records_by_derivation",
        "scope",
        sqlite_where=text("derived_from IS NOT NULL"),
        postgresql_where=text("derived_from IS NOT NULL"),
    ),
)

# What happened to records. `gone` is the seq a record had until then: an index drops that row.
# Records and events share one rising seq, so that one number says how far a reader has come.
events: Table = Table(
    "events",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("scope", PLAIN, nullable=False),
    Column("id", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("moment", Float, nullable=False),
    Column("actor", Text),
    Column("version", Integer, nullable=False),
    Column("gone", BigInteger),
    Column("born", Float, nullable=False),
    Column("author", Text),
    Column("earlier", Text),
    Index("events_by_id", "scope", "id", "seq"),
    Index("events_by_seq", "scope", "seq"),
)

settings: Table = Table(
    "settings",
    metadata,
    Column("name", PLAIN, primary_key=True),
    Column("value", Text, nullable=False),
)

# What was forgotten and must not come back: a keyed hash of the content, never the content.
tombstones: Table = Table(
    "tombstones",
    metadata,
    Column("scope", PLAIN, primary_key=True),
    Column("mark", LargeBinary, primary_key=True),
    Column("moment", Float, nullable=False),
)

# How recalls went, counted by scope and UTC day; `counts` is a JSON object of whole numbers.
tallies: Table = Table(
    "tallies",
    metadata,
    Column("scope", PLAIN, primary_key=True),
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("what", PLAIN, primary_key=True),
    Column("counts", Text, nullable=False),
)

# Vectors of the next embedder, while they are being made; they replace `records.vector` at once.
vectors_next: Table = Table(
    "vectors_next",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("vector", LargeBinary),
)
