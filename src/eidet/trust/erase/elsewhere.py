"""Finds and removes content beside the records of a store: in files, archives and other histories."""

from __future__ import annotations

import glob
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from ...core.errors import EidetError
from ...core.record import Event, Record
from ...core.scope import Scope
from ...core.validate import Json, dump_json
from ...store import Store, verbs
from ...store.tombstones import Marker
from ...store.traits import path_of, paths_of
from ...upkeep.archive import Archive, Ownership, may_hold, name_place

CONTENT: Final = ("text", "data")
MOST: Final = 5_000  # histories to search at most: more would take longer than forgetting itself

# Files.


def sidecars(store: Store) -> list[Path]:
    """Lists the cache files of the index, with temporary files of interrupted writers."""
    folder = sidecar_folder(store)
    return sorted(folder.iterdir()) if folder is not None and folder.is_dir() else []


def sidecar_folder(store: Store) -> Path | None:
    """Returns the folder of the embedded index's cache files, or None if the store is no file."""
    path = path_of(store)
    return None if path is None else Path(f"{path}-index")


def schema_copies(store: Store) -> list[Path]:
    """Lists the copies of a store's files that were made before schema changes."""
    copies = (path.parent.glob(f"{glob.escape(path.name)}.schema-*") for path in paths_of(store))
    return sorted(copy for some in copies for copy in some)


def remove_files(files: Sequence[Path]) -> int:
    for file in files:
        file.unlink(missing_ok=True)
    return len(files)


def forms_of(text: str | None, data: Json) -> list[bytes]:
    """Returns the encodings of content that a file may hold: UTF-8, UTF-16, and both spellings in JSON."""
    found: list[bytes] = []
    if text:
        within_json = (dump_json(text)[1:-1], json.dumps(text)[1:-1])
        found += [text.encode(), text.encode("utf-16-le"), text.encode("utf-16-be")]
        found += [form.encode() for form in within_json]
    if data is not None:
        found += [dump_json(data).encode(), dump_json(data, sort_keys=True).encode()]
    return list(dict.fromkeys(filter(None, found)))


# Archives.


def records_in(archive: Archive, ours: Ownership | None = None) -> Iterator[tuple[str, Record]]:
    """Yields an archive's records, each with the name of its piece; with `ours`, only from own pieces."""
    for name in archive.names():
        manifest = archive.manifest(name)
        if ours is None or ours.has(manifest):
            yield from ((name, record) for record in archive.read(name))


def name_foreign(archive: Archive, scope: Scope, ours: Ownership) -> list[str]:
    """Returns a note if pieces of another owner in an archive may hold records of a scope, else nothing."""
    try:
        manifests = [archive.manifest(name) for name in archive.names()]
    except EidetError:  # `expunge` reports it
        return []
    foreign = sum(not ours.has(manifest) and may_hold(manifest, scope=scope) for manifest in manifests)
    if not foreign:
        return []
    from ..seal.archives import SealedArchive

    place = name_place(archive.archive if isinstance(archive, SealedArchive) else archive)
    note = (
        f"pieces of the archive {place} ({foreign}) were left alone: another memory archived them, or this "
        "one before its file was copied, moved or restored. If they are this memory's, claim them (`eidet "
        f"unarchive {place} --claim`) and forget again"
    )
    return [note]


def expunge(
    archive: Archive, gone: Callable[[Record], bool], ours: Ownership, *, now: float
) -> tuple[int, list[str]]:
    """Removes records and those derived from them from an archive. Returns how many, and what failed.

    Leaves pieces of other owners unchanged.
    """
    ids: set[tuple[str, str]] = set()

    def is_doomed(record: Record) -> bool:
        made = any((record.scope, id) in ids for id in record.derived_from)
        if made or gone(record):
            ids.add((record.scope, record.id))
            return True
        return False

    try:
        before = -1
        while len(ids) > before:  # a derived record may precede its source
            before = len(ids)
            names = dict.fromkeys(name for name, record in records_in(archive, ours) if is_doomed(record))
        if not ids:
            return 0, []
        return sum(archive.expunge(name, is_doomed, now=now) for name in names), []
    except EidetError as error:
        return 0, [f"an archive could not be cleaned: {error}"]


# Histories of other records, which may repeat forgotten content word for word.


class OtherHistories:
    """Cleans the histories of remaining records. `notes` names those that a legal hold protects."""

    def __init__(self, store: Store, marker: Marker) -> None:
        self._store = store
        self._marker = marker
        self.notes: list[str] = []

    def clean(
        self, scope: Scope, marks: Collection[tuple[str, bytes]] | None, gone: Collection[tuple[str, str]]
    ) -> int:
        """Removes forgotten content from histories. Returns the number of events edited.

        `marks` stand for the forgotten content; None uses the tombstones of the store.
        """
        revised = verbs.list_revised(self._store, scope, MOST)
        if revised is None:
            self.notes.append(
                f"more than {MOST:,} histories of other records were not searched for the same words"
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
        """Maps the versions of events to edit to the fields that they keep."""
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
    """Yields the events with content, newest first, each with the version of the record before it."""
    now = record.whole.but(original=None, level=0)
    for event in reversed(story):
        if event.before and event.before.keys() & set(CONTENT):
            now = now.but(text=event.before.get("text", now.text), data=event.before.get("data", now.data))
            yield event, now
