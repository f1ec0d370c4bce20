"""Answers as of an earlier time, from records up to then and later ones that tell of it.

A record that states no facts counts from when it happened. One that does counts while any of its facts held:
"we lived in Rome in 2020", told years later, is true as of 2020.

A recall as known at an earlier time searches a store and an index of its own: it must rank as it did then,
and later records must not change how rare a word is. Records forgotten or expired since are missing from
every view of the past.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

from ..core.hit import Hits
from ..core.record import Event, Record
from ..core.record_table import decode_values
from ..core.scope import Scope
from ..core.validate import FILTER_VALUES
from ..core.where import Where
from ..graph import Graphs
from ..graph.scope_graph import ScopeGraph, View
from ..parts import Parts
from ..store import Head, Store
from . import Query, Recall
from .path import Page, Source

if TYPE_CHECKING:
    from ..write.ingest import Ingest


PAGE: Final = 200  # records read at once while looking for those that held


@dataclass(frozen=True, slots=True)
class PastSource(Source):
    """Answers with what was true `as_of` a time, from a view of the present or of what was known then."""

    as_of: float | None = None

    @property
    def is_present(self) -> bool:
        return False

    @property
    def asked(self) -> float:
        return self.now if self.as_of is None else self.as_of

    def narrow(self, where: Where) -> Where:
        if self.as_of is None:
            return where
        until, graphs = Where(until=self.as_of), self.recall.graphs
        if graphs is None:
            return where & until
        late = graphs.gather(self.scope, lambda graph: self._list_told_later(graphs, graph))
        return where & (until | Where(ids=late[:FILTER_VALUES]) if late else until)

    def _list_told_later(self, graphs: Graphs, graph: ScopeGraph) -> Iterable[str]:
        """Lists the ids of records written after the time that state what held then."""
        late = [seq for seq, source in graph.index.sources.items() if source.occurred > self.asked]
        return graphs.name_sources(graph, self._find_held(late, graph)).values()

    def _find_held(self, seqs: Iterable[int], graph: ScopeGraph) -> list[int]:
        """Returns the seqs of records whose facts held then, and of those that state none."""
        stated = ((seq, graph.find_intervals(seq, View(now=self.now))) for seq in seqs)
        return [
            seq
            for seq, intervals in stated
            if not intervals or any(interval.holds_at(self.asked) for interval in intervals)
        ]

    def answer(self, asked: Query) -> Hits:
        """Returns the hits whose facts held then. Counts no record as used."""
        if self.as_of is None:
            return self.recall.answer(asked)
        hits = self.recall.answer(replace(asked, limit=2 * asked.limit))
        records = [hit.record for hit in hits]
        kept = {record.seq for record in self._keep(records)}
        return Hits([hit for hit in hits if hit.record.seq in kept][: asked.limit], hits.trace, hits.scope)

    def list_page(self, where: Where, page: Page) -> list[Record]:
        """Reads on until the page is full of records that held then."""
        if self.as_of is None:
            return Source.list_page(self, where, page)
        chosen = self.narrow(where)
        held: list[Record] = []
        at, wanted = 0, page.offset + page.limit
        while len(held) < wanted:
            part = Page(page.order, max(PAGE, page.limit), at)
            records = Source.list_page(self, chosen, part)
            held += self._keep(records)
            at += len(records)
            if len(records) < part.limit:
                break
        return held[page.offset : wanted]

    def _keep(self, records: Sequence[Record]) -> list[Record]:
        """Keeps the records whose facts held then, and those that state none."""
        graphs, kept = self.recall.graphs, set[tuple[str, int]]()
        if graphs is None:
            return list(records)
        for path in {record.scope for record in records}:
            seqs = [record.seq for record in records if record.scope == path]
            kept.update((path, seq) for seq in graphs.ask(path, partial(self._find_held, seqs)))
        return [record for record in records if (record.scope, record.seq) in kept]


# --- views of what was known

VIEWS: Final = 3  # views of the past that a memory keeps
WRITTEN: Final = 1_000  # records embedded and written at once


class PastViews:
    """Makes views of the past and caches the latest. Thread-safe."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._view_at = lru_cache(maxsize=VIEWS)(self._make)

    def view(self, scope: Scope, known_at: float) -> Recall:
        """Returns a read path over what the memory knew at that time, in one scope or below it."""
        return self._view_at(scope, known_at, self._parts.store.head())

    def _make(self, scope: Scope, known_at: float, _head: Head) -> Recall:
        from ..store.ram import RamStore
        from ..write.ingest import Ingest

        parts, store = self._parts, RamStore()
        ingest = Ingest.of(parts)
        after = 0
        while page := self._read_page(scope, known_at, after):
            after = page[-1].seq
            then = [_take_back(record, self._history(record, known_at), known_at) for record in page]
            _write_as_they_are(store, _derive_changed(ingest, page, then))
        return self._open_view(store)

    def _open_view(self, store: Store) -> Recall:
        from ..index.embedded import EmbeddedIndex
        from ..index.embedded.lexicon import make_lexicon

        parts = self._parts
        lexicon = make_lexicon(parts.embedder, parts.analyzer)
        index = EmbeddedIndex(store, parts.embedder.width, lexicon=lexicon, analyzer=parts.analyzer)
        graphs = Graphs(store) if parts.settings.facts else None
        return Recall(store, index, parts.embedder, parts.analyzer, graphs, ranking=parts.settings.ranking)

    def _read_page(self, scope: Scope, known_at: float, after: int) -> list[Record]:
        living = Where(scope=scope, created_until=known_at, alive_at=self._parts.clock())
        return self._parts.store.find(living, order="seq", limit=WRITTEN, after=after)

    def _history(self, record: Record, known_at: float) -> Sequence[Event]:
        """Lists the events of a record since a time; a record with one version needs none."""
        if record.version == 1:
            return ()
        events = self._parts.store.history(record.scope, record.id)
        return [event for event in events if event.at > known_at]


def _take_back(record: Record, since: Sequence[Event], known_at: float) -> Record:
    """Undoes the events since a time, each of which holds the values it replaced."""
    then = record.whole.but(level=0, original=None)
    for event in reversed(since):
        if event.what == "revised":
            then = then.but(**decode_values(event.before or {}), version=event.version - 1)
    if then.last_used is not None and then.last_used > known_at:
        then = then.but(uses=0, last_used=None)  # the number of uses until then is unknown
    return then


def _derive_changed(ingest: Ingest, now: Sequence[Record], then: Sequence[Record]) -> list[Record]:
    """Recomputes vectors and terms of records whose text differed, or whose tier had lowered them."""
    changed = [
        old
        for new, old in zip(now, then, strict=True)
        if new.level or (new.text, new.who, new.occurred) != (old.text, old.who, old.occurred)
    ]
    made = {record.seq: record for record in ingest.derive(changed)}
    return [made.get(record.seq, record) for record in then]


def _write_as_they_are(store: Store, records: Sequence[Record]) -> None:
    """Writes records with the versions and times that they have."""
    store.write(lambda transaction: transaction.insert(records))
