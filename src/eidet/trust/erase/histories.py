"""Forgetting what other records said before: their histories may tell, word for word, what was forgotten."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from ...core.event import Event
from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import Json
from ...store import Store, verbs
from ...store.tombstones import Marker

CONTENT: Final = ("text", "data")
MOST: Final = 5_000  # histories that are searched: more would take longer than forgetting itself


class OtherHistories:
    """The histories of records that stay. `notes` name those that a legal hold keeps as they are."""

    def __init__(self, store: Store, marker: Marker) -> None:
        self._store = store
        self._marker = marker
        self.notes: list[str] = []

    def clean(
        self, scope: Scope, marks: Collection[tuple[str, bytes]] | None, gone: Collection[tuple[str, str]]
    ) -> int:
        """Takes forgotten content out of histories; how many notes of it there were.

        `marks` are what was forgotten; None where the tombstones of the store must tell.
        """
        revised = verbs.list_revised(self._store, scope, MOST)
        if revised is None:
            self.notes.append(
                f"more than {MOST:,} histories of other records were not searched for the same words; "
                "`verify_forgotten` searches them"
            )
            return 0
        return sum(self._clean_one(*key, marks) for key in revised if key not in gone)

    def _clean_one(self, scope: str, id: str, marks: Collection[tuple[str, bytes]] | None) -> int:
        (record,) = self._store.read(scope, [id])
        if record is None or not (edits := self._find_edits(record, marks)):
            return 0
        if record.state.hold is None:
            return verbs.rewrite_history(self._store, scope, id, edits)
        self.notes.append(f"record {id!r} is under a legal hold, and its history tells the same")
        return 0

    def _find_edits(
        self, record: Record, marks: Collection[tuple[str, bytes]] | None
    ) -> dict[int, Mapping[str, Json]]:
        """By version: what its event may go on telling."""
        edits: dict[int, Mapping[str, Json]] = {}
        for event, version in earlier_versions(record, self._store.history(record.scope, record.id)):
            if event.before is not None and self._is_forgotten(version, marks):
                kept = {name: value for name, value in event.before.items() if name not in CONTENT}
                edits[event.version] = kept
        return edits

    def _is_forgotten(self, version: Record, marks: Collection[tuple[str, bytes]] | None) -> bool:
        mark = self._marker.of_record(version)
        if mark is None:
            return False
        if marks is None:
            return bool(verbs.tombstones_in(self._store, version.scope, [mark]))
        return (version.scope, mark) in marks


def earlier_versions(record: Record, story: Sequence[Event]) -> Iterator[tuple[Event, Record]]:
    """The events that tell of content, newest first, each with the record as it was before it."""
    now = record.whole.but(original=None, level=0)
    for event in reversed(story):
        if event.before and event.before.keys() & set(CONTENT):
            now = now.but(text=event.before.get("text", now.text), data=event.before.get("data", now.data))
            yield event, now
