"""Exports and imports of an open memory: sealed as its records are kept, and opened again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.record import Record
from ..core.scope import Scope
from ..core.where import Where
from ..parts import Parts
from ..store import Store, verbs
from ..store.export_file import read_export, write_export

Progress = Callable[[int, int], None]  # done, of how many


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """What an export takes along, and how."""

    scope: Scope | None
    plain: bool
    progress: Progress | None


def export_records(parts: Parts, path: Path, leaving: Leaving) -> int:
    """Writes what is alive to a file; how many records."""
    now = parts.clock()
    where = Where(scope=leaving.scope, alive_at=now)
    parts.flush()
    total = verbs.count(parts.store, where) if leaving.progress else 0
    records, seal = records_leaving(parts.store, where, plain=leaving.plain)
    manifest = parts.manifest(now) | seal
    return write_export(path, with_progress(records, total, leaving.progress), manifest)


def records_leaving(store: Store, where: Where, *, plain: bool) -> tuple[Iterator[Record], dict[str, Any]]:
    """Records for an export, sealed as they are kept, and what its manifest says of that."""
    from ..trust.seal.exports import sealed_export, sealed_in

    kept = None if plain else sealed_in(store)
    if kept is None:
        return (verbs.scan(store, where), {})
    return sealed_export(kept, where)


def records_arriving(store: Store, path: Path, manifest: dict[str, Any]) -> Iterator[Record]:
    """The records of an export. Sealed ones are all opened once before the first is given."""
    from ..trust.seal.exports import SEALED, opened_export

    if SEALED in manifest:
        for _ in opened_export(read_export(path), manifest, store):
            pass
    return opened_export(read_export(path), manifest, store)


def with_progress(records: Iterator[Record], total: int, progress: Progress | None) -> Iterator[Record]:
    """The same records; `progress` is told every 500 and at the end."""
    for done, record in enumerate(records, 1):
        yield record
        if progress is not None and (done % 500 == 0 or done == total):
            progress(done, total)
