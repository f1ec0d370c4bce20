"""A key of all that a record says, by which one of many with the same content is found."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """The column stays empty: a write fills it where many records have the same content."""
    op.add_column("records", sa.Column("statement", sa.LargeBinary))
    op.drop_index("records_by_content", "records")
    unique_kinds = sa.text("kind IN ('fact', 'document')")
    op.create_index(
        "records_by_content",
        "records",
        ["scope", "digest", "statement"],
        sqlite_where=unique_kinds,
        postgresql_where=unique_kinds,
    )
