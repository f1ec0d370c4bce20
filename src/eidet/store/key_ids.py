"""Ids of records that have a key: keyed hashes, so that neither a key nor a content in it can be guessed.

A caller names such a record by a reference, `core.record.key_id(key)`: a plain hash, which anybody can make,
a client included, and which is never stored. A memory turns it into the id whenever it reads or writes.
The secret is one of the store. Records keep their ids when they are copied or loaded into another store,
so a store also keeps the secrets of those that its records came from.
"""

from __future__ import annotations

import hmac
import secrets as random
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ..core.record import Record, is_reference
from ..core.where import Where
from . import Store, verbs

SETTING: Final = "secret:keys"  # sealed in a sealed store; the first one is the store's own
MOST: Final = 32  # secrets that are kept: each costs a look-up
SECRET_BYTES: Final = 32
_FRESH_SECONDS: Final = 2.0  # how long secrets are used before they are read again


class KeyIds:
    """The ids of the records of a store that have a key."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._known: tuple[bytes, ...] = ()
        self._read_at = float("-inf")

    def make(self, id: str) -> str:
        """Returns the id that a new record gets for a reference; returns any other id as it is."""
        return _name(self._own(), id) if is_reference(id) else id

    def list_ids(self, id: str) -> list[str]:
        """Lists the ids that a reference may stand for; any other id stands for itself."""
        if not is_reference(id):
            return [id]
        return [_name(secret, id) for secret in self.secrets()] or [id]

    def read(self, scope: str, ids: Sequence[str]) -> list[Record | None]:
        """Works like `Store.read`, by ids or references."""
        if not any(map(is_reference, ids)):
            return self._store.read(scope, ids)
        meant = [self.list_ids(id) for id in ids]
        found = iter(self._store.read(scope, [id for some in meant for id in some]))
        return [next(filter(None, [next(found) for _ in some]), None) for some in meant]

    def name_records(self, records: Sequence[Record]) -> list[Record]:
        """Replaces references by ids: that of the stored record if there is one, else a new one."""
        known = self._find_known(records)
        return [
            record.but(id=known.get((record.scope, record.id)) or self.make(record.id))
            if is_reference(record.id)
            else record
            for record in records
        ]

    def _find_known(self, records: Iterable[Record]) -> Mapping[tuple[str, str], str]:
        """Maps (scope, reference) to the ids of stored records, if some may be from another store."""
        wanted: dict[str, list[str]] = {}
        for record in records:
            if is_reference(record.id):
                wanted.setdefault(record.scope, []).append(record.id)
        if not wanted or len(self.secrets()) < 2:
            return {}
        known: dict[tuple[str, str], str] = {}
        for scope, references in wanted.items():
            for reference, there in zip(references, self.read(scope, references), strict=True):
                if there is not None:
                    known[scope, reference] = there.id
        return known

    def resolve(self, where: Where) -> Where:
        """Replaces references in a filter by ids."""
        if where.ids is not None and any(map(is_reference, where.ids)):
            where = replace(where, ids=tuple(id for one in where.ids for id in self.list_ids(one)))
        if where.every or where.some or where.never:
            every, some, never = (
                tuple(map(self.resolve, group)) for group in (where.every, where.some, where.never)
            )
            where = replace(where, every=every, some=some, never=never)
        return where

    def mark(self, content: bytes) -> str:
        """Returns a keyed hash of a content, for comparing it with later ones."""
        return _mark(self._own(), content)

    def list_marks(self, content: bytes) -> list[str]:
        """Returns the mark, and the marks made with the secrets of other stores whose records are here."""
        return [_mark(secret, content) for secret in self.secrets()]

    # Secrets.

    def secrets(self) -> tuple[bytes, ...]:
        """Returns the secrets of the store and of other stores; empty before the first record with a key."""
        with self._lock:
            if time.monotonic() - self._read_at > _FRESH_SECONDS:
                self._known = self._load()
                self._read_at = time.monotonic()
            return self._known

    def adopt(self, others: Iterable[bytes]) -> None:
        """Keeps the secrets of other stores, so that their records are found here by their keys, too."""
        new = [secret for secret in others if secret not in self.secrets()]
        if new:
            self._own()
            self._save((*self.secrets(), *new)[:MOST])

    def _own(self) -> bytes:
        if not self.secrets():
            if not self._store.writable:
                return b""  # a record named by this id is never found
            own = random.token_bytes(SECRET_BYTES).hex()
            verbs.set_settings(self._store, {SETTING: own}, fresh=True)
            self._read_at = float("-inf")
        return self.secrets()[0]

    def _save(self, secrets: Sequence[bytes]) -> None:
        verbs.set_settings(self._store, {SETTING: " ".join(secret.hex() for secret in secrets)})
        self._read_at = float("-inf")

    def _load(self) -> tuple[bytes, ...]:
        return tuple(map(bytes.fromhex, (verbs.get_setting(self._store, SETTING) or "").split()))


def _mark(secret: bytes, content: bytes) -> str:
    return hmac.digest(secret, content, "sha256")[:16].hex()


def _name(secret: bytes, reference: str) -> str:
    return "i" + hmac.digest(secret, reference.encode(), "sha256")[:12].hex()
