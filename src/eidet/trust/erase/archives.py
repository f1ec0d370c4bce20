"""Forgetting in archives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...core.errors import EidetError
from ...core.record import Record
from ...upkeep.archive import Archive, ErasableArchive


def records_in(archive: Archive) -> Iterator[tuple[str, Record]]:
    for name in archive.names():
        archive.manifest(name)
        yield from ((name, record) for record in archive.read(name))


def expunge(archive: Archive, gone: Callable[[Record], bool], *, now: float) -> tuple[int, list[str]]:
    """Takes records out of an archive, and what was made of them; how many, and what could not be done."""
    ids: set[tuple[str, str]] = set()

    def is_doomed(record: Record) -> bool:
        made = any((record.scope, id) in ids for id in record.derived_from)
        if made or gone(record):
            ids.add((record.scope, record.id))
            return True
        return False

    try:
        for _ in _until_still(ids):
            names = list(dict.fromkeys(name for name, record in records_in(archive) if is_doomed(record)))
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
