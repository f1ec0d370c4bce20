"""Reads the entries that state or decide something, which are few, without reading all the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from .. import Entry, Head
from .reader import SqlReader
from .statements import ALONG_TABLE

WALKED: Final = 100_000  # seqs that one statement walks along the table, so that no deadline ends it
STATING: Final = (
    b"\x80"  # the second byte of an analysis with statements, at least; see `eidet.text.analysis`
)

Snapshot = Callable[[Callable[[SqlReader], Any]], Any]  # gives a job a reader, as of one moment


def list_telling(snapshot: Snapshot, scope: str, head: Head) -> list[Entry] | None:
    """As `ListsTelling.list_telling`. Each part is read as of a moment of its own.

    What is deleted meanwhile is told by the changes after the head.
    """
    way = snapshot(lambda reader: reader.choose_way(scope, head.seq))
    found: list[Entry] = []
    for since, upto in _cut(head.seq, WALKED if way == ALONG_TABLE else head.seq):
        part = snapshot(partial(_read_part, way, scope, head, since, upto))
        if part is None:
            return None
        found += part
    return found


def _cut(end: int, step: int) -> Iterator[tuple[int, int]]:
    for since in range(0, end, max(1, step)):
        yield since, min(since + step, end)


def _read_part(
    way: str, scope: str, head: Head, since: int, upto: int, reader: SqlReader
) -> list[Entry] | None:
    if reader.head() < head:
        return None
    rows = reader.rows(f"telling_{way}", scope=scope, since=since, upto=upto, stating=STATING)
    return list(map(Entry._make, rows))
