"""The keys of a store's scopes: random, wrapped under the master key, kept in the store's settings.

    seal                     which master key, in which form, and a proof that nobody else can give
    seal:key:HASH:NUMBER     a scope's key, wrapped; nothing but the scope once it is destroyed
    seal:shredded:HASH       a scope whose keys were all destroyed

A number is given once (`configure(fresh=True)` decides who gives it), so two processes that begin a
scope at once end up with one key.
"""

from __future__ import annotations

import json
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Any, Final, Protocol, runtime_checkable

from ...core.errors import Corrupt, Misconfigured, NotFound
from ...core.validate import dump_json
from ...store import SETTINGS, Store, Transaction, verbs
from . import KeyService, Shredded, WrongKey
from .boxes import SECRET_BYTES, ScopeKeys, pack_parts
from .service import KEY_BYTES
from .unsealed import KEYS, SEAL
from .wrapped import Received, context, signer_context, unwrap

FORMAT: Final = 2
FORMER: Final = 1  # boxes were bound to the id of their record alone; `former` reads it
KEPT: Final = 10_000  # scopes whose keys are held in RAM
ACTORS: Final = "\0actors"  # no scope can be called so: the key for the names of who acted
_SHREDDED: Final = "seal:shredded:"

Noted = Callable[[str, str], None]  # what happened to a key (unwrap, rotate, …), of which scope


@runtime_checkable
class SettingsFile(Protocol):
    """The settings of a file that is no store at the moment: somebody is sealing it."""

    @property
    def identity(self) -> str: ...
    def setting(self, name: str) -> str | None: ...
    def settings(self, prefix: str) -> dict[str, str]: ...
    def configure(self, settings: Mapping[str, str], *, fresh: bool = False) -> None: ...


class TransactionShelf:
    """The settings of a store inside of a transaction, as a keyring asks for them."""

    def __init__(self, identity: str, transaction: Transaction) -> None:
        self.identity = identity
        self._transaction = transaction

    def setting(self, name: str) -> str | None:
        return self._transaction.values(SETTINGS, (name,)).get(name)

    def settings(self, prefix: str) -> dict[str, str]:
        return self._transaction.values(SETTINGS, prefix=prefix)

    def configure(self, settings: Mapping[str, str], *, fresh: bool = False) -> None:
        kept = self._transaction.values(SETTINGS, list(settings)) if fresh else {}
        self._transaction.set_values(SETTINGS, {**settings, **kept})


Shelf = Store | SettingsFile  # what holds wrapped keys


def _get_setting(shelf: Shelf, name: str) -> str | None:
    return shelf.setting(name) if isinstance(shelf, SettingsFile) else verbs.get_setting(shelf, name)


def _get_settings(shelf: Shelf, prefix: str) -> dict[str, str]:
    return shelf.settings(prefix) if isinstance(shelf, SettingsFile) else verbs.get_settings(shelf, prefix)


def _set_settings(shelf: Shelf, settings: Mapping[str, str], *, fresh: bool = False) -> None:
    if isinstance(shelf, SettingsFile):
        shelf.configure(settings, fresh=fresh)
    else:
        verbs.set_settings(shelf, settings, fresh=fresh)


def _hash(scope: str) -> str:
    return blake2b(scope.encode(), digest_size=16).hexdigest()


def _name(scope: str, number: int) -> str:
    return f"{KEYS}{_hash(scope)}:{number}"


def is_sealed(shelf: Shelf) -> bool:
    return _get_setting(shelf, SEAL) is not None


def read_master(shelf: Shelf) -> dict[str, Any]:
    """What the store says of its master key."""
    told = _get_setting(shelf, SEAL)
    if told is None:
        raise Misconfigured("this memory is not sealed: it has no keys")
    return _read_claim(told)


def _read_claim(told: str) -> dict[str, Any]:
    try:
        said: dict[str, Any] = json.loads(told)
        _ = said["master"], b64decode(said["proof"], validate=True)
    except (ValueError, KeyError, TypeError) as error:
        raise Corrupt(f"this memory's record of its master key is damaged ({error!r})") from error
    if said.get("format") not in (FORMER, FORMAT):
        raise Misconfigured(
            f"this memory is sealed in format {said.get('format')}: pip install --upgrade eidet"
        )
    return said


def begin(shelf: Shelf, service: KeyService) -> None:
    """Says in a store that is to be sealed which master key it has; whoever comes first says it."""
    _set_settings(shelf, {SEAL: claim(shelf.identity, service)}, fresh=True)


def claim(identity: str, service: KeyService, former_until: float | None = None) -> str:
    """Says which master key a store has. Events up to `former_until` may be of the former form.

    The proof is bound to all of that, so that nobody can have what is kept now read in the former form.
    """
    said: dict[str, Any] = {"format": FORMAT, "master": service.name}
    if former_until is not None:
        said["former_until"] = former_until
    proof = service.wrap(secrets.token_bytes(16), _proof_context(identity, said))
    return dump_json({**said, "proof": b64encode(proof).decode()})


def _proof_context(identity: str, said: Mapping[str, Any]) -> bytes:
    if said["format"] == FORMER:
        return pack_parts(b"eidet proof", identity.encode())
    bound = dump_json([said["format"], said.get("former_until")])
    return pack_parts(b"eidet proof", identity.encode(), bound.encode())


def check_master(shelf: Shelf, service: KeyService) -> None:
    """`Misconfigured` if the store was sealed with another master key."""
    said = read_master(shelf)
    try:
        service.unwrap(b64decode(said["proof"]), _proof_context(shelf.identity, said))
    except WrongKey:
        raise Misconfigured(
            f"this memory was sealed with the master key {said['master']}, and this one is {service.name}: "
            "give the right key (nothing was changed)"
        ) from None


class Outdated(Misconfigured):
    """The master key was changed since the store was opened."""


class Keyring:
    """The keys of one store, unwrap when first needed and held until its epoch changes."""

    def __init__(
        self, shelf: Shelf, service: KeyService, noted: Noted | None = None, said: str | None = None
    ) -> None:
        """`said` is what the store is known to say of its master key; else it is looked at."""
        if said is None:
            check_master(shelf, service)
            said = _get_setting(shelf, SEAL) or ""
        self._shelf = shelf
        self._service = service
        self._held: dict[str, ScopeKeys] = {}
        self._dead: frozenset[str] | None = None
        self._said = said
        told = _read_claim(said)
        self.is_former: Any = told["format"] == FORMER
        self.former_until: float | None = told.get("former_until")  # events up to then may be of that form
        self.noted: Noted = noted or note_nothing
        self.epoch = -1  # of the store, when what is held began to be read

    def on(self, shelf: Shelf, noted: Noted) -> Keyring:
        """The same keys as another shelf has them: a transaction, in which keys can be made."""
        return Keyring(shelf, self._service, noted, self._said)

    def drop(self, scope: str) -> None:
        """What is held of one scope is not believed any more: its key was just made."""
        self._held.pop(scope, None)
        self._dead = None

    def as_of(self, epoch: int) -> None:
        """Whatever was read before this epoch may be outdated: keys were changed or destroyed since.

        A scope can begin at any time, for the first time or anew: what is not there is never held to be so.
        """
        if epoch != self.epoch:
            self._held, self._dead, self.epoch = {}, None, epoch
        elif self._dead:
            self._dead = None

    def renew(self) -> None:
        """Nothing that is held is believed any more."""
        self._held, self._dead = {}, None

    # Reading.

    def of(self, scope: str) -> ScopeKeys | None:
        """The keys of a scope; None if it never had any, `Shredded` if they were destroyed."""
        held = self._held
        try:
            return held[scope]
        except KeyError:
            return self._hold(held, scope)

    def _hold(self, held: dict[str, ScopeKeys], scope: str) -> ScopeKeys | None:
        """Reads keys and holds them among those of before: they may be dropped meanwhile, by a new epoch."""
        keys = self._read(scope)
        if len(held) >= KEPT:
            held.clear()
        if keys is not None:
            held[scope] = keys
        return keys

    def _read(self, scope: str) -> ScopeKeys | None:
        wrapped = self.list_wrapped(scope)
        self._check_same_master()
        if not wrapped:
            return None
        if not wrapped[max(wrapped)]:
            raise Shredded(scope)
        opened = {number: self._unwrap_key(scope, number, key) for number, key in wrapped.items() if key}
        self.noted("unwrap", scope)
        return ScopeKeys(self._shelf.identity, scope, opened)

    def list_wrapped(self, scope: str) -> dict[int, str]:
        """A scope's keys as they are kept, by number; empty where they were destroyed."""
        told = _get_settings(self._shelf, f"{KEYS}{_hash(scope)}:")
        return {int(name.rpartition(":")[2]): value.partition(" ")[0] for name, value in told.items()}

    def _unwrap_key(self, scope: str, number: int, key: str) -> bytes:
        return unwrap(self._service, self._shelf.identity, scope, number, key)

    def list_shredded(self) -> frozenset[str]:
        """The scopes whose keys were destroyed."""
        if self._dead is None:
            self._dead = frozenset(filter(None, _get_settings(self._shelf, _SHREDDED).values()))
        return self._dead

    def scopes(self) -> list[str]:
        """All that ever had a key."""
        told = _get_settings(self._shelf, KEYS).values()
        return sorted({value.partition(" ")[2] for value in told})

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
        self.noted("new", scope)
        self.renew()
        return self._there(scope)

    def _make(self, scope: str, number: int, secret: bytes) -> None:
        wrapped = self._service.wrap(secret, context(self._shelf.identity, scope, number))
        _set_settings(
            self._shelf, {_name(scope, number): f"{b64encode(wrapped).decode()} {scope}"}, fresh=True
        )
        self._check_same_master()

    def _check_same_master(self) -> None:
        """Asked after keys were read or made: those of another master key are none of ours."""
        if _get_setting(self._shelf, SEAL) != self._said:
            raise Outdated("the master key was changed meanwhile: open the memory again with the new one")

    def _there(self, scope: str) -> ScopeKeys:
        keys = self.of(scope)
        if keys is None:
            raise NotFound(f"scope {scope!r} has no key: nothing was ever stored in it")
        return keys

    def add(self, scope: str) -> ScopeKeys:
        """A new key for what is written from now on; the lasting part of the secret stays."""
        keys = self._there(scope)
        old = self._unwrap_key(scope, keys.newest, self.list_wrapped(scope)[keys.newest])
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
        check_master(self._shelf, self._service)
        done: set[str] = set()
        settings = {SEAL: claim(self._shelf.identity, service, self.former_until)}
        while rest := {n: v for n, v in _get_settings(self._shelf, KEYS).items() if n not in done}:
            done |= rest.keys()
            settings |= {name: self._rewrap_key(service, name, value) for name, value in rest.items()}
            _set_settings(self._shelf, settings)
            settings = {}
        if settings:
            _set_settings(self._shelf, settings)
        self._service, self._said = service, _get_setting(self._shelf, SEAL) or ""
        self.noted("rewrap", "")
        self.renew()
        return sum(not value.startswith(" ") for value in _get_settings(self._shelf, KEYS).values())

    def _rewrap_key(self, service: KeyService, name: str, value: str) -> str:
        key, _, scope = value.partition(" ")
        if not key:
            return value
        number = int(name.rpartition(":")[2])
        secret = self._unwrap_key(scope, number, key)
        fresh = service.wrap(secret, context(self._shelf.identity, scope, number))
        return f"{b64encode(fresh).decode()} {scope}"

    # Elsewhere.

    def export_keys(self, scopes: Iterable[str]) -> dict[str, Any]:
        """What somebody with the same master key needs to open records of these scopes elsewhere."""
        keys: dict[str, dict[str, str]] = {}
        for scope in scopes:
            keys[scope] = {str(n): key for n, key in self.list_wrapped(scope).items() if key}
        return {"identity": self._shelf.identity, "master": self._service.name, "keys": keys}

    def make_export_key(self) -> tuple[bytes, str]:
        """A key that signs one export, and the same as it is carried along."""
        key = secrets.token_bytes(KEY_BYTES)
        wrapped = self._service.wrap(key, signer_context(self._shelf.identity))
        return key, b64encode(wrapped).decode()

    def import_keys(self, carried: Mapping[str, Any]) -> Received:
        return Received(carried, self._service)


def note_nothing(what: str, scope: str) -> None:
    del what, scope
