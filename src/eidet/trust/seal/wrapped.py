"""Scope keys as they are kept and carried: wrapped under a master key, bound to where they belong."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from ...core.errors import Corrupt, Misconfigured
from . import KeyService, Shredded, WrongKey
from .boxes import SECRET_BYTES, ScopeKeys, pack_parts


def context(identity: str, scope: str, number: int) -> bytes:
    """What a wrapped key is bound to."""
    return pack_parts(b"eidet scope key", identity.encode(), scope.encode(), str(number).encode())


def signer_context(identity: str) -> bytes:
    """What the key that signs an export is bound to."""
    return pack_parts(b"eidet export", identity.encode())


class Received:
    """The keys that came along with records of another store."""

    def __init__(self, carried: Mapping[str, Any], service: KeyService) -> None:
        self._carried = carried
        self._service = service
        self._held: dict[str, ScopeKeys] = {}

    def signer(self) -> bytes:
        """The key that signed the export."""
        return self._unwrap("signer")[0]

    def list_secrets(self) -> list[bytes]:
        """The other secrets of its store that came along."""
        return self._unwrap("secrets")

    def _unwrap(self, name: str) -> list[bytes]:
        try:
            context, found = signer_context(str(self._carried["identity"])), self._carried[name]
            boxes = [found] if isinstance(found, str) else list(found)
            return [self._service.unwrap(b64decode(str(box), validate=True), context) for box in boxes]
        except (KeyError, TypeError, ValueError, WrongKey):
            raise Misconfigured(
                f"the export cannot be opened with the master key {self._service.name}: it was signed with "
                f"another one ({self._carried.get('master')}), or changed; nothing was loaded"
            ) from None

    def of(self, scope: str) -> ScopeKeys:
        if scope not in self._held:
            self._held[scope] = self._read(scope)
        return self._held[scope]

    def _read(self, scope: str) -> ScopeKeys:
        try:
            identity, keys = str(self._carried["identity"]), self._carried["keys"][scope].items()
            numbered = {int(number): str(key) for number, key in keys}
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise Corrupt(f"the file contains no key for scope {scope!r}; nothing was loaded") from error
        if not numbered:
            raise Shredded(scope)
        return unwrap_scope(self._service, identity, scope, numbered)


def unwrap_scope(service: KeyService, identity: str, scope: str, wrapped: Mapping[int, str]) -> ScopeKeys:
    """The keys of a scope, which are wrapped, by number."""
    opened = {number: unwrap(service, identity, scope, number, key) for number, key in wrapped.items()}
    return ScopeKeys(identity, scope, opened)


def unwrap(service: KeyService, identity: str, scope: str, number: int, key: str) -> bytes:
    try:
        secret = service.unwrap(b64decode(key, validate=True), context(identity, scope, number))
    except (WrongKey, ValueError):
        raise Misconfigured(
            f"key {number} of scope {scope!r} cannot be opened with the master key {service.name}: it was "
            "wrapped by another one (was the master key changed?), or its bytes were changed"
        ) from None
    if len(secret) != SECRET_BYTES:
        raise Corrupt(f"key {number} of scope {scope!r} has {len(secret)} bytes, not {SECRET_BYTES}")
    return secret
