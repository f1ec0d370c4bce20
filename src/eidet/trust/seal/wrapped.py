"""Scope keys as they are kept and carried: wrapped under a master key, bound to where they belong."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping

from ...core.errors import Corrupt, Misconfigured
from . import KeyService, WrongKey
from .boxes import SECRET_BYTES, ScopeKeys, pack_parts


def context(identity: str, scope: str, number: int) -> bytes:
    """What a wrapped key is bound to."""
    return pack_parts(b"eidet scope key", identity.encode(), scope.encode(), str(number).encode())


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
