"""What facts tell of hits: which of them states something that a later record surely replaced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from ..core.hit import Hit
from ..core.record import Record
from ..graph import Graphs
from ..graph.scope_graph import ScopeGraph, View
from ..graph.validity import Interval
from ..store import Head
from ..text.analysis import has_statements

ReadSeqs = Callable[[str, list[int]], list[Record | None]]


class Moment(NamedTuple):
    """What is asked about, and from when it is seen."""

    at: float
    now: float


def find_replaced(
    graphs: Graphs, head: Head, hits: Sequence[Hit], moment: Moment, read: ReadSeqs
) -> dict[int, Record]:
    """By the seq of a hit, the record that replaced the last of its facts; none where a fact still holds.

    `read` gives None for a record that the caller may not see: it replaces nothing.
    """
    found: dict[int, Record] = {}
    for path in dict.fromkeys(hit.record.scope for hit in hits):
        seqs = [
            hit.record.seq for hit in hits if hit.record.scope == path and has_statements(hit.record.terms)
        ]
        if not seqs:
            continue
        newer = graphs.ask(path, partial(_list_newer, seqs=seqs, moment=moment), head)
        records = read(path, list(newer.values())) if newer else ()
        for seq, record in zip(newer, records, strict=True):
            if record is not None and record.seq != seq:
                found[seq] = record
    return found


def _list_newer(graph: ScopeGraph, seqs: Sequence[int], moment: Moment) -> dict[int, int]:
    newer: dict[int, int] = {}
    for seq in seqs:
        ended = _find_ended(graph, seq, moment)
        if ended is not None:
            newer[seq] = _newer_seq(ended)
    return newer


def _find_ended(graph: ScopeGraph, seq: int, moment: Moment) -> Interval | None:
    """The fact of a record that was replaced last; None if any of its facts still holds."""
    ended: Interval | None = None
    for interval in graph.find_intervals(seq, View(now=moment.now)):
        if interval.end is None or interval.end > moment.at:
            return None
        if interval.closer is not None and (ended is None or interval.end >= (ended.end or 0.0)):
            ended = interval
    return ended


def _newer_seq(interval: Interval) -> int:
    """The seq of what replaced a fact: its successor, or what says that it ended."""
    if interval.successor is not None:
        return interval.successor.first.source.seq
    assert interval.closer is not None
    return interval.closer.source.seq
