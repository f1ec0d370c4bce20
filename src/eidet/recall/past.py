"""What the memory knew at an earlier time: records as they were then, in a store and an index of their own.

A recall of the past must rank as it did then, so that an answer can be reproduced: later records may not
change how rare a word is. So the records of the scope are taken back to that time and searched in RAM.
What was forgotten or has expired since is not known any more, whatever time is asked for.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from ..core.record import Event, Record
from ..core.record_table import decode_values
from ..core.scope import Scope
from ..core.where import Where
from ..graph import Graphs
from ..parts import Parts
from ..store import Head, Store
from . import Recall

if TYPE_CHECKING:
    from ..write.ingest import Ingest

VIEWS: Final = 3  # views of the past that a memory keeps
PAGE: Final = 1_000  # records embedded and written at once


class _Asked(NamedTuple):
    """The key of a view: the same question of an unchanged store reuses it."""

    scope: Scope
    known_at: float
    head: Head


class PastViews:
    """Makes views of the past and keeps the latest. Safe from many threads."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._views: OrderedDict[_Asked, Recall] = OrderedDict()

    def view(self, scope: Scope, known_at: float) -> Recall:
        """Answers from what the memory knew at that time, in one scope or below it."""
        asked = _Asked(scope, known_at, self._parts.store.head())
        with self._lock:
            if asked not in self._views:
                self._views[asked] = self._make(scope, known_at)
            self._views.move_to_end(asked)
            while len(self._views) > VIEWS:
                self._views.popitem(last=False)
            return self._views[asked]

    def _make(self, scope: Scope, known_at: float) -> Recall:
        from ..store.ram import RamStore
        from ..write.ingest import Ingest

        parts, store = self._parts, RamStore()
        ingest = Ingest.of(parts)
        after = 0
        while page := self._read_page(scope, known_at, after):
            after = page[-1].seq
            then = [take_back(record, self._history(record, known_at), known_at) for record in page]
            write_as_they_are(store, _derive_changed(ingest, page, then))
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
        return self._parts.store.find(living, order="seq", limit=PAGE, after=after)

    def _history(self, record: Record, known_at: float) -> Sequence[Event]:
        """Lists the events of a record since a time; a record with one version needs none."""
        if record.version == 1:
            return ()
        events = self._parts.store.history(record.scope, record.id)
        return [event for event in events if event.at > known_at]


def take_back(record: Record, since: Sequence[Event], known_at: float) -> Record:
    """Undoes the events since a time: each holds what it changed."""
    then = record.whole.but(level=0, original=None)
    for event in reversed(since):
        if event.what == "revised":
            then = then.but(**decode_values(event.before or {}), version=event.version - 1)
    if then.last_used is not None and then.last_used > known_at:
        then = then.but(uses=0, last_used=None)  # nobody knows how often until then
    return then


def _derive_changed(ingest: Ingest, now: Sequence[Record], then: Sequence[Record]) -> list[Record]:
    """Recomputes vectors and terms where the text differed, or where a tier had lowered them."""
    ready = list(then)
    changed = []
    for at, (new, old) in enumerate(zip(now, then, strict=True)):
        if new.level or new.text != old.text or new.who != old.who or new.occurred != old.occurred:
            changed.append(at)
    made = ingest.derive([then[at] for at in changed])
    for at, record in zip(changed, made, strict=True):
        ready[at] = record
    return ready


def write_as_they_are(store: Store, records: Sequence[Record]) -> None:
    """Writes records with the versions and times that they have."""
    store.write(lambda transaction: transaction.insert(records))
