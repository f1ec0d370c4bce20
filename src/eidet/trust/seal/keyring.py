"""The keys of a store's scopes: random, wrapped under the master key, kept in the store's settings.

    seal                     which master key, in which form, and a proof that nobody else can give
    seal:key:HASH:NUMBER     a scope's key, wrapped; nothing but the scope once it is destroyed
    seal:shredded:HASH       a scope whose keys were all destroyed

A number is given once (`SetSettings(fresh=True)` decides who gives it), so two processes that begin a
scope at once end up with one key.
"""

from __future__ import annotations

import json
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeVar

from ...core.errors import Corrupt, Misconfigured, NotFound
from ...core.validate import dump_json
from ...store import SETTINGS, Store, Transaction
from ...store.verbs.values import SetSettings
from . import KeyService, Shredded, WrongKey
from .boxes import SECRET_BYTES, ScopeKeys, pack_parts
from .unsealed import KEYS, SEAL
from .wrapped import context, unwrap, unwrap_scope

T = TypeVar("T")

FORMAT: Final = 1
KEPT: Final = 10_000  # scopes whose keys are held in RAM
ACTORS: Final = "\0actors"  # no scope can be called so: the key for the names of who acted
_SHREDDED: Final = "seal:shredded:"

Noted = Callable[[str, str], None]  # what happened to a key (unwrap, rotate, …), of which scope


class JobShelf:
    """The settings of a store as a job sees them: keys are made in its transaction, and undone with it."""

    def __init__(self, identity: str, transaction: Transaction) -> None:
        self.identity = identity
        self.values = transaction.values
        self._transaction = transaction

    def write(self, job: Callable[[Transaction], T]) -> T:
        return job(self._transaction)


Shelf = Store | JobShelf  # what holds wrapped keys


class MasterClaim(NamedTuple):
    """What a store says of its master key: as it is kept, and what that says."""

    text: str
    said: dict[str, Any]


@dataclass(slots=True)
class EpochKeys:
    """What was read in one epoch. A new epoch begins a new one: nothing stale gets in, whoever reads when."""

    epoch: int
    keys: dict[str, ScopeKeys | None] = field(default_factory=dict)  # by scope
    shredded: frozenset[str] | None = None


def _hash(scope: str) -> str:
    return blake2b(scope.encode(), digest_size=16).hexdigest()


def _name(scope: str, number: int) -> str:
    return f"{KEYS}{_hash(scope)}:{number}"


def _read_settings(shelf: Shelf, prefix: str) -> dict[str, str]:
    return shelf.values(SETTINGS, prefix=prefix)


def _set_settings(shelf: Shelf, settings: Mapping[str, str], *, fresh: bool = False) -> None:
    shelf.write(SetSettings(settings, fresh))


def is_sealed(shelf: Shelf) -> bool:
    return SEAL in shelf.values(SETTINGS, (SEAL,))


def read_master(shelf: Shelf) -> dict[str, Any]:
    """What the store says of its master key."""
    return _read_claim(shelf).said


def _read_claim(shelf: Shelf) -> MasterClaim:
    text = shelf.values(SETTINGS, (SEAL,)).get(SEAL)
    if text is None:
        raise Misconfigured("this memory is not sealed: it has no keys")
    try:
        claim: dict[str, Any] = json.loads(text)
        _ = claim["master"], b64decode(claim["proof"], validate=True)
    except (ValueError, KeyError, TypeError) as error:
        raise Corrupt(f"this memory's record of its master key is damaged ({error!r})") from error
    if claim.get("format") != FORMAT:
        raise Misconfigured(
            f"this memory is sealed in format {claim.get('format')}: pip install --upgrade eidet"
        )
    return MasterClaim(text, claim)


def begin(shelf: Shelf, service: KeyService) -> None:
    """Says in a store that is to be sealed which master key it has; whoever comes first says it."""
    _set_settings(shelf, {SEAL: make_claim(shelf.identity, service)}, fresh=True)


def make_claim(identity: str, service: KeyService) -> str:
    """Says which master key a store has, with a proof that only its holder can give."""
    proof = service.wrap(secrets.token_bytes(16), _proof_context(identity))
    return dump_json({"format": FORMAT, "master": service.name, "proof": b64encode(proof).decode()})


def _proof_context(identity: str) -> bytes:
    return pack_parts(b"eidet proof", identity.encode(), str(FORMAT).encode())


def check_master(shelf: Shelf, service: KeyService) -> MasterClaim:
    """What the store says of its master key; `Misconfigured` if that is another one."""
    claim = _read_claim(shelf)
    try:
        service.unwrap(b64decode(claim.said["proof"]), _proof_context(shelf.identity))
    except WrongKey:
        raise Misconfigured(
            f"this memory was sealed with the master key {claim.said['master']}, and this one is "
            f"{service.name}: give the right key (nothing was changed)"
        ) from None
    return claim


class Outdated(Misconfigured):
    """The master key was changed since the store was opened."""


class Keyring:
    """The keys of one store, unwrapped when first needed and held until its epoch changes.

    That a scope has none is not held: another process may begin it at any time. Inside of a job nobody else
    does: the ring of a job asks that of its store, `outer`, and then its own transaction.
    """

    def __init__(
        self,
        shelf: Shelf,
        service: KeyService,
        noted: Noted | None = None,
        claim: MasterClaim | None = None,
        outer: Keyring | None = None,
    ) -> None:
        self._shelf = shelf
        self.service = service
        self._claim = claim or check_master(shelf, service)
        self._outer = outer
        self.held: EpochKeys = EpochKeys(-1)
        self.noted: Noted = noted or note_nothing

    def inside(self, transaction: Transaction, noted: Noted, epoch: int | None = None) -> Keyring:
        """The same keys as a job sees them. Those of here are right there only if they are of that epoch."""
        outer = self if self.held.epoch == epoch else None
        shelf = JobShelf(self._shelf.identity, transaction)
        return Keyring(shelf, self.service, noted, self._claim, outer)

    def learn(self, ring: Keyring, epoch: int) -> None:
        """Holds what the ring of a job read or made in an epoch, now that the job is committed."""
        if epoch > self.held.epoch:
            self.as_of(epoch)
        held = self.held
        if epoch == held.epoch:
            held.keys.update(filter(itemgetter(1), ring.held.keys.items()))
            held.shredded = None

    def as_of(self, epoch: int) -> None:
        """Whatever was read before this epoch may be outdated: keys were changed or destroyed since.

        A scope that was shredded can begin anew in any epoch.
        """
        held = self.held
        if epoch != held.epoch:
            self.held = EpochKeys(epoch)
        elif held.shredded:
            held.shredded = None

    def renew(self) -> None:
        """Nothing that was read before is believed any more."""
        self.held, self._outer = EpochKeys(self.held.epoch), None

    # Reading.

    def of(self, scope: str) -> ScopeKeys | None:
        """The keys of a scope; None if it never had any, `Shredded` if they were destroyed."""
        held = self.held.keys
        try:
            return held[scope]
        except KeyError:
            return self._find_outside(scope) or self._hold(held, scope)

    def _find_outside(self, scope: str) -> ScopeKeys | None:
        """What the job's store has: it tells nothing of a scope that begins in this transaction."""
        try:
            return None if self._outer is None else self._outer.of(scope)
        except Shredded:
            return None

    def _hold(self, held: dict[str, ScopeKeys | None], scope: str) -> ScopeKeys | None:
        """Reads keys and holds them among those of before: they may be dropped meanwhile, by a new epoch."""
        keys = self._read(scope)
        if len(held) >= KEPT:
            held.clear()
        if keys is not None or isinstance(self._shelf, JobShelf):
            held[scope] = keys
        return keys

    def _read(self, scope: str) -> ScopeKeys | None:
        wrapped = self.list_wrapped(scope)
        self._check_same_master()
        if not wrapped:
            return None
        if not wrapped[max(wrapped)]:
            raise Shredded(scope)
        live = {number: key for number, key in wrapped.items() if key}
        keys = unwrap_scope(self.service, self._shelf.identity, scope, live)
        self.noted("unwrap", scope)
        return keys

    def list_wrapped(self, scope: str) -> dict[int, str]:
        """A scope's keys as they are kept, by number; empty where they were destroyed."""
        settings = _read_settings(self._shelf, f"{KEYS}{_hash(scope)}:")
        return {int(name.rpartition(":")[2]): value.partition(" ")[0] for name, value in settings.items()}

    def list_shredded(self) -> frozenset[str]:
        """The scopes whose keys were destroyed."""
        held = self.held
        shredded = held.shredded
        if shredded is None:
            shredded = held.shredded = frozenset(
                filter(None, _read_settings(self._shelf, _SHREDDED).values())
            )
        return shredded

    def scopes(self) -> list[str]:
        """All that ever had a key."""
        return sorted({value.partition(" ")[2] for value in _read_settings(self._shelf, KEYS).values()})

    # Making.

    def open_scope(self, scope: str, *, again: bool) -> ScopeKeys:
        """The keys of a scope, which get made if there are none; after shredding only with `again`."""
        try:
            keys = self.of(scope)
        except (Shredded, Misconfigured) as error:
            if not again or isinstance(error, Outdated):
                raise
            there = self.list_wrapped(scope)
            self.destroy(scope, there)  # what cannot be opened was made under another master key, in vain
            return self._begin(scope, max(there) + 1)
        return keys or self._begin(scope, 1)

    def _begin(self, scope: str, number: int) -> ScopeKeys:
        """Whoever else begins the scope now gives the same number, and one of us is first."""
        self._make(scope, number, secrets.token_bytes(SECRET_BYTES))
        if scope in self.list_shredded():
            _set_settings(self._shelf, {_SHREDDED + _hash(scope): ""})
            self.held.shredded = None
        self.noted("new", scope)
        keys = self._hold(self.held.keys, scope)
        assert keys is not None, "they were just made"
        return keys

    def _make(self, scope: str, number: int, secret: bytes) -> None:
        wrapped = self.service.wrap(secret, context(self._shelf.identity, scope, number))
        _set_settings(
            self._shelf, {_name(scope, number): f"{b64encode(wrapped).decode()} {scope}"}, fresh=True
        )
        self._check_same_master()

    def _check_same_master(self) -> None:
        """Asked after keys were read or made: those of another master key are none of ours."""
        if self._shelf.values(SETTINGS, (SEAL,)).get(SEAL) != self._claim.text:
            raise Outdated("the master key was changed meanwhile: open the memory again with the new one")

    def _there(self, scope: str) -> ScopeKeys:
        keys = self.of(scope)
        if keys is None:
            raise NotFound(f"scope {scope!r} has no key: nothing was ever stored in it")
        return keys

    def add(self, scope: str) -> ScopeKeys:
        """A new key for what is written from now on; the lasting part of the secret stays."""
        keys = self._there(scope)
        kept = self.list_wrapped(scope)[keys.newest]
        old = unwrap(self.service, self._shelf.identity, scope, keys.newest, kept)
        fresh = secrets.token_bytes(SECRET_BYTES // 2)
        self._make(scope, keys.newest + 1, fresh + old[SECRET_BYTES // 2 :])
        self.noted("rotate", scope)
        self.renew()
        return self._there(scope)

    # Destroying.

    def destroy(self, scope: str, numbers: Iterable[int]) -> None:
        _set_settings(self._shelf, {_name(scope, number): f" {scope}" for number in numbers})
        self.renew()

    def shred(self, scope: str) -> None:
        """Destroys every key of a scope, at once; what it sealed can never be read again."""
        gone = {_name(scope, number): f" {scope}" for number in self.list_wrapped(scope)}
        if not gone:
            raise NotFound(f"scope {scope!r} has no key: nothing was ever stored in it")
        _set_settings(self._shelf, {**gone, _SHREDDED + _hash(scope): scope})
        self.noted("shred", scope)
        self.renew()

    # Another master key.

    def rewrap(self, service: KeyService) -> int:
        """Wraps every key under another master key, all at once; how many there were.

        Keys that others made under the old one meanwhile are wrapped anew, too.
        """
        check_master(self._shelf, self.service)
        done: set[str] = set()
        settings = {SEAL: make_claim(self._shelf.identity, service)}
        while rest := {n: v for n, v in _read_settings(self._shelf, KEYS).items() if n not in done}:
            done |= rest.keys()
            settings |= {name: self._rewrap_key(service, name, value) for name, value in rest.items()}
            _set_settings(self._shelf, settings)
            settings = {}
        if settings:
            _set_settings(self._shelf, settings)
        self.service, self._claim = service, _read_claim(self._shelf)
        self.noted("rewrap", "")
        self.renew()
        return sum(not value.startswith(" ") for value in _read_settings(self._shelf, KEYS).values())

    def _rewrap_key(self, service: KeyService, name: str, value: str) -> str:
        key, _, scope = value.partition(" ")
        if not key:
            return value
        number, identity = int(name.rpartition(":")[2]), self._shelf.identity
        secret = unwrap(self.service, identity, scope, number, key)
        fresh = service.wrap(secret, context(identity, scope, number))
        return f"{b64encode(fresh).decode()} {scope}"


def note_nothing(what: str, scope: str) -> None:
    del what, scope
