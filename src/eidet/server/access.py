"""Access control: callers with scopes, rights and limits, and the file that lists their keys.

[[key]]
name = "support"
scopes = ["acme/support"]     # this scope and all below it; "**" is every scope
rights = ["read", "write"]    # of read, write, forget, admin, agents
hash = "sha256:…"             # written by `eidet keys api`; or `key = "…"` in plain, for trials
requests_per_second = 100     # and the other limits of `_Limits`
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
import secrets
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from ..core.actor import acting_as, acts
from ..core.errors import EidetError, Misconfigured, NotFound, Refused, Unavailable
from ..core.private_files import write_private
from ..core.record import Record
from ..core.scope import ALL, BELOW, Scope

PREFIX: Final = "eidet_"  # by which scanners for leaked secrets recognise our keys
HASH: Final = "sha256:"
_HASHED: Final = re.compile(HASH + "[0-9a-f]{64}")


class Right(StrEnum):
    """A right: what a caller may do in its scopes."""

    READ = "read"
    WRITE = "write"
    FORGET = "forget"
    ADMIN = "admin"
    AGENTS = "agents"  # may sign records with the name of any agent


class _Limits(BaseModel):
    """Limits on what one caller may ask for."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", strict=True)

    requests_per_second: float = Field(default=100.0, gt=0)
    body_bytes: int = Field(default=4_000_000, gt=0)
    records_per_call: int = Field(default=1000, gt=0)
    context_tokens: int = Field(default=32_000, gt=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The sender of a request: the name of its key, its scopes, rights and limits."""

    name: str | None
    scopes: tuple[str, ...] = (ALL,)
    rights: frozenset[Right] = frozenset(Right)
    limits: _Limits = field(default_factory=_Limits)

    @property
    def sees_all(self) -> bool:
        """Whether every scope is open to this caller."""
        return ALL in self.scopes

    def may(self, right: Right) -> bool:
        return right in self.rights

    def reaches(self, scope: Scope) -> bool:
        """Returns whether everything that a scope covers is open to the caller."""
        own = [] if self.sees_all else [Scope.under(prefix) for prefix in self.scopes]
        return self.sees_all or all(any(one in prefix for prefix in own) for one in scope.members)

    def choose_home(self, home: str = Scope().path) -> str:
        """Returns the scope of a request that names none: `home`, or else the first scope of the caller."""
        if self.reaches(Scope.of(home)):
            return home
        return self.scopes[0]

    def view(self, record: Record) -> Record:
        """Returns the record as this caller may see it: without `read`, only its identity."""
        if self.may(Right.READ):
            return record
        return Record(
            id=record.id, scope=record.scope, text="", created=record.created, version=record.version
        )

    @contextmanager
    def act(self, source: str | None = None) -> Iterator[None]:
        """Attributes everything done inside to this caller, in history, audit and signatures."""
        actor = replace(acts(), source=source or acts().source)
        if self.name is not None:
            bound = not self.may(Right.AGENTS)
            actor = replace(actor, by=self.name, agent=self.name, bound=bound)
        token = _caller.set(self)
        try:
            with acting_as(actor):
                yield
        finally:
            _caller.reset(token)


_caller: ContextVar[Caller | None] = ContextVar("eidet_caller", default=None)


def current_caller() -> Caller | None:
    """Returns the caller that this task or thread acts for, or None."""
    return _caller.get()


LOCAL: Final = Caller(name=None, limits=_Limits(requests_per_second=math.inf))


@dataclass(frozen=True, slots=True)
class _ApiKey:
    """A key of the file: the hash of its secret, and its caller."""

    digest: bytes = field(repr=False)
    caller: Caller


def _hash_key(key: str) -> str:
    """Hashes a secret for the keys file. Secrets are 256 random bits, so one round of SHA-256 suffices."""
    return HASH + _digest(key).hex()


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="surrogateescape")).digest()


class KeyRing:
    """The callers of a keys file, which is reloaded whenever it changes.

    Without a file every caller is `LOCAL`. While the file cannot be read, every key is refused.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._mark: tuple[int, ...] | None = None  # so that the first request reads the file again
        self._keys: tuple[_ApiKey, ...] = () if path is None else _read_keys(path)

    @property
    def required(self) -> bool:
        """Whether callers need a key."""
        return self._path is not None

    def find(self, key: str) -> Caller | None:
        """Returns the caller with this key, or None; compares in constant time."""
        digest, found = _digest(key), None
        for one in self._current():
            if hmac.compare_digest(one.digest, digest):
                found = one.caller
        return found

    def _current(self) -> tuple[_ApiKey, ...]:
        if self._path is None:
            return ()
        try:
            mark = _mark_of(self._path)
            if mark != self._mark:
                self._keys = _read_keys(self._path)
                self._mark = mark
        except (OSError, EidetError) as error:
            self._mark = None
            raise Unavailable(f"the keys file cannot be read: {error}", retry_after=1.0) from error
        return self._keys


def _mark_of(path: Path) -> tuple[int, ...]:
    """Returns a fingerprint that changes whenever the file is written or replaced."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


class _Entry(_Limits):
    """One entry [[key]] of the file, with a `hash`, or for trials a `key` in plain text."""

    name: str
    scopes: list[str] = Field(min_length=1)
    rights: list[Annotated[Right, Field(strict=False)]] = Field(min_length=1)
    hash: str | None = None
    key: str | None = Field(None, min_length=8)

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if not name.strip() or not name.isprintable():
            raise ValueError("a key needs a name")
        return name

    @field_validator("scopes")
    @classmethod
    def _check_scopes(cls, scopes: list[str]) -> list[str]:
        return list(map(_parse_scope, scopes))

    @model_validator(mode="after")
    def _check_secret(self) -> _Entry:
        if (self.key is None) == (self.hash is None):
            raise ValueError("it needs either hash or key: `eidet keys api NAME` writes one")
        if self.hash is not None and not _HASHED.fullmatch(self.hash):
            raise ValueError(f'hash must be "{HASH}" and 64 hexadecimal digits')
        return self

    def to_key(self) -> _ApiKey:
        limits = _Limits(**self.model_dump(include=set(_Limits.model_fields)))
        caller = Caller(
            name=self.name, scopes=tuple(self.scopes), rights=frozenset(self.rights), limits=limits
        )
        return _ApiKey(bytes.fromhex((self.hash or _hash_key(self.key or "")).removeprefix(HASH)), caller)


class _KeysFile(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    key: list[_Entry] = Field(default_factory=list)


def _read_keys(path: Path) -> tuple[_ApiKey, ...]:
    """Reads the keys of a file; `Misconfigured` names the entry that is wrong, and shows no secret."""
    try:
        entries = _KeysFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).key
    except OSError as error:
        raise Misconfigured(f"the keys file {path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        wrong = error.errors(include_input=False)[0]
        place = ".".join(map(str, wrong["loc"]))
        raise Misconfigured(f"the keys file {path}, {place}: {wrong['msg']}") from None
    except ValueError as error:
        raise Misconfigured(f"the keys file {path} is not TOML: {error}") from None
    for name, count in Counter(entry.name for entry in entries).items():
        if count > 1:
            raise Misconfigured(f"{path}: two keys are named {name!r}")
    return tuple(entry.to_key() for entry in entries)


def _parse_scope(said: str) -> str:
    """Returns the path of a scope, which includes all below it; `**` is every scope."""
    return ALL if said == ALL else Scope.exactly(said.removesuffix(BELOW)).path


def parse_rights(said: Iterable[str]) -> frozenset[Right]:
    """Parses the rights of an option `--rights`."""
    named = list(said)
    if unknown := set(named) - set(Right):
        raise Misconfigured(f"--rights: unknown right {min(unknown)!r}; there are {', '.join(Right)}")
    return frozenset(map(Right, named))


HEAD = "[[key]]"
_BEFORE_HEAD: Final = re.compile(r"^(?=[ \t]*\[ *\[ *key *\] *\])", re.MULTILINE)


def add_key(path: Path, name: str, scopes: Iterable[str], rights: Iterable[str]) -> str:
    """Adds a key under a name and returns its secret, which is stored nowhere."""
    there = list_keys(path)
    if any(key.caller.name == name for key in there):
        raise Refused(f"{path} has a key named {name!r}: revoke it first, or choose another name")
    key = PREFIX + secrets.token_urlsafe(32)
    entry = _write_entry(name, map(_parse_scope, scopes), parse_rights(rights), _hash_key(key))
    text = path.read_text(encoding="utf-8").rstrip() + "\n\n" if path.exists() else ""
    _write(path, text + entry)
    return key


def list_keys(path: Path) -> tuple[_ApiKey, ...]:
    """Reads the keys of a file; returns none if the file does not exist yet."""
    if not path.exists():
        return ()
    return _read_keys(path)


def remove_key(path: Path, name: str) -> None:
    """Removes the key with a name; a running server refuses it from then on."""
    if not any(key.caller.name == name for key in list_keys(path)):
        raise NotFound(f"{path} has no key named {name!r}")
    blocks = _BEFORE_HEAD.split(path.read_text(encoding="utf-8"))
    _write(path, "".join(block for block in blocks if not _is_named(block, name)))


def _write_entry(name: str, scopes: Iterable[str], rights: Iterable[str], hash: str) -> str:
    """Formats an entry of the file; JSON strings and lists of them are valid TOML."""
    return (
        f"{HEAD}\n"
        f"name = {json.dumps(name, ensure_ascii=False)}\n"
        f"scopes = {json.dumps(list(scopes), ensure_ascii=False)}\n"
        f"rights = {json.dumps(sorted(rights))}\n"
        f"hash = {json.dumps(hash)}\n"
    )


def _is_named(block: str, name: str) -> bool:
    entries = tomllib.loads(block).get("key", [])
    return any(entry.get("name") == name for entry in entries)


def _write(path: Path, text: str) -> None:
    try:
        write_private(path, text)
    except OSError as error:
        raise Unavailable(f"the keys file {path} cannot be written: {error.strerror}") from error
