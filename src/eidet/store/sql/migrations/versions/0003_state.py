"""What Eidet keeps of a record, in a column of its own: until now it lay in the caller's `meta`."""

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from eidet.core.former_meta import Origin, may_hold_state, split_meta
from eidet.core.state import dump_state
from eidet.core.validate import dump_json
from eidet.store.sql.postgres.text import escape, unescape_row

revision = "0003"
down_revision = "0002"

AT_ONCE = 1000
PAGE = sa.text(
    "SELECT seq, scope, meta, created, source, derived_from FROM records "
    "WHERE meta IS NOT NULL AND seq > :at ORDER BY seq LIMIT :many"
)
CHANGE = sa.text("UPDATE records SET meta = :meta, state = :state WHERE scope = :scope AND seq = :seq")


def upgrade() -> None:
    op.add_column("records", sa.Column("state", sa.Text))
    connection = op.get_bind()
    escaped = connection.dialect.name == "postgresql"
    at = 0
    while rows := connection.execute(PAGE, {"at": at, "many": AT_ONCE}).fetchall():
        at = rows[-1][0]
        if changes := list(_changes(rows, escaped)):
            connection.execute(CHANGE, changes)


def _changes(rows: Any, escaped: bool) -> Iterator[dict[str, Any]]:
    """Seqs and versions stay: no record says anything else than before."""
    for row in rows:
        seq, scope, meta, created, source, derived_from = unescape_row(row) if escaped else row
        if not may_hold_state(meta):
            continue
        origin = Origin(created, source, json.loads(derived_from or "[]"))
        kept, state = split_meta(json.loads(meta), origin)
        if (text := dump_state(state)) is None:
            continue
        values = [scope, dump_json(kept) if kept else None, text]
        scope, left, text = escape(values) if escaped else values
        yield {"seq": seq, "scope": scope, "meta": left, "state": text}
