"""What is counted rather than read, as SQL: the survey of the records."""

from __future__ import annotations

from typing import Final

from .statements import KINDS

_IDLE: Final = "created < :stale AND (last_used IS NULL OR last_used < :stale)"


def _how_many(test: str) -> str:
    return f"coalesce(sum(CASE WHEN {test} THEN 1 ELSE 0 END), 0)"


# The numbers of a `Survey`, in its order, up to those of duplicates; a filter follows.
COUNTS: Final = (
    f"SELECT count(*), {_how_many('uses > 0')}, {_how_many('created >= :fresh')}, min(created), "
    f"{_how_many('created < :ripe')}, {_how_many('created < :ripe AND uses = 0')}, {_how_many(_IDLE)} "
    "FROM records"
)
STORED: Final = f"SELECT count(*) FROM records WHERE ({{test}}) AND kind IN ({KINDS})"
# as `visible_details_of` reads them
_SAID: Final = (
    "scope, digest, kind, who, agent, session, step, x, y, z, source, "
    "CASE WHEN occurred = created THEN NULL ELSE occurred END"
)
_DISTINCT: Final = f"SELECT DISTINCT {_SAID} FROM records WHERE ({{test}}) AND kind IN ({KINDS})"
DISTINCT: Final = f"SELECT count(*) FROM ({_DISTINCT}) AS said"
