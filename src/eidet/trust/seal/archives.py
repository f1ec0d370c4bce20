"""Archives of sealed records."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ...core.errors import Corrupt, Misconfigured
from ...core.record import Record
from ...store import Store
from .codec import number_of, open_record, seal_record
from .store import SealedStore, find_sealed

if TYPE_CHECKING:
    from ...upkeep.archive import Archive

log: logging.Logger = logging.getLogger("eidet.trust.seal")
SEALED: Final = "sealed"  # the part of a manifest that identifies the store that sealed the records


@dataclass(frozen=True, slots=True)
class SealedArchive:
    """An archive whose records are sealed by the keys of a store.

    It holds no key: once a scope is shredded, its archived records are unreadable.
    """

    archive: Archive
    store: SealedStore

    def keep(self, records: Sequence[Record], manifest: dict[str, Any], *, now: float) -> str:
        self.store.fresh()
        forms = [seal_record(record, self.store.ring.keys(record.scope)) for record in records]
        return self.archive.keep(forms, {**manifest, SEALED: {"identity": self.store.identity}}, now=now)

    def names(self) -> list[str]:
        return self.archive.names()

    def manifest(self, name: str) -> dict[str, Any]:
        return self.archive.manifest(name)

    def read(self, name: str) -> Iterator[Record]:
        seal = self.archive.manifest(name).get(SEALED)
        if not isinstance(seal, Mapping) or seal.get("identity") != self.store.identity:
            raise Misconfigured(
                f"{name} was not archived by this sealed memory: if you know where it comes from, load its "
                "file by itself"
            )
        self.store.fresh()
        return iter([*self._open_each(name)])

    def _open_each(self, name: str) -> Iterator[Record]:
        """Yields the records, without those of scopes that were shredded since, of which it warns."""
        lost = 0
        for form in self.archive.read(name):
            number, keys = number_of(form), self.store.ring.of(form.scope)
            if keys is not None and number in keys.numbers:
                yield open_record(form, keys)
            else:
                lost += 1
        if lost:
            log.warning("%s: %s records belong to scopes whose keys were destroyed", name, lost)

    def expunge(self, name: str, gone: Callable[[Record], bool], *, now: float) -> int:
        """Removes records from a piece, as the inner archive does; matches unreadable ones by their ids."""
        self.store.fresh()
        return self.archive.expunge(name, lambda form: gone(self._readable(form)), now=now)

    def _readable(self, form: Record) -> Record:
        try:
            return self.store.ring.open(form)
        except Corrupt:
            return form


def archive_for(store: Store, archive: Archive) -> Archive:
    """Wraps an archive in a `SealedArchive` if the store is sealed and the archive is not yet."""
    sealed = find_sealed(store)
    if sealed is None or isinstance(archive, SealedArchive):
        return archive
    return SealedArchive(archive, sealed)
