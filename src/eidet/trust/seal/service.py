"""The master key: from the environment, a file, a program, or a key service."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...core.errors import Misconfigured, MissingExtra
from ...core.private_files import decode_key, load_secret
from . import KeyService, WrongKey

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12


def aes_gcm(key: bytes) -> AESGCM:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError as missing:
        raise MissingExtra("encryption at rest", extra="seal") from missing
    return AESGCM(key)


class LocalKeys:
    """A key service in this process, with a master key of 32 bytes and AES-256-GCM."""

    def __init__(self, key: bytes) -> None:
        if not isinstance(key, bytes) or len(key) != KEY_BYTES:
            raise Misconfigured(f"a master key must have {KEY_BYTES} bytes; `eidet keys master` makes one")
        self._cipher = aes_gcm(key)
        self.name: str = (
            "local:" + blake2b(b"name", key=key, digest_size=6, person=b"eidet.master").hexdigest()
        )

    def __repr__(self) -> str:
        return f"LocalKeys({self.name})"

    def wrap(self, key: bytes, context: bytes) -> bytes:
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, key, context)

    def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        from cryptography.exceptions import InvalidTag

        try:
            return self._cipher.decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], context)
        except (InvalidTag, ValueError):
            raise WrongKey(f"a key was not wrapped by the master key {self.name}, or was changed") from None


def new_key() -> str:
    """Generates a master key as base64 text, for a variable or a file."""
    return base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


Key = str | bytes | Path | KeyService | Callable[[], str | bytes]


def service_of(key: Key, environment: Mapping[str, str] | None = None) -> KeyService:
    """Builds the key service for a key.

    A key is `env:NAME`, `file:/path`, 32 bytes, their base64 or hexadecimal text, a function that returns
    one of these, or a KeyService.
    """
    if isinstance(key, KeyService):
        return key
    if callable(key):
        return service_of(key(), environment)
    if not isinstance(key, str | bytes | Path):
        raise Misconfigured(
            f"a key must be text, bytes, a function or a KeyService, not {type(key).__name__}"
        )
    secret = load_secret(key, "the master key", environment)
    place = key if isinstance(key, str) and key.startswith(("file:", "env:")) else "the key"
    spelt = isinstance(key, str) and not key.startswith("file:")  # a text of 32 letters is no key
    found = secret if len(secret) == KEY_BYTES and not spelt else decode_key(secret)
    if len(found) != KEY_BYTES:  # never quote the text, which may be nearly a key
        raise Misconfigured(
            f"{place} holds no master key: one is {KEY_BYTES} random bytes as base64 "
            "or hexadecimal text (a password will not do); `eidet keys master` makes one"
        )
    return LocalKeys(found)
