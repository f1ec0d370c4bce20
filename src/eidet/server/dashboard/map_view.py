"""Map: the memories of a scope on a plane, near each other where they are alike."""

from __future__ import annotations

import threading
from typing import Any, Final

from ...core.scope import Scope
from ...index.embedded.vectors import project_vectors
from ...memory import Memory
from ...store import Head
from .entry_scan import newest_entries

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
            made = draw_map(memory, scope)
            if len(self._maps) >= 4:
                self._maps.clear()
            self._maps[scope] = (head, made)
            return made


def draw_map(memory: Memory, scope: Scope) -> dict[str, Any]:
    """Points as columns, newest first; kinds, sessions and scopes as numbers of their names."""
    rows = list(newest_entries(memory.parts.store, scope, MOST))
    vectors, levels = [], []
    for _, entry in rows:
        vectors.append(entry.vector)
        levels.append(entry.level)
    x, y = project_vectors(vectors, levels, memory.parts.embedder.width)
    kinds, sessions, scopes = _Names(), _Names(), _Names()
    columns: dict[str, Any] = {"x": x, "y": y, "seq": [], "at": [], "kind": [], "session": [], "scope": []}
    for path, entry in rows:
        columns["seq"].append(entry.seq)
        columns["at"].append(int(entry.occurred))
        columns["kind"].append(kinds.number(entry.kind))
        columns["session"].append(sessions.number(entry.session or ""))
        columns["scope"].append(scopes.number(path))
    return columns | {"kinds": kinds.names, "sessions": sessions.names, "scopes": scopes.names, "most": MOST}


class _Names:
    """Numbers names in the order they come."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    @property
    def names(self) -> list[str]:
        return list(self._numbers)
