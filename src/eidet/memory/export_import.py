"""Exports and imports of an open memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..core.arguments import check_callback, check_flag, check_path
from ..core.errors import BadInput, Corrupt, Refused
from ..core.record import Record
from ..core.scope import Scope
from ..core.where import Where
from ..parts import Parts
from ..store import verbs
from ..store.export_file import read_export, verify_export, write_export
from ..store.key_ids import KeyIds
from ..store.traits import is_sealed
from ..trust.privacy.service import Guarding
from ..write.ingest import Progress, check_arrival, fits_embedder
from ..write.write_path import load_records

READ_ONCE: Final = 5_000  # up to this many records stay in RAM between the check and the writing
KEYS: Final = "keys"  # field of a manifest: the secrets that turn keys into ids of its records


def export_records(
    parts: Parts, path: str | Path, scope: Scope | None, *, plain: bool, progress: Progress | None
) -> int:
    """Exports the live records; returns how many. A sealed memory raises `Refused` unless `plain`."""
    file = check_path(path, "path")
    check_callback(progress, "progress")
    if not check_flag(plain, "plain") and is_sealed(parts.store):
        raise Refused("this memory is sealed, and an export is not: ask for a plain one, plain=True")
    now = parts.clock()
    where = Where(scope=scope, alive_at=now)
    parts.flush()
    total = verbs.count(parts.store, where) if progress else 0
    secrets = KeyIds(parts.store).secrets()
    carried = {KEYS: [secret.hex() for secret in secrets]} if secrets else {}
    records = _with_progress(verbs.scan(parts.store, where), total, progress)
    return write_export(file, records, parts.manifest(now) | carried)


@dataclass(frozen=True, slots=True)
class ExportFile:
    """An export to load. All its records, or those of a scope, are checked before any is written."""

    parts: Parts
    guarding: Guarding
    path: Path
    place: Scope | None
    kept: list[Record] = field(default_factory=list, init=False, repr=False)  # the first, from the check

    def load(self, progress: Progress | None) -> int:
        """Checks all records, then writes them. Returns how many were written.

        `Corrupt` names the first line that cannot be loaded; nothing is written then.
        """
        check_callback(progress, "progress")
        manifest, now = verify_export(self.path, self._check), self.parts.clock()
        read = iter(self.kept) if len(self.kept) <= READ_ONCE else read_export(self.path)
        records = _with_progress(read, manifest["count"], progress)
        chosen = self.guarding.check_loaded(filter(self._is_meant, records), now)
        self.parts.key_ids.adopt(self._read_secrets(manifest))
        return load_records(self.parts, chosen, manifest, now=now, checked=True)

    def _read_secrets(self, manifest: dict[str, Any]) -> list[bytes]:
        """Returns the manifest's secrets, which turn keys into ids; raises `Corrupt` if they are damaged."""
        try:
            return list(map(bytes.fromhex, manifest.get(KEYS, ())))
        except (TypeError, ValueError):
            raise Corrupt(f"{self.path}: its {KEYS!r} cannot be read; nothing was loaded") from None

    def _is_meant(self, record: Record) -> bool:
        return self.place is None or self.place.holds(record.scope)

    def _check(self, record: Record, manifest: Mapping[str, Any], where: str) -> None:
        if len(self.kept) <= READ_ONCE:
            self.kept.append(record)
        if not self._is_meant(record):
            return
        if record.sealed is not None:
            raise Corrupt(f"{where} is sealed, and exports are not; nothing was loaded")
        embedder, analyzer = self.parts.embedder, self.parts.analyzer
        made_by = embedder if fits_embedder(manifest, embedder) else None
        try:
            check_arrival(record, made_by, analysed=manifest.get("analyzer") == analyzer.name)
        except (Corrupt, BadInput) as error:
            raise Corrupt(f"{where} cannot be loaded: {error}; nothing was loaded") from error
        self.guarding.check_loadable(record)


def _with_progress(records: Iterator[Record], total: int, progress: Progress | None) -> Iterator[Record]:
    """Passes the records on and calls `progress` every 500 and at the end."""
    for done, record in enumerate(records, 1):
        yield record
        if progress is not None and (done % 500 == 0 or done == total):
            progress(done, total)
