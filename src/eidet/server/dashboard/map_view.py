"""Map: the memories of a scope on a plane, near each other where they are alike."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, Final

from ...core.scope import Scope
from ...index.embedded.vectors import project_vectors
from ...memory import Memory
from ...store import Entry, Head, Store, verbs
from .entry_scan import PAGE

MOST: Final = 50_000  # points


class MapCache:
    """The last map of a few scopes, as long as nobody writes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._maps: dict[Scope, tuple[Head, dict[str, Any]]] = {}

    def draw(self, memory: Memory, scope: Scope) -> dict[str, Any]:
        head = memory.parts.store.head()
        with self._lock:
            known = self._maps.get(scope)
            if known is not None and known[0] == head:
                return known[1]
            made = _draw_map(memory, scope)
            if len(self._maps) >= 4:
                self._maps.clear()
            self._maps[scope] = (head, made)
            return made


def _draw_map(memory: Memory, scope: Scope) -> dict[str, Any]:
    """Points as columns, newest first; kinds, sessions and scopes as numbers of their names."""
    rows = list(_newest_entries(memory.parts.store, scope, MOST))
    entries = [entry for _, entry in rows]
    x, y = project_vectors(
        [entry.vector for entry in entries], [entry.level for entry in entries], memory.parts.embedder.width
    )
    kind, kinds = _number([str(entry.kind) for entry in entries])
    session, sessions = _number([entry.session or "" for entry in entries])
    place, scopes = _number([path for path, _ in rows])
    return {
        "x": x,
        "y": y,
        "seq": [entry.seq for entry in entries],
        "at": [int(entry.occurred) for entry in entries],
        "kind": kind,
        "session": session,
        "scope": place,
        "kinds": kinds,
        "sessions": sessions,
        "scopes": scopes,
        "most": MOST,
    }


def _number(names: list[str]) -> tuple[list[int], list[str]]:
    """The number of each name, in the order in which names come first, and the names by number."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return [numbers[name] for name in names], list(numbers)


def _newest_entries(store: Store, scope: Scope, most: int) -> Iterator[tuple[str, Entry]]:
    """At most so many entries of a scope, those of the highest seqs, with their scopes."""
    found: list[tuple[str, Entry]] = []
    for path in verbs.count_scopes(store, scope):
        since, head = 0, store.head()
        while True:
            changes = store.changes(path, since, PAGE)
            found += [(path, entry) for entry in changes.entries]
            since = changes.head.seq
            if since >= head.seq:
                break
        if len(found) > 2 * most:
            found = sorted(found, key=lambda pair: -pair[1].seq)[:most]
    found.sort(key=lambda pair: -pair[1].seq)
    yield from found[:most]
