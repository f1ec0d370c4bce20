"""Exports and imports of an open memory: sealed as its records are kept, and opened again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..core.record import Record
from ..core.where import Where
from ..store import Store, verbs
from ..store.export_file import Sign, read_export

Progress = Callable[[int, int], None]  # done, of how many


def records_leaving(
    store: Store, where: Where, *, plain: bool
) -> tuple[Iterator[Record], dict[str, Any], Sign | None]:
    """Records for an export, sealed as they are kept, what its manifest says of that, and who signs it."""
    from ..trust.seal.exports import sealed_export, sealed_in

    kept = None if plain else sealed_in(store)
    if kept is None:
        return (verbs.scan(store, where), {}, None)
    return sealed_export(kept, where)


def records_arriving(
    store: Store, path: Path, manifest: dict[str, Any], *, unverified: bool
) -> Iterator[Record]:
    """The records of an export. Sealed ones are all opened once before the first is given."""
    from ..trust.seal.exports import SEALED, open_export

    if SEALED in manifest:
        for _ in open_export(read_export(path), manifest, store, unverified=unverified):
            pass
    return open_export(read_export(path), manifest, store, unverified=unverified)


def with_progress(records: Iterator[Record], total: int, progress: Progress | None) -> Iterator[Record]:
    """The same records; `progress` is told every 500 and at the end."""
    for done, record in enumerate(records, 1):
        yield record
        if progress is not None and (done % 500 == 0 or done == total):
            progress(done, total)
