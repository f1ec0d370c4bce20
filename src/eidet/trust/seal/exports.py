"""Sealed records outside of their store: exports and archives."""

from __future__ import annotations

import json
import logging
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from hmac import compare_digest
from secrets import token_bytes
from typing import TYPE_CHECKING, Any, Final

from ...core.errors import Corrupt, Misconfigured, Refused
from ...core.record import Record
from ...core.validate import dump_json
from ...core.where import Where
from ...store import Store, verbs
from ...store.export_file import SEALED, SIGNED, Sign
from ...store.passthrough import PassthroughStore
from . import Shredded, WrongKey
from .boxes import LASTING, SECRET_BYTES, TAG_BYTES, ScopeKeys
from .codec import open_record, seal_record
from .keyring import ACTORS
from .store import SealedStore

if TYPE_CHECKING:
    from ...upkeep.archive import Archive

log: logging.Logger = logging.getLogger("eidet.trust.seal")
_CONTEXT: Final = b"eidet export"  # what the wrapped key of an export is bound to
_NO_OWNER: Final = bytes(TAG_BYTES)
_UNVERIFIED: Final = (
    "anybody may have written or changed it. If you know where it comes from, load(…, unverified=True) "
    "(`eidet load --unverified`) takes it as it is; nothing was loaded"
)


def find_sealed(store: Store) -> SealedStore | None:
    """Returns the sealed store that a store is or wraps; None if there is none."""
    if isinstance(store, SealedStore):
        return store
    return find_sealed(store.inner) if isinstance(store, PassthroughStore) else None


class _ExportKey:
    """The key of one export: it seals and signs the export, and travels in its manifest, wrapped.

    Whoever has the master key can load the export; the keys of the scopes stay where they are.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._keys: dict[str, ScopeKeys] = {}

    def of(self, scope: str) -> ScopeKeys:
        if scope not in self._keys:
            secret = blake2b(scope.encode(), key=self._secret, digest_size=SECRET_BYTES).digest()
            self._keys[scope] = ScopeKeys("export", scope, {1: secret})
        return self._keys[scope]

    def sign(self, digest: str) -> str:
        """A MAC of the digest of all lines: of the manifest, and of the records in their order."""
        return self.of(ACTORS).mark(digest.encode()).hex()

    def seal_secrets(self, secrets: Sequence[bytes]) -> str:
        box = self.of(ACTORS).seal("secrets", _NO_OWNER, dump_json([one.hex() for one in secrets]).encode())
        return b64encode(box).decode()

    def open_secrets(self, box: str) -> list[bytes]:
        return list(map(bytes.fromhex, json.loads(self.of(ACTORS).open("secrets", b64decode(box)))))


def export_sealed(
    store: SealedStore, where: Where, secrets: Sequence[bytes]
) -> tuple[Iterator[Record], dict[str, Any], Sign]:
    """Returns the re-sealed records, what a manifest needs to open them elsewhere, and the signer."""
    store.fresh()
    secret, service = token_bytes(SECRET_BYTES), store.ring.service
    key = _ExportKey(secret)
    shredded = store.ring.list_shredded()
    forms = (form for form in verbs.scan(store.inner, where) if form.scope not in shredded)
    records = (seal_record(store.opener.open(form), key.of(form.scope)) for form in forms)
    wrapped = b64encode(service.wrap(secret, _CONTEXT)).decode()
    carried = {"master": service.name, "key": wrapped, "secrets": key.seal_secrets(secrets)}
    return records, {SEALED: carried}, key.sign


def open_export(
    records: Iterable[Record], manifest: Mapping[str, Any], store: Store, *, unverified: bool
) -> Iterator[Record]:
    """The records of an export, which may be sealed; `manifest` is that of a file that was verified."""
    sealed = find_sealed(store)
    if SEALED not in manifest:
        if sealed is not None and not unverified:
            raise Refused(f"this export is plain, and the memory is sealed: {_UNVERIFIED}")
        return _check_plain(records)
    key = _read_key(manifest, sealed)
    return (open_record(record, key.of(record.scope)) for record in records)


def open_secrets(manifest: Mapping[str, Any], store: Store) -> list[bytes]:
    """The secrets by which records of a sealed export are found by their keys."""
    return _read_key(manifest, find_sealed(store)).open_secrets(manifest[SEALED]["secrets"])


def _read_key(manifest: Mapping[str, Any], sealed: SealedStore | None) -> _ExportKey:
    """The key of an export, after its signature was checked."""
    carried = manifest[SEALED]
    if not isinstance(carried, Mapping):
        raise Corrupt("the manifest's sealing data is damaged; nothing was loaded")
    master = carried.get("master")
    if sealed is None:
        raise Misconfigured(
            f"these records are sealed with the master key {master}: load them into a memory with that key, "
            "Memory(…, key=…)"
        )
    service = sealed.ring.service
    try:
        key = _ExportKey(service.unwrap(b64decode(str(carried.get("key")), validate=True), _CONTEXT))
    except (WrongKey, ValueError):
        raise Misconfigured(
            f"the export cannot be opened with the master key {service.name}: it was sealed with another one "
            f"({master}), or changed; nothing was loaded"
        ) from None
    digest, mac = manifest.get(SIGNED, ("", ""))
    if not compare_digest(key.sign(digest).encode(), mac.encode()):
        raise Corrupt(
            "the export was changed since it was written: its signature is missing or wrong; nothing was "
            "loaded"
        )
    return key


def _check_plain(records: Iterable[Record]) -> Iterator[Record]:
    """Refuses a sealed record in a file that does not say by which key: it would be blank."""
    for record in records:
        if record.sealed is not None:
            raise Corrupt(
                f"record {record.id!r} of scope {record.scope!r} is sealed, but the manifest does not say by "
                "which key: it was changed; nothing was loaded"
            )
        yield record


@dataclass(frozen=True, slots=True)
class SealedArchive:
    """An archive whose records are sealed by a store's lasting keys.

    It holds no key: once a scope is shredded, nobody can read what was archived of it. A scope whose key is
    changed can still be brought back.
    """

    archive: Archive
    store: SealedStore

    def keep(self, records: Sequence[Record], manifest: dict[str, Any], *, now: float) -> str:
        self.store.fresh()
        keys = {record.scope: self.store.keys(record.scope) for record in records}
        forms = [seal_record(record, keys[record.scope], LASTING) for record in records]
        lasting = {scope: _fingerprint(some) for scope, some in keys.items()}
        seal = {"identity": self.store.identity, "lasting": lasting}
        return self.archive.keep(forms, {**manifest, SEALED: seal}, now=now)

    def names(self) -> list[str]:
        return self.archive.names()

    def manifest(self, name: str) -> dict[str, Any]:
        return self.archive.manifest(name)

    def read(self, name: str) -> Iterator[Record]:
        seal = self.archive.manifest(name).get(SEALED)
        if seal is None:
            return self.archive.read(name)
        if not isinstance(seal, Mapping) or seal.get("identity") != self.store.identity:
            raise Misconfigured(f"{name} was archived by another sealed memory: only that one can open it")
        self.store.fresh()
        return iter([*self._open_each(name, seal.get("lasting"))])

    def _open_each(self, name: str, lasting: object) -> Iterator[Record]:
        """The records, without those of scopes that were shredded since."""
        if not isinstance(lasting, Mapping):
            raise Corrupt(f"{name}: its manifest was changed since it was archived; nothing was loaded")
        lost = 0
        for form in self.archive.read(name):
            keys = self.store.opener.find_keys(form.scope)
            if form.scope not in lasting:
                raise Corrupt(f"{name}: records were added since it was archived; nothing was loaded")
            if keys is not None and _fingerprint(keys) == lasting[form.scope]:
                yield open_record(form, keys)
            else:
                lost += 1
        if lost:
            log.warning("%s: %s records belong to scopes whose keys were destroyed", name, lost)

    def expunge(self, name: str, gone: Callable[[Record], bool], *, now: float) -> int:
        """Takes records out of a piece, as the archive inside does; the unreadable are known by their ids."""
        from ...upkeep.archive import ErasableArchive  # which imports this module

        self.store.fresh()
        if not isinstance(self.archive, ErasableArchive):
            raise Misconfigured(f"{self.archive!r} has no method `expunge(name, gone, now=…)`")
        return self.archive.expunge(name, lambda form: gone(self._readable(form)), now=now)

    def _readable(self, form: Record) -> Record:
        try:
            return open_record(form, self.store.keys(form.scope))
        except (Shredded, Corrupt):
            return form


def _fingerprint(keys: ScopeKeys) -> str:
    """Tells the lasting key of a scope from the one it had before it was shredded."""
    return keys.mark(b"fingerprint").hex()


def check_piece(archive: Archive, name: str, manifest: Mapping[str, Any]) -> None:
    """`Refused` for a plain piece in the archive of a sealed memory, before it is restored."""
    if isinstance(archive, SealedArchive) and SEALED not in manifest:
        raise Refused(f"{name} is plain, and the memory is sealed: {_UNVERIFIED}")


def archive_for(store: Store, archive: Archive) -> Archive:
    """An archive for what a store deletes: sealed, once, if the store is."""
    sealed = find_sealed(store)
    if sealed is None or isinstance(archive, SealedArchive):
        return archive
    return SealedArchive(archive, sealed)
