"""Sealed records outside of their store: exports and archives."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from hmac import compare_digest
from typing import TYPE_CHECKING, Any, Final

from ...core.errors import Corrupt, Misconfigured, Refused
from ...core.record import Record
from ...core.validate import dump_json
from ...core.where import Where
from ...store import Store, verbs
from ...store.export_file import SEALED, SIGNED, Sign
from ...store.passthrough import PassthroughStore
from . import Shredded
from .boxes import LASTING, ScopeKeys, pack_parts
from .codec import open_record, seal_record
from .store import SealedStore
from .wrapped import Received

if TYPE_CHECKING:
    from ...upkeep.archive import Archive

log: logging.Logger = logging.getLogger("eidet.trust.seal")
BOUND: Final = "bound"  # what says in it which records belong together, in which order
_UNVERIFIED: Final = (
    "anybody may have written or changed it. If you know where it comes from, load(…, unverified=True) "
    "(`eidet load --unverified`) takes it as it is; nothing was loaded"
)


def find_sealed(store: Store) -> SealedStore | None:
    """The sealed store that a store is or is around; None if there is none."""
    if isinstance(store, SealedStore):
        return store
    return find_sealed(store.inner) if isinstance(store, PassthroughStore) else None


def export_sealed(
    store: SealedStore, where: Where, secrets: Sequence[bytes]
) -> tuple[Iterator[Record], dict[str, Any], Sign]:
    """The records as they are kept, what a manifest must say to open them elsewhere, and who signs."""
    store.fresh()
    scopes = list(verbs.count_scopes(store, where.scope))
    forms = (form for form in verbs.scan(store.inner, where) if form.scope not in store.ring.list_shredded())
    key, carried = store.ring.export_keys(scopes, secrets)
    return forms, {SEALED: carried}, partial(_mac, key)


def _mac(key: bytes, digest: str) -> str:
    """Of the digest of all lines of an export: of its manifest, and of its records in their order."""
    return blake2b(digest.encode(), key=key, digest_size=32).hexdigest()


def open_export(
    records: Iterable[Record], manifest: Mapping[str, Any], store: Store, *, unverified: bool
) -> Iterator[Record]:
    """The records of an export, which may be sealed; `manifest` is that of a file that was verified."""
    carried, sealed = manifest.get(SEALED), find_sealed(store)
    if carried is None:
        if sealed is not None and not unverified:
            raise Refused(f"this export is plain, and the memory is sealed: {_UNVERIFIED}")
        return _check_plain(records)
    if not isinstance(carried, Mapping):
        raise Corrupt("the manifest's sealing data is damaged; nothing was loaded")
    if sealed is None:
        raise Misconfigured(
            f"these records are sealed with the master key {carried.get('master')}: load them into a memory "
            "with that key, Memory(…, key=…)"
        )
    received = sealed.ring.import_keys(carried)
    _check_signature(received, manifest)
    return (open_record(record, received.of(record.scope)) for record in records)


def open_secrets(manifest: Mapping[str, Any], store: Store) -> list[bytes]:
    """The secrets by which records of a sealed export are found by their keys."""
    sealed = find_sealed(store)
    return [] if sealed is None else sealed.ring.import_keys(manifest[SEALED]).list_secrets()


def _check_plain(records: Iterable[Record]) -> Iterator[Record]:
    """A record that is sealed, in a file that does not say by which key, would be blank."""
    for record in records:
        if record.sealed is not None:
            raise Corrupt(
                f"record {record.id!r} of scope {record.scope!r} is sealed, but the manifest does not say by "
                "which key: it was changed; nothing was loaded"
            )
        yield record


def _check_signature(received: Received, manifest: Mapping[str, Any]) -> None:
    digest, mac = manifest.get(SIGNED, ("", ""))
    if not compare_digest(_mac(received.signer(), digest).encode(), mac.encode()):
        raise Corrupt(
            "the export was changed since it was written: its signature is missing or wrong; nothing was "
            "loaded"
        )


@dataclass(frozen=True, slots=True)
class SealedArchive:
    """An archive whose pieces are sealed by the lasting keys of a store.

    No key is kept with them: once a scope is shredded, nobody can read what was archived of it. A
    scope whose key is changed can still be brought back. Each scope's key authenticates all records of a
    piece in their order, and what made their vectors and words.
    """

    archive: Archive
    store: SealedStore

    def keep(self, records: Sequence[Record], manifest: dict[str, Any], *, now: float) -> str:
        self.store.fresh()
        keys = {record.scope: self.store.keys(record.scope) for record in records}
        forms = [seal_record(record, keys[record.scope], LASTING) for record in records]
        lasting = {scope: _fingerprint(some) for scope, some in keys.items()}
        seal = {"identity": self.store.identity, "lasting": lasting}
        bound = {**manifest, SEALED: seal}
        return self.archive.keep(forms, _bind(forms, bound, keys), now=now)

    def names(self) -> list[str]:
        return self.archive.names()

    def manifest(self, name: str) -> dict[str, Any]:
        return self.archive.manifest(name)

    def read(self, name: str) -> Iterator[Record]:
        manifest = self.archive.manifest(name)
        seal = manifest.get(SEALED)
        if seal is None:
            return self.archive.read(name)
        if not isinstance(seal, Mapping) or seal.get("identity") != self.store.identity:
            raise Misconfigured(f"{name} was archived by another sealed memory: only that one can open it")
        forms = list(self.archive.read(name))
        if not self._is_bound(forms, manifest):
            raise Corrupt(
                f"{name}: records were removed, moved or added since it was archived; nothing was loaded"
            )
        return _open_forms(name, forms, self._lasting_keys(seal.get("lasting", {})))

    def _is_bound(self, forms: Sequence[Record], manifest: Mapping[str, Any]) -> bool:
        """Whether these are the records that were archived together, as far as a key is left to tell."""
        seal = manifest[SEALED]
        bound, lasting = seal.get(BOUND), seal.get("lasting")
        if not (isinstance(bound, Mapping) and isinstance(lasting, Mapping)):
            return False
        if any(form.scope not in lasting for form in forms):
            return False
        marks = _mark_piece(forms, manifest, self._lasting_keys(lasting))
        return all(compare_digest(mark, str(bound.get(scope))) for scope, mark in marks.items())

    def _lasting_keys(self, lasting: Mapping[str, str]) -> dict[str, ScopeKeys]:
        """Of the scopes of a piece, but for those that were shredded since."""
        self.store.fresh()
        found = {}
        for scope, mark in lasting.items():
            keys = self.store.opener.find_keys(scope)
            if keys is not None and _fingerprint(keys) == mark:
                found[scope] = keys
        return found

    def expunge(self, name: str, gone: Callable[[Record], bool], *, now: float) -> int:
        """Takes records out of a piece, as the archive inside does; the unreadable are known by their ids."""
        from ...upkeep.archive import ErasableArchive, RewritesPieces  # which imports this module

        self.store.fresh()
        if isinstance(self.archive, RewritesPieces):
            return self.archive.rewrite(name, partial(self._without, gone), now=now)
        if not isinstance(self.archive, ErasableArchive):
            raise Misconfigured(f"{self.archive!r} has no method `expunge(name, gone, now=…)`")
        forms = list(self.archive.read(name))
        kept, left = self._without(gone, forms, self.archive.manifest(name))
        if kept and len(kept) < len(forms):
            self.archive.keep(kept, left, now=now)
        if len(kept) < len(forms):
            self.archive.expunge(name, lambda _: True, now=now)
        return len(forms) - len(kept)

    def _without(
        self, gone: Callable[[Record], bool], forms: list[Record], said: dict[str, Any]
    ) -> tuple[list[Record], dict[str, Any]]:
        """What stays is bound anew, unless the piece was changed: then that is still noticed."""
        kept = [form for form in forms if not gone(self._readable(form))]
        seal = said.get(SEALED)
        if isinstance(seal, Mapping) and self._is_bound(forms, said):
            said = _bind(kept, said, self._lasting_keys(seal["lasting"]))
        return kept, said

    def _readable(self, form: Record) -> Record:
        try:
            return open_record(form, self.store.keys(form.scope))
        except (Shredded, Corrupt):
            return form


def _open_forms(name: str, forms: Iterable[Record], keys: Mapping[str, ScopeKeys]) -> Iterator[Record]:
    lost = 0
    for form in forms:
        if form.scope in keys:
            yield open_record(form, keys[form.scope])
        else:
            lost += 1
    if lost:
        log.warning("%s: %s records belong to scopes whose keys were destroyed", name, lost)


def _bind(
    forms: Sequence[Record], manifest: Mapping[str, Any], keys: Mapping[str, ScopeKeys]
) -> dict[str, Any]:
    """The manifest, in which each scope's key says which records belong together."""
    marks = _mark_piece(forms, manifest, keys)
    return {**manifest, SEALED: {**manifest[SEALED], BOUND: marks}}


def _mark_piece(
    forms: Sequence[Record], manifest: Mapping[str, Any], keys: Mapping[str, ScopeKeys]
) -> dict[str, str]:
    """By scope: its key's mark of all records in their order. Each box is bound to its own columns."""
    parts = [manifest.get(name) for name in ("embedder", "width", "analyzer")]
    parts.append(sorted(manifest[SEALED]["lasting"].items()))
    boxes = [form.sealed or b"" for form in forms]
    piece = pack_parts(b"eidet piece", dump_json(parts).encode(), *boxes)
    return {scope: some.mark(piece).hex() for scope, some in keys.items()}


def _fingerprint(keys: ScopeKeys) -> str:
    """Tells the lasting key of a scope from the one it had before it was shredded."""
    return keys.mark(b"fingerprint").hex()


def check_piece(archive: Archive, name: str, manifest: Mapping[str, Any]) -> None:
    """`Refused` for a plain piece in the archive of a sealed memory, before it is restored."""
    if isinstance(archive, SealedArchive) and SEALED not in manifest:
        raise Refused(f"{name} is plain, and the memory is sealed: {_UNVERIFIED}")


def archive_for(store: Store, archive: Archive | None) -> Archive | None:
    """An archive for what a store deletes: sealed, once, if the store is."""
    sealed = find_sealed(store)
    if archive is None or sealed is None or isinstance(archive, SealedArchive):
        return archive
    return SealedArchive(archive, sealed)
