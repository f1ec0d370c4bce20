"""What was true at an earlier time: records of until then, and those that tell of it later.

A record that states no facts counts from when it happened. One that does counts while any of its facts held:
"we lived in Rome in 2020", told years later, is true as of 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple

from ..core.hit import Hits
from ..core.record import Record
from ..core.scope import Scope
from ..core.validate import FILTER_VALUES
from ..core.where import Where
from ..graph import Graphs
from ..graph.scope_graph import ScopeGraph, View
from . import Query, Recall

PAGE: Final = 200  # records looked at in one go, where some of them may not have held


def narrow_to(graphs: Graphs | None, scope: Scope, as_of: float, view: View) -> Where:
    """A filter for what may have been true then; `keep_held` decides."""
    until = Where(until=as_of)
    if graphs is None:
        return until
    late: list[str] = []
    for ids in graphs.ask_each(scope, lambda graph: _list_told_later(graphs, graph, as_of, view)):
        late += ids
    if not late:
        return until
    return until | Where(ids=late[:FILTER_VALUES])


def _list_told_later(graphs: Graphs, graph: ScopeGraph, as_of: float, view: View) -> list[str]:
    """Lists the ids of records written after a time that state what held at that time."""
    seqs: list[int] = []
    for seq, source in graph.index.sources.items():
        if source.occurred > as_of and _holds(graph, seq, as_of, view):
            seqs.append(seq)
    return list(graphs.name_sources(graph, seqs).values())


def _holds(graph: ScopeGraph, seq: int, as_of: float, view: View) -> bool:
    """Tells whether a record states what held at a time; one that states nothing counts, too."""
    intervals = graph.find_intervals(seq, view)
    return not intervals or any(interval.holds_at(as_of) for interval in intervals)


def keep_held(graphs: Graphs | None, records: Sequence[Record], as_of: float, view: View) -> list[Record]:
    """Keeps the records whose facts held at a time, and those that state none."""
    if graphs is None:
        return list(records)
    by_scope: dict[str, list[int]] = {}
    for record in records:
        by_scope.setdefault(record.scope, []).append(record.seq)
    ended: set[tuple[str, int]] = set()
    for path, seqs in by_scope.items():
        for seq in graphs.ask(path, partial(_list_ended, seqs=seqs, as_of=as_of, view=view)):
            ended.add((path, seq))
    return [record for record in records if (record.scope, record.seq) not in ended]


def _list_ended(graph: ScopeGraph, seqs: Sequence[int], as_of: float, view: View) -> list[int]:
    return [seq for seq in seqs if not _holds(graph, seq, as_of, view)]


class Page(NamedTuple):
    """The part of a list that the caller wants."""

    order: str
    limit: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """Answers for a time: what was true `as_of` then, what `recall` knew at `now`, or both."""

    recall: Recall
    scope: Scope
    now: float  # the time from which it is seen
    as_of: float | None = None
    is_known_at: bool = False  # whether `now` is an earlier time

    @property
    def is_present(self) -> bool:
        return self.as_of is None and not self.is_known_at

    @property
    def asked(self) -> float:
        """The present of a question about this time."""
        return self.now if self.as_of is None else self.as_of

    def narrow(self, where: Where) -> Where:
        """The filter, for what may have been true then."""
        if self.as_of is None:
            return where
        return where & narrow_to(self.recall.graphs, self.scope, self.as_of, self._view)

    def answer(self, asked: Query) -> Hits:
        """Returns the hits whose facts held then. Counts nothing as used."""
        if self.as_of is None:
            return self.recall.answer(asked)
        hits = self.recall.answer(replace(asked, limit=2 * asked.limit))
        records = [hit.record for hit in hits]
        kept = {record.seq for record in self._keep(records)}
        return Hits([hit for hit in hits if hit.record.seq in kept][: asked.limit], hits.trace, hits.scope)

    def list_page(self, where: Where, page: Page) -> list[Record]:
        """Returns one page of the records that held then; reads on until the page is full."""
        if self.as_of is None:
            return self._list(where, page)
        chosen = self.narrow(where)
        held: list[Record] = []
        at, wanted = 0, page.offset + page.limit
        while len(held) < wanted:
            part = Page(page.order, max(PAGE, page.limit), at)
            records = self._list(chosen, part)
            held += self._keep(records)
            at += len(records)
            if len(records) < part.limit:
                break
        return held[page.offset : wanted]

    def _list(self, where: Where, page: Page) -> list[Record]:
        return self.recall.list_records(
            where, self.scope, now=self.now, order=page.order, limit=page.limit, offset=page.offset
        )

    def _keep(self, records: Sequence[Record]) -> list[Record]:
        assert self.as_of is not None
        return keep_held(self.recall.graphs, records, self.as_of, self._view)

    @property
    def _view(self) -> View:
        return View(now=self.now)
