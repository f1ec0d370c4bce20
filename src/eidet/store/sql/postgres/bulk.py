"""Many records at once in PostgreSQL: new ones go by COPY, old ones are removed by sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ....core.event import Event
from ....core.record import Record
from ..rows import COLUMNS, row_of
from ..schema import events as event_table
from ..schema import records as record_table
from ..statements import KINDS
from ..transaction import SqlTransaction, event_row
from .array_reads import PostgresReader
from .text import stored

if TYPE_CHECKING:
    from .write import PostgresCursor

FEW: Final = 3  # records that are written one by one
AT_ONCE: Final = 1000
_TYPES: Final = {"BIGINT": "int8", "INTEGER": "int4", "FLOAT": "float8", "TEXT": "text", "BLOB": "bytea"}
TYPES: Final = tuple(_TYPES[str(column.type).split(" ", 1)[0]] for column in record_table.columns)
_EVENT_TYPES: Final = [_TYPES[str(column.type).split(" ", 1)[0]] for column in event_table.columns]

_COPY: Final = f"COPY records ({', '.join(COLUMNS)}) FROM STDIN (FORMAT BINARY)"
_REMOVE: Final = "DELETE FROM records WHERE seq = ANY(%s)"
_CENSOR: Final = (
    "UPDATE events SET earlier = NULL FROM unnest(%s::text[], %s::text[]) AS g (scope, id) "
    "WHERE events.scope = g.scope AND events.id = g.id AND events.earlier IS NOT NULL"
)
_LOG: Final = (
    f"INSERT INTO events ({', '.join(column.name for column in event_table.columns)}) "
    f"SELECT * FROM unnest({', '.join(f'%s::{type}[]' for type in _EVENT_TYPES)})"
)


class PostgresTransaction(PostgresReader, SqlTransaction):
    """The same in fewer round trips."""

    _cursor: PostgresCursor

    def insert(self, records: Sequence[Record]) -> list[Record]:
        if len(records) < FEW:
            return super().insert(records)
        first = self._take_seqs(len(records))
        for start in range(0, len(records), AT_ONCE):
            self._copy(records[start : start + AT_ONCE], first + start)
        return [record.but(seq=seq) for seq, record in enumerate(records, first)]

    def _copy(self, records: Sequence[Record], first: int) -> None:
        with self._cursor.copy(_COPY) as copy:
            copy.set_types(TYPES)
            for seq, record in enumerate(records, first):
                copy.write_row(stored(row_of(record, seq)))

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        for start in range(0, len(records), AT_ONCE):
            self._remove_some(records[start : start + AT_ONCE], events[start : start + AT_ONCE])

    def _remove_some(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        self._cursor.execute(_REMOVE, [[record.seq for record in records]])
        rows = []
        for seq, (record, event) in enumerate(
            zip(records, events, strict=True), self._take_seqs(len(records))
        ):
            rows.append(event_row(seq, record, event))
        self._cursor.execute(_LOG, [list(column) for column in zip(*rows, strict=True)])

    def _censor(self, keys: Sequence[tuple[str, str]]) -> int:
        censored = 0
        for start in range(0, len(keys), AT_ONCE):
            some = keys[start : start + AT_ONCE]
            self._cursor.execute(_CENSOR, [[scope for scope, _ in some], [id for _, id in some]])
            censored += self._cursor.rowcount
        return censored


def insert_if_free() -> str:
    """One statement that gives a new record its seq, unless anything has to be looked at first.

    It needs the write lock. Parameters: the row without its seq, the epoch or None, the scopes and the marks
    that must not be tombstones, whether there must not be any at all, whether contents are unique, scope and
    digest of it, and now.
    """
    values = ", ".join(f"%s::{type}" for type in TYPES[1:])
    return (
        f"INSERT INTO records ({', '.join(COLUMNS)}) SELECT 1 + greatest("
        "coalesce((SELECT max(seq) FROM records), 0), coalesce((SELECT max(seq) FROM events), 0), "
        "coalesce((SELECT value::bigint FROM settings WHERE name = 'leapt'), 0)), "
        f"{values} WHERE (SELECT value FROM settings WHERE name = 'epoch') = "
        "coalesce(%s::text, (SELECT value FROM settings WHERE name = 'epoch')) "
        "AND NOT EXISTS (SELECT 1 FROM tombstones WHERE scope = ANY(%s::text[]) AND mark = ANY(%s::bytea[])) "
        "AND NOT (%s AND EXISTS (SELECT 1 FROM tombstones)) "
        f"AND NOT (%s AND EXISTS (SELECT 1 FROM records r WHERE r.scope = %s AND r.digest = %s "
        f"AND r.kind IN ({KINDS}) AND (r.expires IS NULL OR r.expires > %s))) "
        "ON CONFLICT (scope, id) DO NOTHING RETURNING seq"
    )
