"""The first tables, which are in the file of the same name beside this one."""

import sqlalchemy as sa
from alembic import op

from eidet.store.sql.migrate import first_settings, list_first_tables

revision = "0001"
down_revision = None


def upgrade() -> None:
    for statement in list_first_tables(op.get_bind().dialect.name):
        op.execute(statement)
    settings = sa.table("settings", sa.column("name"), sa.column("value"))
    op.bulk_insert(settings, [{"name": name, "value": value} for name, value in first_settings().items()])
