"""Pages of changes that the index reads anyway, kept for the graph: a store is read once for both."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

from ..core.record import Kind
from ..store import Changes, Entry, Head
from ..text.analysis import has_statements

MOST: Final = 20_000  # entries kept of all scopes together; beyond, graphs read the store themselves


class SharedPages:
    """What changed in each scope since its graph was asked last, as far as an index has read it.

    Only entries that matter to a graph are kept, without their vectors; of too many, those of the scopes that
    were offered longest ago go first. Safe from many threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pages: dict[str, tuple[int, Changes]] = {}  # by scope: since which seq, and what changed
        self._size = 0  # of all pages

    def offer(self, scope: str, since: int, changes: Changes) -> None:
        """Keeps a page that follows those that are there; any other takes their place."""
        page = changes._replace(entries=_list_telling(changes.entries))
        with self._lock:
            begun = self._pages.get(scope)
            if begun is not None and begun[1].head == Head(changes.head.epoch, since):
                since, page = begun[0], _join(begun[1], page)
            self._drop(scope)
            size = _measure(page)
            if size <= MOST:
                self._pages[scope] = since, page
                self._size += size
            while self._size > MOST:
                self._drop(next(iter(self._pages)))

    def take(self, scope: str, head: Head) -> Changes | None:
        """What changed since a head, if that is what is kept; it is kept no longer."""
        with self._lock:
            since, changes = self._pages.get(scope, (0, None))
            self._drop(scope)
        if changes is None or since != head.seq or changes.head.seq <= since:
            return None
        return changes

    def drop(self, scope: str) -> None:
        with self._lock:
            self._drop(scope)

    def clear(self) -> None:
        with self._lock:
            self._pages.clear()
            self._size = 0

    def _drop(self, scope: str) -> None:
        _, page = self._pages.pop(scope, (0, None))
        if page is not None:
            self._size -= _measure(page)


def _measure(page: Changes) -> int:
    return 1 + len(page.entries) + len(page.gone)  # an empty page takes room too


def _list_telling(entries: Sequence[Entry]) -> list[Entry]:
    """Those that state or decide something."""
    telling: list[Entry] = []
    for entry in entries:
        if has_statements(entry.terms) or entry.kind == Kind.TRIPLE:
            telling.append(entry._replace(vector=None))
    return telling


def _join(first: Changes, second: Changes) -> Changes:
    """Two pages as one. What was stored in the first and went with the second is in neither."""
    gone = set(second.gone)
    entries = [entry for entry in first.entries if entry.seq not in gone]
    entries += second.entries
    return Changes(second.head, entries, [*first.gone, *second.gone], first.pruned)
