"""The graph of a scope: statements of its records, identities and validity. It follows the store by seq.

fact.py            the values that it answers with
triple_data.py     facts and decisions that callers state directly
assertion.py  statements_index.py   statements as it stores them, and the names that they mention
identities.py      the entities that names mean
validity.py        the times at which facts held: closing, reopening, contradictions
scope_graph.py     one scope, without store and clock
inference.py  asking.py             what follows by rules and from patterns; questions and answers
graph_formats.py   export and import formats
"""

from __future__ import annotations

import gc
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from ..core.errors import Corrupt, EidetError
from ..core.record import Kind, Record, Trust
from ..core.scope import Scope
from ..store import Changes, Entry, Head, Store, verbs
from ..text.analysis import facts_in, has_statements
from ..text.facts.statement import KnownMentions, Statement, parse_statements
from .assertion import Stated
from .scope_graph import ScopeGraph, View
from .triple_data import Decision, StoredDecision, parse_triple

_DECIDING: Final = frozenset((Trust.TRUSTED.value, Trust.USER.value))  # whose decisions count

__all__ = ["Graphs", "ScopeGraph", "View", "statements_of"]

T = TypeVar("T")
BATCH: Final = 5_000  # entries read from the store at once


class _Slot:
    """A scope's entry in RAM: its graph with a lock, and its size in bytes."""

    __slots__ = ("graph", "lock", "nbytes")

    def __init__(self, scope: str) -> None:
        self.lock = threading.RLock()
        self.graph = ScopeGraph(scope)
        self.nbytes = 0


class Graphs:
    """The graphs of a store, by scope. Before each question a graph reads the changes since the last.

    Thread-safe. The least recently used graphs leave RAM when it runs short.
    """

    def __init__(self, store: Store, *, memory_mb: int = 256) -> None:
        self._store = store
        self._most = memory_mb * 2**20
        self._slots: OrderedDict[str, _Slot] = OrderedDict()
        self._nbytes = 0  # of all slots
        self._lock = threading.Lock()

    def ask(self, scope: str, question: Callable[[ScopeGraph], T], head: Head | None = None) -> T:
        """Returns a question's answer from a graph with everything up to `head`, by default the store's."""
        slot = self._find_slot(scope)
        with slot.lock:
            self._catch_up(slot, head or self._store.head())
            answer = question(slot.graph)
        if self._nbytes > self._most:
            self._make_room(scope)
        return answer

    def gather(self, scope: Scope, question: Callable[[ScopeGraph], Iterable[T]]) -> list[T]:
        """Joins the answers of all scopes of a question, as of one head. No fact crosses a scope."""
        head, paths = self._store.head(), verbs.list_paths(self._store, scope)
        return [one for path in paths for one in self.ask(path, lambda graph: list(question(graph)), head)]

    def name_sources(self, graph: ScopeGraph, seqs: Iterable[int]) -> dict[int, str]:
        """Returns the ids of records by seq; reads each from the store once. Call it inside a question."""
        wanted = dict.fromkeys(seqs)
        missing = [seq for seq in wanted if seq not in graph.ids]
        for record in self.read(graph.scope, missing):
            graph.ids[record.seq] = record.id
        return {seq: graph.ids[seq] for seq in wanted if seq in graph.ids}

    def read(self, scope: str, keys: list[int] | list[str]) -> list[Record]:
        """Reads records from the store, without deleted ones."""
        if not keys:
            return []
        return [record for record in self._store.read(scope, keys) if record is not None]

    def follow(self, scope: str) -> None:
        """Applies changes to a scope's graph if it is in RAM, so that erased records leave at once."""
        with self._lock:
            slot = self._slots.get(scope)
        if slot is None:
            return
        try:
            with slot.lock:
                self._catch_up(slot, self._store.head())
        except EidetError:  # the store is down or damaged: the next question raises the error
            self.drop(scope)

    def drop(self, scope: str) -> None:
        """Drops a graph; the next question rebuilds it."""
        with self._lock:
            self._let_go(scope)

    def close(self) -> None:
        with self._lock:
            self._slots.clear()
            self._nbytes = 0

    @property
    def nbytes(self) -> int:
        return self._nbytes

    def _find_slot(self, scope: str) -> _Slot:
        with self._lock:
            slot = self._slots.get(scope)
            if slot is None:
                slot = self._slots[scope] = _Slot(scope)
            self._slots.move_to_end(scope)
            return slot

    def _catch_up(self, slot: _Slot, head: Head) -> None:
        graph = slot.graph
        if graph.head.seq >= head.seq and graph.head.epoch >= head.epoch:
            return
        away = graph.head.seq
        with _pause_collector(head.seq - away > BATCH):
            graph = self._read_on(graph, head, away)
        slot.graph = graph
        with self._lock:
            if self._slots.get(graph.scope) is slot:  # else it was dropped while it was read
                self._nbytes += graph.nbytes - slot.nbytes
                slot.nbytes = graph.nbytes

    def _let_go(self, scope: str) -> None:
        """Drops a graph. Call it with the lock held."""
        slot = self._slots.pop(scope, None)
        if slot is not None:
            self._nbytes -= slot.nbytes

    def _read_on(self, graph: ScopeGraph, head: Head, away: int) -> ScopeGraph:
        mentions: KnownMentions = {}
        while graph.head.seq < head.seq or graph.head.epoch < head.epoch:
            changes = verbs.changes_telling(self._store, graph.scope, graph.head.seq, BATCH)
            stale = changes.head.epoch != graph.head.epoch and graph.head.seq > 0
            if stale or 0 < away < changes.pruned:  # another epoch, or deletions missed
                graph = ScopeGraph(graph.scope)
            else:
                _take(graph, changes, self, mentions)
            away = 0
        return graph

    def _make_room(self, current: str) -> None:
        """Drops the least recently used graphs until the rest fits; never the one just used."""
        with self._lock:
            for scope in list(self._slots):
                if self._nbytes <= self._most or scope == current:
                    return
                self._let_go(scope)


@contextmanager
def _pause_collector(is_worth_it: bool) -> Iterator[None]:
    """Pauses garbage collection, which takes a third of the time, while lasting objects are made."""
    if not is_worth_it or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _take(graph: ScopeGraph, changes: Changes, graphs: Graphs, mentions: KnownMentions) -> None:
    """Applies a page of changes to a graph; records in quarantine give it neither facts nor names."""
    for seq in changes.gone:
        graph.remove(seq)
    seen = [entry for entry in changes.entries if entry.trust != Trust.QUARANTINED]
    triples = {entry.seq: entry for entry in seen if entry.kind == Kind.TRIPLE}
    found = ((one, statements_of(one.terms, mentions)) for one in seen if one.kind != Kind.TRIPLE)
    stated = [Stated(entry, statements) for entry, statements in found if statements]
    for record in graphs.read(graph.scope, list(triples)):
        graph.ids[record.seq] = record.id
        stated += _take_triple(graph, triples[record.seq], record)
    if stated:
        graph.add(stated)
    graph.head = changes.head


def _take_triple(graph: ScopeGraph, entry: Entry, record: Record) -> list[Stated]:
    """Applies the decision of a `triple` record or returns its statements: from its data, else its text."""
    triple = parse_triple(record)
    if triple is None:
        return [Stated(entry, statements_of(entry.terms))]
    if not isinstance(triple, Decision):
        return [Stated(entry, (triple,), is_told=True)]
    if entry.trust in _DECIDING:
        graph.decide(StoredDecision(triple, entry.seq, entry.created, entry.expires))
    return []


def statements_of(terms: bytes, known: KnownMentions | None = None) -> tuple[Statement, ...]:
    """Returns the statements in a record's analysis; empty if it is damaged, which reads report."""
    if not has_statements(terms):
        return ()
    try:
        return parse_statements(facts_in(terms), known)
    except Corrupt:
        return ()
