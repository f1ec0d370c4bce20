"""Who stands beside a record in its session, asked of the server."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from ...core.scope import Scope
from ...core.where import Where
from .. import Neighbours

if TYPE_CHECKING:
    from ...store.sql.postgres import PostgresStore

_SQL = """SELECT session, seq, ({test}) FROM records WHERE scope = %s AND session IN (
    SELECT session FROM records WHERE scope = %s AND seq = ANY(%s::bigint[]) AND session IS NOT NULL)
ORDER BY session, occurred, seq"""


class _Turn(NamedTuple):
    seq: int
    passes: bool


def around(
    store: PostgresStore, scope: str, seqs: Sequence[int], reach: int, where: Where | None, now: float
) -> dict[int, Neighbours]:
    """As `Index.around`: each session that is asked about is read as a whole, but only its seqs."""
    living = Where(scope=Scope(scope), alive_at=now, every=() if where is None else (where,))
    condition = store.condition(living)
    values = [*condition.values, scope, scope, list(seqs)]
    rows = store.look(lambda c: c.execute(_SQL.format(test=condition.sql), values).fetchall())
    if not condition.exact:
        passing = {r.seq for r in store.fetch(scope, [seq for _, seq, _ in rows]) if r and living.matches(r)}
        rows = [(session, seq, seq in passing) for session, seq, _ in rows]
    wanted, found = set(seqs), {}
    for _, group in groupby(rows, key=lambda row: row[0]):
        line = [_Turn(seq, passes) for _, seq, passes in group]
        found.update(_in_line(line, wanted, reach))
    return found


def _in_line(line: list[_Turn], wanted: set[int], reach: int) -> dict[int, Neighbours]:
    """Of one session, in its order."""
    found = {}
    for at, turn in enumerate(line):
        if turn.seq in wanted and turn.passes:
            after = [i for i in range(at + 1, len(line)) if line[i].passes][:reach]
            before = [i for i in range(at - 1, -1, -1) if line[i].passes][:reach]
            near = [i for pair in zip_longest(after, before) for i in pair if i is not None]
            found[turn.seq] = Neighbours(at, tuple((line[i].seq, i) for i in near))
    return found
