"""How far a record is trusted, sealed content, and what was forgotten for good."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("records", sa.Column("trust", sa.Text, nullable=False, server_default="user"))
    op.add_column("records", sa.Column("sealed", sa.LargeBinary))
    made_of_others = sa.text("derived_from IS NOT NULL")
    op.create_index(
        "records_by_derivation",
        "records",
        ["scope"],
        sqlite_where=made_of_others,
        postgresql_where=made_of_others,
    )
    op.create_table(
        "tombstones",
        sa.Column("scope", PLAIN, primary_key=True),
        sa.Column("mark", sa.LargeBinary, primary_key=True),
        sa.Column("moment", sa.Float, nullable=False),
    )
