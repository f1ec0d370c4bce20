"""The columns of a scope's records, read once and then only what has changed since."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ...core.scope import Scope
from ...store import Changes, Entry, Head, Store, verbs

PAGE: Final = 5_000  # entries that are read at once
SCOPES: Final = 64  # scopes whose columns are kept


class Row(NamedTuple):
    """The columns of a record that a timeline needs."""

    seq: int
    kind: str
    session: str | None
    who: str | None
    occurred: float
    created: float


@dataclass(slots=True)
class _Kept:
    head: Head | None = None
    rows: dict[int, Row] = field(default_factory=dict)


class EntryScan:
    """Follows scopes as an index does, with no more than times and labels in RAM."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def rows(self, store: Store, scope: Scope) -> list[tuple[str, Row]]:
        """Every record of a scope (and of those below it, where that is asked), with its scope."""
        found = []
        for path in verbs.count_scopes(store, scope):
            with self._lock:
                kept = self._kept.setdefault(path, _Kept())
                self._kept.move_to_end(path)
                self._follow(store, path, kept)
                if len(self._kept) > SCOPES:
                    self._kept.popitem(last=False)
                rows = list(kept.rows.values())
            found += [(path, row) for row in rows]
        return found

    def _follow(self, store: Store, path: str, kept: _Kept) -> None:
        head = store.head()
        if kept.head == head:
            return
        changes = _changes_since(store, path, kept, head)
        while True:
            for gone in changes.gone:
                kept.rows.pop(gone, None)
            for entry in changes.entries:
                kept.rows[entry.seq] = _row(entry)
            kept.head = changes.head
            if changes.head.seq >= head.seq:
                return
            changes = store.changes(path, changes.head.seq, PAGE)


def _changes_since(store: Store, path: str, kept: _Kept, head: Head) -> Changes:
    """The changes since the last look, or all records if the store has pruned that history."""
    if kept.head is not None and kept.head.epoch == head.epoch:
        changes = store.changes(path, kept.head.seq, PAGE)
        if kept.head.seq >= changes.pruned:
            return changes
    kept.rows.clear()
    return store.changes(path, 0, PAGE)


def _row(entry: Entry) -> Row:
    return Row(entry.seq, entry.kind, entry.session, entry.who, entry.occurred, entry.created)
