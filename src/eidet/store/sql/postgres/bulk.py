"""Many records at once in PostgreSQL: what is new goes by COPY, what is to go goes by sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from ....core.record import Record, record_digest
from ... import Claim
from ...rules import UNIQUE_KINDS, Since, ends_of
from ..relational import Scribe
from ..rows import COLUMNS, row_of
from ..schema import records as table
from .text import Row, stored

if TYPE_CHECKING:
    from .write import PostgresCursor

FEW: Final = 3  # records that are written one by one
AT_ONCE: Final = 1000
_KINDS: Final = ", ".join(f"'{kind}'" for kind in UNIQUE_KINDS)
_TYPES: Final = {"BIGINT": "int8", "INTEGER": "int4", "FLOAT": "float8", "TEXT": "text", "BLOB": "bytea"}
TYPES: Final = tuple(_TYPES[str(column.type).split(" ", 1)[0]] for column in table.columns)

_COPY: Final = f"COPY records ({', '.join(COLUMNS)}) FROM STDIN (FORMAT BINARY)"
_THERE: Final = (
    "SELECT g.n FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS g (scope, id, n) WHERE EXISTS "
    "(SELECT 1 FROM records r WHERE r.scope = g.scope AND r.id = g.id)"
)
_SAID: Final = (
    "SELECT g.n FROM unnest(%s::text[], %s::bytea[]) WITH ORDINALITY AS g (scope, digest, n) WHERE EXISTS "
    f"(SELECT 1 FROM records r WHERE r.scope = g.scope AND r.digest = g.digest AND r.kind IN ({_KINDS}) "
    "AND (r.expires IS NULL OR r.expires > %s))"
)
_GRAVES: Final = (
    "SELECT t.scope, t.mark, t.moment FROM tombstones t "
    "JOIN unnest(%s::text[], %s::bytea[]) AS g (scope, mark) ON t.scope = g.scope AND t.mark = g.mark"
)
_REMOVE: Final = "DELETE FROM records WHERE seq = ANY(%s)"
_CENSOR: Final = (
    "UPDATE events SET earlier = NULL FROM unnest(%s::text[], %s::text[]) AS g (scope, id) "
    "WHERE events.scope = g.scope AND events.id = g.id AND events.earlier IS NOT NULL"
)
_FORGOTTEN: Final = (
    "INSERT INTO events (seq, scope, id, what, moment, actor, version, gone, born, author) "
    "SELECT %s + g.n, g.scope, g.id, 'forgotten', %s, %s, g.version, g.gone, g.born, g.author "
    "FROM unnest(%s::int8[], %s::text[], %s::text[], %s::int4[], %s::float8[], %s::text[]) "
    "WITH ORDINALITY AS g (gone, scope, id, version, born, author, n)"
)


class PostgresScribe(Scribe):
    """The same words in fewer round trips."""

    _cursor: PostgresCursor

    def put_all(self, records: Sequence[Record], unique: bool, expect: int | None) -> list[Record]:
        """What is certainly new is copied; the rest is looked at one by one, each in its place."""
        if expect is not None or len(records) < FEW:
            return super().put_all(records, unique, expect)
        known = self._known(records, unique)
        answers: list[Record] = []
        for is_known, places in groupby(range(len(records)), known.__contains__):
            some = [records[at] for at in places]
            answers += super().put_all(some, unique, None) if is_known else self._copied(some)
        return answers

    def _known(self, records: Sequence[Record], unique: bool) -> set[int]:
        """Places of records whose id or content is there, or came before in the same call."""
        said = [(r.scope, record_digest(r)) for r in records]
        uniques = [at for at, r in enumerate(records) if unique and r.kind in UNIQUE_KINDS]
        found = _repeated([(r.scope, r.id) for r in records])
        found |= {uniques[n] for n in _repeated([said[at] for at in uniques])}
        found |= self._places(_THERE, [[r.scope for r in records], [r.id for r in records]])
        asked = [said[at] for at in uniques]
        if asked:
            there = self._places(_SAID, [[s for s, _ in asked], [d for _, d in asked], self._now])
            found |= {uniques[n] for n in there}
        return found

    def _places(self, sql: str, values: Sequence[Any]) -> set[int]:
        self._cursor.execute(sql, values)
        return {row[0] - 1 for row in self._cursor.fetchall()}

    def _copied(self, records: Sequence[Record]) -> list[Record]:
        first = self._seq + 1
        for start in range(0, len(records), AT_ONCE):
            with self._cursor.copy(_COPY) as copy:
                copy.set_types(TYPES)
                for at, record in enumerate(records[start : start + AT_ONCE], first + start):
                    copy.write_row(stored(row_of(record, at)))
        self._seq += len(records)
        return [record.but(seq=at) for at, record in enumerate(records, first)]

    def bury(self, rows: Sequence[Row]) -> int:
        return sum(self._buried(rows[start : start + AT_ONCE]) for start in range(0, len(rows), AT_ONCE))

    def _buried(self, rows: Sequence[Row]) -> int:
        seqs, scopes, ids, versions, created, agents = map(list, zip(*rows, strict=True))
        self._cursor.execute(_REMOVE, [seqs])
        self._cursor.execute(_CENSOR, [scopes, ids])
        censored = self._cursor.rowcount
        told = [seqs, scopes, ids, versions, created, agents]
        self._cursor.execute(_FORGOTTEN, [self._seq, self._now, self._by, *told])
        self._seq += len(rows)
        return censored

    def _graves_of(self, records: Sequence[Record], claims: Sequence[Claim]) -> Since:
        """All that may be asked for, found at once."""
        asked = list(dict.fromkeys(marks_of(records, claims)))
        self._cursor.execute(_GRAVES, [[scope for scope, _ in asked], [mark for _, mark in asked]])
        found = {(scope, mark): moment for scope, mark, moment in self._cursor.fetchall()}
        return lambda scope, mark: found.get((scope, mark))


def marks_of(records: Sequence[Record], claims: Sequence[Claim]) -> Iterator[tuple[str, bytes]]:
    """Every grave that could matter to records."""
    for record, claim in zip(records, claims, strict=True):
        yield from ((record.scope, mark) for mark in claim.says)
        yield from ((record.scope, mark) for _, mark in claim.made_of)
        if claim.id is not None:
            yield record.scope, claim.id
        yield from ends_of(record.scope)


def _repeated(keys: Sequence[object]) -> set[int]:
    """The places of what was there before."""
    seen: set[object] = set()
    return {at for at, key in enumerate(keys) if key in seen or seen.add(key)}  # type: ignore[func-returns-value]


def quick_insert() -> str:
    """One statement that gives a new record its seq, unless anything has to be looked at first.

    It needs the write lock. Parameters: the row without its seq, the epoch or None, the scopes and the marks
    that must not be graves, whether there must not be any at all, whether contents are unique, scope and
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
        f"AND r.kind IN ({_KINDS}) AND (r.expires IS NULL OR r.expires > %s))) "
        "ON CONFLICT (scope, id) DO NOTHING RETURNING seq"
    )
