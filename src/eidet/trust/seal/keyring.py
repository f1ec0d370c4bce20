"""The keys of a store's scopes: random, wrapped under the master key, kept in the store's settings.

    seal                     the master key's name, the format, and a proof that only its holder can make
    seal:key:HASH:NUMBER     a scope's key, wrapped, and the scope

A scope's key is created in the write that stores its first record, so that both are there or neither is.
Until that write is committed, its transaction alone holds the key.
"""

from __future__ import annotations

import json
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

from ...core.errors import Corrupt, Misconfigured, NotFound
from ...core.record import Event, Record
from ...core.validate import dump_json
from ...store import SETTINGS, Store, Transaction, verbs
from . import KEYS, SEAL, KeyService, WrongKey
from .boxes import SECRET_BYTES, ScopeKeys, pack_parts
from .codec import open_history, open_record

FORMAT: Final = 1
KEPT: Final = 10_000  # scopes whose keys are held in RAM
ACTORS: Final = "\0actors"  # the name, impossible for a scope, of the key for actors' names

Noted = Callable[[str, str], None]  # called with an event of a key (unwrap, shred, …) and its scope


# The record of the master key.


def is_sealed(store: Store) -> bool:
    return SEAL in store.values(SETTINGS, (SEAL,))


def begin(store: Store, service: KeyService) -> None:
    """Records the master key in a store to be sealed, with a key for names; the first process wins."""
    names = _wrap(service, store.identity, ACTORS, 1, secrets.token_bytes(SECRET_BYTES))
    claim = _make_claim(store.identity, service)
    verbs.set_settings(store, {SEAL: claim, _name(ACTORS, 1): names}, fresh=True)


def _make_claim(identity: str, service: KeyService, *, audited: bool = False) -> str:
    """Builds the record of a store's master key and audit, with a proof that only the key can make."""
    proof = service.wrap(secrets.token_bytes(16), _proof_context(identity, audited))
    claim = {"format": FORMAT, "master": service.name, "audited": audited, "proof": b64encode(proof).decode()}
    return dump_json(claim)


def _proof_context(identity: str, audited: bool) -> bytes:
    return pack_parts(b"eidet proof", identity.encode(), str(FORMAT).encode(), b"audited" * audited)


def read_master(source: Store | Transaction) -> dict[str, Any]:
    """Reads a store's record of its master key."""
    text = source.values(SETTINGS, (SEAL,)).get(SEAL)
    if text is None:
        raise Misconfigured("this memory is not sealed: it has no keys")
    try:
        claim: dict[str, Any] = json.loads(text)
        _ = claim["master"], bool(claim["audited"]), b64decode(claim["proof"], validate=True)
    except (ValueError, KeyError, TypeError) as error:
        raise Corrupt(f"this memory's record of its master key is damaged ({error!r})") from error
    if claim.get("format") != FORMAT:
        raise Misconfigured(
            f"this memory is sealed in format {claim.get('format')}: pip install --upgrade eidet"
        )
    return claim


def check_master(source: Store | Transaction, identity: str, service: KeyService) -> bool:
    """Raises `Misconfigured` if a store is sealed with another master key.

    Returns whether it ever had an audit log; only the holder of the key could change that.
    """
    claim = read_master(source)
    try:
        service.unwrap(b64decode(claim["proof"]), _proof_context(identity, claim["audited"]))
    except WrongKey:
        raise Misconfigured(
            f"this memory was sealed with the master key {claim['master']}, and this one is "
            f"{service.name}: give the right key (nothing was changed). If it is the right one, the record "
            "of the key was changed outside of Eidet: restore a copy"
        ) from None
    return bool(claim["audited"])


# The keys of scopes.


def _context(identity: str, scope: str, number: int) -> bytes:
    """Returns the context that a wrapped key is bound to."""
    return pack_parts(b"eidet scope key", identity.encode(), scope.encode(), str(number).encode())


def _hash(scope: str) -> str:
    return blake2b(scope.encode(), digest_size=16).hexdigest()


def _name(scope: str, number: int) -> str:
    return f"{KEYS}{_hash(scope)}:{number}"


def _wrap(service: KeyService, identity: str, scope: str, number: int, secret: bytes) -> str:
    """Returns the setting that holds a key: the wrapped key and the scope."""
    return f"{b64encode(service.wrap(secret, _context(identity, scope, number))).decode()} {scope}"


def _list_wrapped(source: Store | Transaction, scope: str) -> dict[int, str]:
    """Reads a scope's wrapped keys by number; one that format 0.3 destroyed is an empty text."""
    settings = source.values(SETTINGS, prefix=f"{KEYS}{_hash(scope)}:")
    return {int(name.rpartition(":")[2]): value.partition(" ")[0] for name, value in settings.items()}


class Keyring:
    """The keys of one store, unwrapped on first use and held until its epoch changes.

    The absence of a scope's key is not cached, because another process may create it at any time.
    """

    def __init__(self, store: Store, service: KeyService) -> None:
        self._store = store
        self.audited: bool = check_master(store, store.identity, service)
        self.service: KeyService = service
        self.epoch: int = -1
        self._held: dict[str, ScopeKeys] = {}  # by scope, of this epoch
        self.noted: Noted = lambda *_: None

    def note_audited(self) -> None:
        """Marks the store as audited in the record of its master key, once."""
        if self.audited or not self._store.writable:
            return
        claim = _make_claim(self._store.identity, self.service, audited=True)

        def job(transaction: Transaction) -> None:
            check_master(transaction, self._store.identity, self.service)
            transaction.set_values(SETTINGS, {SEAL: claim})

        self._store.write(job)
        self.audited = True

    def as_of(self, epoch: int) -> None:
        """Drops keys that were read in another epoch, as they may have been destroyed since."""
        if epoch != self.epoch:
            self.epoch, self._held = epoch, {}

    # Reading.

    def of(self, scope: str) -> ScopeKeys | None:
        """Returns the keys of a scope; None if it has none."""
        held = self._held  # a new epoch replaces it
        keys = held.get(scope)
        if keys is None and (keys := self.read(self._store, scope)) is not None:
            if len(held) >= KEPT:
                held.clear()
            held[scope] = keys
        return keys

    def keys(self, scope: str) -> ScopeKeys:
        """Returns the keys of a scope with records; raises `Corrupt` if it has none."""
        keys = self.of(scope)
        if keys is None:
            raise Corrupt(f"scope {scope!r} holds records but has no key: restore a copy or an export")
        return keys

    def read(self, source: Store | Transaction, scope: str) -> ScopeKeys | None:
        """Reads the keys of a scope from the store, or as a transaction sees them."""
        wrapped = {number: key for number, key in _list_wrapped(source, scope).items() if key}
        if not wrapped:
            return None
        opened = {number: self._unwrap(scope, number, key) for number, key in wrapped.items()}
        self.noted("unwrap", scope)
        return ScopeKeys(self._store.identity, scope, opened)

    def _unwrap(self, scope: str, number: int, key: str) -> bytes:
        where = _context(self._store.identity, scope, number)
        try:
            secret = self.service.unwrap(b64decode(key, validate=True), where)
        except (WrongKey, ValueError):
            raise Misconfigured(
                f"key {number} of scope {scope!r} cannot be opened with the master key {self.service.name}: "
                "it was wrapped by another one (was the master key changed?), or its bytes were changed"
            ) from None
        if len(secret) != SECRET_BYTES:
            raise Corrupt(f"key {number} of scope {scope!r} has {len(secret)} bytes, not {SECRET_BYTES}")
        return secret

    def open(self, form: Record, how: Callable[[Record, ScopeKeys], Record] = open_record) -> Record:
        """Opens a record of the inner store."""
        return how(form, self.keys(form.scope))

    def open_history(self, events: Sequence[Event]) -> list[Event]:
        """Opens the events of one record, whose scope may have lost its key."""
        return open_history(events, self.of(events[0].scope), self.keys(ACTORS)) if events else []

    # Making and destroying, within the caller's job.

    def make(self, transaction: Transaction, scope: str) -> ScopeKeys:
        """Creates the key of a scope that has none. Its number is new: no destroyed key had it."""
        check_master(transaction, self._store.identity, self.service)
        number, secret = 1 + secrets.randbelow(2**32 - 1), secrets.token_bytes(SECRET_BYTES)
        wrapped = _wrap(self.service, self._store.identity, scope, number, secret)
        self.noted("new", scope)
        transaction.set_values(SETTINGS, {_name(scope, number): wrapped})
        return ScopeKeys(self._store.identity, scope, {number: secret})

    def adopt(self, made: Mapping[str, ScopeKeys], epoch: int | None) -> None:
        """Keeps keys that were made in a job and are committed, unless the epoch has changed since."""
        held = self._held
        if epoch == self.epoch:
            held.update(made)

    def destroy(self, transaction: Transaction, scope: str) -> None:
        """Destroys every key of a scope; what they sealed can never be read again."""
        gone = _list_wrapped(self._store, scope)
        if not gone:
            raise NotFound(f"scope {scope!r} has no key: nothing was ever stored in it")
        self.noted("shred", scope)
        transaction.set_values(SETTINGS, {_name(scope, number): None for number in gone})

    # Another master key.

    def rewrap(self, service: KeyService) -> int:
        """Wraps every key with another master key, in one write. Returns the number of keys."""

        def job(transaction: Transaction) -> int:
            audited = check_master(transaction, self._store.identity, self.service)
            kept = transaction.values(SETTINGS, prefix=KEYS)
            wrapped = [name for name, value in kept.items() if not value.startswith(" ")]
            fresh = {name: self._rewrap_key(service, name, kept[name]) for name in wrapped}
            claim = _make_claim(self._store.identity, service, audited=audited)
            transaction.set_values(SETTINGS, {SEAL: claim, **fresh})
            return len(wrapped)

        count = self._store.write(job)
        self.service, self._held = service, {}
        self.noted("rewrap", "")
        return count

    def _rewrap_key(self, service: KeyService, name: str, value: str) -> str:
        key, _, scope = value.partition(" ")
        number = int(name.rpartition(":")[2])
        return _wrap(service, self._store.identity, scope, number, self._unwrap(scope, number, key))
