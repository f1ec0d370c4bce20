"""Finds and removes content beside the records of a store: in files, archives and other histories."""

from __future__ import annotations

import glob
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from ...core.errors import EidetError
from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import Json, dump_json
from ...store import Store, verbs
from ...store.tombstones import Marker, list_earlier
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
    """Returns the encodings of content in the rows of a file: as it is, and in both spellings in JSON."""
    found = [text, dump_json(text)[1:-1], json.dumps(text)[1:-1]] if text else []
    if data is not None:
        found += [dump_json(data), dump_json(data, sort_keys=True)]
    return [form.encode() for form in dict.fromkeys(found)]


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


def clean_histories(
    store: Store, marker: Marker, scope: Scope, gone: Collection[tuple[str, str]]
) -> tuple[int, list[str]]:
    """Removes content with tombstones from the histories of a scope's other records.

    Returns the number of events edited, and notes on what was not searched or is under a legal hold.
    """
    revised = verbs.list_revised(store, scope, MOST)
    if revised is None:
        return 0, [f"more than {MOST:,} histories of other records were not searched for the same words"]
    count, notes = 0, []
    for path, id in revised:
        (record,) = store.read(path, [id]) if (path, id) not in gone else [None]
        edits = {} if record is None else _find_edits(store, marker, record)
        if not edits or record is None:
            continue
        if record.state.hold is None:
            count += verbs.rewrite_history(store, path, id, edits)
        else:
            notes.append(f"record {id!r} is under a legal hold, and its history tells the same")
    return count, notes


def _find_edits(store: Store, marker: Marker, record: Record) -> dict[int, Mapping[str, Json]]:
    """Maps the versions of events to edit to the fields that they keep."""
    story = store.history(record.scope, record.id)
    telling = [event for event in reversed(story) if event.before and event.before.keys() & set(CONTENT)]
    marks = list(map(marker.of_record, list_earlier(record, story)))
    stones = verbs.tombstones_in(store, record.scope, [mark for mark in marks if mark is not None])
    return {
        event.version: {name: value for name, value in (event.before or {}).items() if name not in CONTENT}
        for event, mark in zip(telling, marks, strict=True)
        if mark in stones
    }
