"""Pages of changes on their way into a graph: gathered first, so that each conversation is read once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ..core.errors import Corrupt
from ..core.record import Kind, Record, Trust
from ..store import Changes, Entry
from ..text.analysis import facts_in, has_statements, read_analysis
from ..text.facts.statement import KnownMentions, Statement, read_all_statements
from .assertion import Stated
from .scope_graph import ScopeGraph
from .triple_data import Decision, StoredDecision, read_triple

DECIDING: Final = frozenset((Trust.TRUSTED.value, Trust.USER.value))  # whose decisions count


class GraphUpdate:
    """Takes pages of changes, and puts them into a graph at the end.

    `read` gives the records of a scope by seq, as far as they are there.
    """

    def __init__(self, graph: ScopeGraph, read: Callable[[str, list[int]], list[Record]]) -> None:
        self.graph = graph
        self._read = read
        self._stated: dict[int, Stated] = {}
        self._mentions: KnownMentions = {}

    def take(self, changes: Changes) -> None:
        """The next page. What the graph answers does not change before `finish`."""
        for seq in changes.gone:
            self._stated.pop(seq, None)
            self.graph.remove(seq)
        triples = {entry.seq: entry for entry in changes.entries if entry.kind == Kind.TRIPLE}
        others = [entry for entry in changes.entries if entry.kind != Kind.TRIPLE]
        for stated in _list_stated(others, self._mentions):
            self._stated[stated.entry.seq] = stated
        if triples:
            for record in self._read(self.graph.scope, list(triples)):
                self._take_triple(triples[record.seq], record)
        self.graph.head = changes.head

    def _take_triple(self, entry: Entry, record: Record) -> None:
        """A record of kind `triple` states or decides something; if its data does neither, its text may."""
        triple = read_triple(record)
        self.graph.ids[record.seq] = record.id
        if triple is None:
            self._stated[entry.seq] = Stated(entry, statements_of(entry.terms))
        elif not isinstance(triple, Decision):
            self._stated[entry.seq] = Stated(entry, (triple,), is_told=True)
        elif entry.trust in DECIDING:
            self.graph.decide(StoredDecision(triple, entry.seq, entry.created, entry.expires))

    def finish(self) -> None:
        """Puts what was gathered into the graph."""
        if self._stated:
            self.graph.add_all(list(self._stated.values()))
        self._stated = {}


def statements_of(terms: bytes) -> tuple[Statement, ...]:
    """Those in a record's analysis; none if that is damaged, which whoever reads the record is told."""
    try:
        return read_analysis(terms).statements
    except Corrupt:
        return ()


def _list_stated(entries: Sequence[Entry], known: KnownMentions) -> list[Stated]:
    """The entries whose texts state something, each with what it states. Their bytes are read in one pass."""
    stating = [(entry, facts_in(entry.terms)) for entry in entries if has_statements(entry.terms)]
    stating = [(entry, blob) for entry, blob in stating if blob]
    found = read_all_statements([blob for _, blob in stating], known)
    return [Stated(entry, statements) for (entry, _), statements in zip(stating, found, strict=True)]
