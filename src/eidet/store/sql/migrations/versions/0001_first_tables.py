"""The first tables: records and their history, settings, tallies, tombstones, vectors of a new embedder."""

import sqlalchemy as sa
from alembic import op

from eidet.store.sql.migrate import first_settings

revision = "0001"
down_revision = None

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "records",
        sa.Column(
            "seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=False
        ),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("scope", PLAIN, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("tier", sa.Text, nullable=False),
        sa.Column("data", sa.Text),
        sa.Column("who", sa.Text),
        sa.Column("agent", sa.Text),
        sa.Column("session", sa.Text),
        sa.Column("step", sa.BigInteger),
        sa.Column("importance", sa.Float, nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("occurred", sa.Float, nullable=False),
        sa.Column("uses", sa.Integer, nullable=False),
        sa.Column("last_used", sa.Float),
        sa.Column("expires", sa.Float),
        sa.Column("source", sa.Text),
        sa.Column("meta", sa.Text),
        sa.Column("state", sa.Text),
        sa.Column("vector", sa.LargeBinary),
        sa.Column("terms", sa.LargeBinary, nullable=False),
        sa.Column("level", sa.Integer, nullable=False),
        sa.Column("original", sa.LargeBinary),
        sa.Column("derived_from", sa.Text),
        sa.Column("trust", sa.Text, nullable=False, server_default="user"),
        sa.Column("sealed", sa.LargeBinary),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("x", sa.Float),
        sa.Column("y", sa.Float),
        sa.Column("z", sa.Float),
        sa.Column("exact_key", sa.LargeBinary, nullable=False),
    )
    op.create_index("records_by_id", "records", ["scope", "id"], unique=True)
    op.create_index("records_by_seq", "records", ["scope", "seq"])
    unique_kinds = sa.text("kind IN ('fact', 'document', 'procedure')")
    op.create_index(
        "records_by_key",
        "records",
        ["exact_key"],
        sqlite_where=unique_kinds,
        postgresql_where=unique_kinds,
    )
    made_of_others = sa.text("derived_from IS NOT NULL")
    op.create_index(
        "records_by_derivation",
        "records",
        ["scope"],
        sqlite_where=made_of_others,
        postgresql_where=made_of_others,
    )
    op.create_table(
        "events",
        sa.Column(
            "seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=False
        ),
        sa.Column("scope", PLAIN, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("what", sa.Text, nullable=False),
        sa.Column("moment", sa.Float, nullable=False),
        sa.Column("actor", sa.Text),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("gone", sa.BigInteger),
        sa.Column("born", sa.Float, nullable=False),
        sa.Column("author", sa.Text),
        sa.Column("earlier", sa.Text),
    )
    op.create_index("events_by_id", "events", ["scope", "id", "seq"])
    op.create_index("events_by_seq", "events", ["scope", "seq"])
    settings = op.create_table(
        "settings",
        sa.Column("name", PLAIN, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.bulk_insert(settings, [{"name": name, "value": value} for name, value in first_settings().items()])
    op.create_table(
        "vectors_next",
        sa.Column(
            "seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=False
        ),
        sa.Column("vector", sa.LargeBinary),
    )
    op.create_table(
        "tallies",
        sa.Column("scope", PLAIN, primary_key=True),
        sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("what", PLAIN, primary_key=True),
        sa.Column("counts", sa.Text, nullable=False),
    )
    op.create_table(
        "tombstones",
        sa.Column("scope", PLAIN, primary_key=True),
        sa.Column("mark", sa.LargeBinary, primary_key=True),
        sa.Column("moment", sa.Float, nullable=False),
    )
