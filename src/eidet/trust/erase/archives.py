"""Forgetting in archives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...core.errors import EidetError
from ...core.record import Record
from ...core.scope import Scope
from ...upkeep.archive import Archive, ErasableArchive, Ownership, may_hold, name_place
from ..seal.exports import SealedArchive


def records_in(archive: Archive, ours: Ownership | None = None) -> Iterator[tuple[str, Record]]:
    """The records of an archive with their pieces: of all, or only of those that are ours."""
    for name in archive.names():
        manifest = archive.manifest(name)
        if ours is None or ours.has(manifest):
            yield from ((name, record) for record in archive.read(name))


def name_foreign(archive: Archive, scope: Scope, ours: Ownership) -> list[str]:
    """Says of an archive that pieces of another owner may hold something of a scope."""
    try:
        manifests = [archive.manifest(name) for name in archive.names()]
    except EidetError:  # whoever cleans the archive says so
        return []
    foreign = sum(not ours.has(manifest) and may_hold(manifest, scope=scope) for manifest in manifests)
    if not foreign:
        return []
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
    """Takes records out of an archive, and what was made of them; how many, and what could not be done.

    Pieces of another store are left as they are.
    """
    ids: set[tuple[str, str]] = set()

    def is_doomed(record: Record) -> bool:
        made = any((record.scope, id) in ids for id in record.derived_from)
        if made or gone(record):
            ids.add((record.scope, record.id))
            return True
        return False

    try:
        for _ in _until_still(ids):
            names = list(
                dict.fromkeys(name for name, record in records_in(archive, ours) if is_doomed(record))
            )
        if not ids:
            return 0, []
        if not isinstance(archive, ErasableArchive):
            return 0, [
                f"{archive!r} has no method `expunge(name, gone, now=…)`: {len(ids)} records stay in it"
            ]
        return sum(archive.expunge(name, is_doomed, now=now) for name in names), []
    except EidetError as error:
        return 0, [f"an archive could not be cleaned: {error}"]


def _until_still(ids: set[Any]) -> Iterator[None]:
    """Again and again, as long as that finds more."""
    before = -1
    while len(ids) > before:
        before = len(ids)
        yield
