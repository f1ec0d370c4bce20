"""Sealed records outside of their store: exports and archives."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ...core.errors import Corrupt, Misconfigured
from ...core.record import Record
from ...core.where import Where
from ...store import Store, verbs
from ...store.passthrough import PassthroughStore
from . import Shredded
from .boxes import LASTING, ScopeKeys
from .codec import open_record, seal_record
from .store import SealedStore

log = logging.getLogger("eidet.trust.seal")
SEALED: Final = "sealed"  # the part of a manifest that tells how to open the records


def sealed_in(store: Store) -> SealedStore | None:
    """The sealed store that a store is or is around; None if there is none."""
    if isinstance(store, SealedStore):
        return store
    return sealed_in(store.inner) if isinstance(store, PassthroughStore) else None


def sealed_export(store: SealedStore, where: Where) -> tuple[Iterator[Record], dict[str, Any]]:
    """The records as they are kept, and what a manifest must say for them to be opened elsewhere."""
    store.fresh()
    scopes = list(verbs.count_scopes(store, where.scope))
    forms = (form for form in verbs.scan(store.inner, where) if form.scope not in store.ring.shredded())
    return forms, {SEALED: store.ring.carried(scopes)}


def opened_export(records: Iterable[Record], manifest: Mapping[str, Any], store: Store) -> Iterator[Record]:
    """The records of an export, which may be sealed."""
    carried = manifest.get(SEALED)
    if carried is None:
        return iter(records)
    if not isinstance(carried, Mapping):
        raise Corrupt("the manifest's sealing data is damaged; nothing was loaded")
    if (sealed := sealed_in(store)) is None:
        raise Misconfigured(
            f"these records are sealed with the master key {carried.get('master')}: load them into a memory "
            "with that key, Memory(…, key=…)"
        )
    received = sealed.ring.received(carried)
    return (open_record(record, received.of(record.scope)) for record in records)


class Archive(Protocol):
    """See `eidet.upkeep.archive`."""

    def keep(self, records: Sequence[Record], manifest: dict[str, Any], *, now: float) -> str: ...
    def names(self) -> list[str]: ...
    def manifest(self, name: str) -> dict[str, Any]: ...
    def read(self, name: str) -> Iterator[Record]: ...


@dataclass(frozen=True, slots=True)
class SealedArchive:
    """An archive whose pieces are sealed by the lasting keys of a store.

    No key is kept with them: once a scope is shredded, nobody can read what was archived of it. A
    scope whose key is changed can still be brought back.
    """

    archive: Archive
    store: SealedStore

    def keep(self, records: Sequence[Record], manifest: dict[str, Any], *, now: float) -> str:
        self.store.fresh()
        keys = {record.scope: self.store.keys(record.scope) for record in records}
        forms = [seal_record(record, keys[record.scope], LASTING) for record in records]
        lasting = {scope: _fingerprint(some) for scope, some in keys.items()}
        told = {SEALED: {"identity": self.store.identity, "lasting": lasting}}
        return self.archive.keep(forms, {**manifest, **told}, now=now)

    def names(self) -> list[str]:
        return self.archive.names()

    def manifest(self, name: str) -> dict[str, Any]:
        return self.archive.manifest(name)

    def read(self, name: str) -> Iterator[Record]:
        told = self.archive.manifest(name).get(SEALED)
        if told is None:
            return self.archive.read(name)
        if not isinstance(told, Mapping) or told.get("identity") != self.store.identity:
            raise Misconfigured(f"{name} was archived by another sealed memory: only that one can open it")
        return self._opened(name, told.get("lasting", {}))

    def expunge(self, name: str, gone: Callable[[Record], bool], *, now: float) -> int:
        """Takes records out of a piece, as the archive inside does; the unreadable are known by their ids."""
        from ...upkeep.archive import ErasableArchive  # which imports this module

        if not isinstance(self.archive, ErasableArchive):
            raise Misconfigured(f"{self.archive!r} has no method `expunge(name, gone, now=…)`")
        self.store.fresh()
        return self.archive.expunge(name, lambda form: gone(self._readable(form)), now=now)

    def _readable(self, form: Record) -> Record:
        try:
            return open_record(form, self.store.keys(form.scope))
        except (Shredded, Corrupt):
            return form

    def _opened(self, name: str, lasting: Mapping[str, str]) -> Iterator[Record]:
        self.store.fresh()
        lost = 0
        for form in self.archive.read(name):
            keys = self.store.ring.of(form.scope) if self.store.opener.has_keys(form.scope) else None
            if keys is None or _fingerprint(keys) != lasting.get(form.scope):
                lost += 1
            else:
                yield open_record(form, keys)
        if lost:
            log.warning("%s: %s records belong to scopes whose keys were destroyed", name, lost)


def _fingerprint(keys: ScopeKeys) -> str:
    """Tells the lasting key of a scope from the one it had before it was shredded."""
    return keys.mark(b"fingerprint").hex()


def archive_for(store: Store, archive: Archive | None) -> Archive | None:
    """An archive for what a store deletes: sealed if the store is."""
    sealed = sealed_in(store)
    return archive if archive is None or sealed is None else SealedArchive(archive, sealed)
