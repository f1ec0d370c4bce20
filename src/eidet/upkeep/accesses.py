"""What became of memories, for fitting the forgetting curve: from an access log, or from their counts."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..core.errors import BadInput
from ..core.record import Record
from .fit import Access

MOST = 1_000  # uses of one line of a log


def read_log(path: Path) -> dict[tuple[str, str], list[float]]:
    """The times of uses by (scope, id), from lines such as `{"scope": …, "id": …, "at": 1700000000.0}`."""
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the access log {path} cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            scope, id, at, count = _use(line, f"{path}, line {number}")
            times[scope, id] += [at] * min(count, MOST)
    return dict(times)


def _use(line: str, where: str) -> tuple[str, str, float, int]:
    try:
        fields = json.loads(line)
        return (
            str(fields.get("scope", "default")),
            str(fields["id"]),
            float(fields["at"]),
            int(fields.get("count", 1)),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{where} records no use: it needs an id and a time, as `at` ({error!r})") from None


def accesses(
    records: Iterable[Record], log: Mapping[tuple[str, str], list[float]] | None, now: float
) -> list[Access]:
    """One access per record. Without a log, uses are taken as evenly spread, as `strength` takes them."""
    result = []
    for record in records:
        result.append(
            Access(
                created=record.created,
                uses=tuple(_spread(record) if log is None else log.get((record.scope, record.id), ())),
                until=now,
                importance=record.importance,
            )
        )
    return result


def _spread(record: Record) -> Iterable[float]:
    if not record.uses or record.last_used is None:
        return ()
    uses = min(record.uses, MOST)
    step = (record.last_used - record.created) / uses
    return (record.created + step * n for n in range(1, uses + 1))
