"""The keys of a store's scopes: random, wrapped under the master key, kept in the store's settings.

    seal                     the master key's name, the format, and a proof that only its holder can make
    seal:key:HASH:NUMBER     a scope's key, wrapped; only the scope's name once the key is destroyed
    seal:shredded:HASH       a scope whose keys were all destroyed

Keys are read and created directly in the store, never within a caller's job, which may be rolled back. Each
number is assigned once, in one transaction, so two processes that begin a scope at once end up with one key.
"""

from __future__ import annotations

import json
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from typing import Any, Final

from ...core.errors import Corrupt, Misconfigured, NotFound
from ...core.scope import Scope
from ...core.validate import dump_json
from ...core.where import Where
from ...store import SETTINGS, Store, Transaction, verbs
from . import KEYS, SEAL, KeyService, Shredded, WrongKey
from .boxes import SECRET_BYTES, ScopeKeys, pack_parts

FORMAT: Final = 1
KEPT: Final = 10_000  # scopes whose keys are held in RAM
ACTORS: Final = "\0actors"  # the name, impossible for a scope, of the key for actors' names
_SHREDDED: Final = "seal:shredded:"

Noted = Callable[[str, str], None]  # called with an event of a key (unwrap, rotate, …) and its scope


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


def read_master(store: Store) -> dict[str, Any]:
    """Reads the store's record of its master key."""
    return _parse_claim(store.values(SETTINGS, (SEAL,)).get(SEAL))


def _parse_claim(text: str | None) -> dict[str, Any]:
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


def check_master(store: Store, service: KeyService) -> str:
    """Returns the store's record of its master key; raises `Misconfigured` if it is of another one."""
    text = store.values(SETTINGS, (SEAL,)).get(SEAL)
    claim = _parse_claim(text)
    try:
        service.unwrap(b64decode(claim["proof"]), _proof_context(store.identity, claim["audited"]))
    except WrongKey:
        raise Misconfigured(
            f"this memory was sealed with the master key {claim['master']}, and this one is "
            f"{service.name}: give the right key (nothing was changed). If it is the right one, the record "
            "of the key was changed outside of Eidet: restore a copy"
        ) from None
    return text or ""


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
    """Reads a scope's wrapped keys by number; a destroyed key is an empty text."""
    settings = source.values(SETTINGS, prefix=f"{KEYS}{_hash(scope)}:")
    return {int(name.rpartition(":")[2]): value.partition(" ")[0] for name, value in settings.items()}


@dataclass(slots=True)
class _EpochKeys:
    """The keys read in one epoch. A new epoch starts empty, so nothing stale survives."""

    epoch: int
    keys: dict[str, ScopeKeys] = field(default_factory=dict)  # by scope
    shredded: frozenset[str] | None = None


class Keyring:
    """The keys of one store, unwrapped on first use and held until its epoch changes.

    The absence of a scope's key is not cached, because another process may create it at any time.
    """

    def __init__(self, store: Store, service: KeyService, noted: Noted | None = None) -> None:
        self._store = store
        self._claim = check_master(store, service)
        self.service: KeyService = service
        self.held: _EpochKeys = _EpochKeys(-1)
        self.noted: Noted = noted or note_nothing

    @property
    def audited(self) -> bool:
        """Whether the store ever had an audit log; only the master key's holder could change that."""
        return bool(_parse_claim(self._claim)["audited"])

    def note_audited(self) -> None:
        """Marks the store as audited in the record of its master key, once."""
        if not self.audited and self._store.writable:
            claim = _make_claim(self._store.identity, self.service, audited=True)
            self._claim = self._store.write(_NoteAudited(claim))

    def as_of(self, epoch: int) -> None:
        """Drops keys that were read in another epoch, as they may have been rotated or destroyed since.

        Also drops the list of shredded scopes, which can be used again within an epoch.
        """
        held = self.held
        if epoch != held.epoch:
            self.held = _EpochKeys(epoch)
        elif held.shredded:
            held.shredded = None

    def renew(self) -> None:
        """Drops everything read so far."""
        self.held = _EpochKeys(self.held.epoch)

    # Reading.

    def of(self, scope: str) -> ScopeKeys | None:
        """Returns the keys of a scope, None if it never had any; raises `Shredded` if they were destroyed."""
        held = self.held.keys  # kept in a local, because a new epoch replaces it
        if scope not in held:
            keys = self._read(scope)
            if keys is None:
                return None
            if len(held) >= KEPT:
                held.clear()
            held[scope] = keys
        return held[scope]

    def _read(self, scope: str) -> ScopeKeys | None:
        wrapped = _list_wrapped(self._store, scope)
        self._check_same_master(self._store)
        if not wrapped:
            return None
        if not wrapped[max(wrapped)]:
            raise Shredded(scope)
        opened = {number: self._unwrap(scope, number, key) for number, key in wrapped.items() if key}
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

    def _check_same_master(self, source: Store | Transaction) -> None:
        """Raises `Misconfigured` if the record of the master key is no longer the one that was opened."""
        if source.values(SETTINGS, (SEAL,)).get(SEAL) != self._claim:
            raise Misconfigured(
                "the master key was changed meanwhile, or an audit log was added: open the memory again "
                "with the new key or the log"
            )

    def list_shredded(self) -> frozenset[str]:
        """Lists the scopes whose keys were destroyed."""
        held = self.held
        if held.shredded is None:
            held.shredded = frozenset(self._store.values(SETTINGS, prefix=_SHREDDED).values())
        return held.shredded

    # Making.

    def make(self, scope: str) -> None:
        """Creates a scope's key if it has none; raises `Shredded` if a shredded scope still holds records."""
        if self._store.write(partial(self._make, scope)):
            self.noted("new", scope)
        self.held.shredded = None

    def _make(self, scope: str, transaction: Transaction) -> bool:
        """Runs the job of `make`. Returns False if another process was first."""
        self._check_same_master(transaction)
        wrapped = _list_wrapped(transaction, scope)
        number = max(wrapped, default=0)
        if wrapped.get(number):
            return False
        if number and list(transaction.find(Where(scope=Scope(scope)), bare=True)):
            raise Shredded(scope)
        new = self._wrap(scope, number + 1, secrets.token_bytes(SECRET_BYTES))
        transaction.set_values(SETTINGS, {**new, _SHREDDED + _hash(scope): None})
        return True

    def _wrap(self, scope: str, number: int, secret: bytes) -> dict[str, str]:
        return {_name(scope, number): _wrap(self.service, self._store.identity, scope, number, secret)}

    def add(self, scope: str) -> ScopeKeys:
        """Adds a key for future writes; keeps the lasting part of the secret."""
        keys = self.of(scope)
        if keys is None:
            raise _without_key(scope)
        secret = self._unwrap(scope, keys.newest, _list_wrapped(self._store, scope)[keys.newest])
        fresh = secrets.token_bytes(SECRET_BYTES // 2) + secret[SECRET_BYTES // 2 :]
        verbs.set_settings(self._store, self._wrap(scope, keys.newest + 1, fresh))
        self.noted("rotate", scope)
        self.renew()
        return self.of(scope) or keys

    # Destroying.

    def destroy(self, scope: str, numbers: Iterable[int]) -> None:
        verbs.set_settings(self._store, {_name(scope, number): f" {scope}" for number in numbers})
        self.renew()

    def shred(self, scope: str, transaction: Transaction) -> None:
        """Destroys every key of a scope in the given transaction; its records can never be read again."""
        gone = {_name(scope, number): f" {scope}" for number in _list_wrapped(transaction, scope)}
        if not gone:
            raise _without_key(scope)
        transaction.set_values(SETTINGS, {**gone, _SHREDDED + _hash(scope): scope})

    # Another master key.

    def rewrap(self, service: KeyService) -> int:
        """Wraps every key with another master key, in one write. Returns the number of keys."""
        check_master(self._store, self.service)
        fresh = {SEAL: _make_claim(self._store.identity, service, audited=self.audited)}
        known: dict[str, str] = {}
        while True:
            kept = self._store.values(SETTINGS, prefix=KEYS)
            new = {name: value for name, value in kept.items() if known.get(name) != value}
            fresh |= {name: self._rewrap_key(service, name, value) for name, value in new.items()}
            known = kept
            if self._store.write(_SwapKeys(kept, fresh)):
                break
        self.service, self._claim = service, fresh[SEAL]
        self.noted("rewrap", "")
        self.renew()
        return sum(not value.startswith(" ") for value in kept.values())

    def _rewrap_key(self, service: KeyService, name: str, value: str) -> str:
        key, _, scope = value.partition(" ")
        if not key:
            return value
        number = int(name.rpartition(":")[2])
        return _wrap(service, self._store.identity, scope, number, self._unwrap(scope, number, key))


@dataclass(frozen=True, slots=True)
class _SwapKeys:
    """Writes `fresh` settings if the wrapped keys are still the `kept` ones. Returns whether they were."""

    kept: Mapping[str, str]
    fresh: Mapping[str, str]

    def __call__(self, transaction: Transaction) -> bool:
        if transaction.values(SETTINGS, prefix=KEYS) != self.kept:
            return False
        transaction.set_values(SETTINGS, self.fresh)
        return True


@dataclass(frozen=True, slots=True)
class _NoteAudited:
    """Replaces the record of the master key unless it says audited already. Returns the one in force."""

    claim: str

    def __call__(self, transaction: Transaction) -> str:
        there = transaction.values(SETTINGS, (SEAL,)).get(SEAL)
        if _parse_claim(there)["audited"]:
            return there or ""
        transaction.set_values(SETTINGS, {SEAL: self.claim})
        return self.claim


def _without_key(scope: str) -> NotFound:
    return NotFound(f"scope {scope!r} has no key: nothing was ever stored in it")


def note_nothing(what: str, scope: str) -> None:
    del what, scope
