"""Receipts of forgetting: what was deleted, where, by whom and when, signed so that no word can change."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from ...core.errors import BadInput, Corrupt, Misconfigured, MissingExtra, Unavailable
from ...core.private_files import read_key_file, write_private
from ...core.validate import dump_json

FORMAT: Final = 1
HMAC: Final = "hmac-sha256"
ED25519: Final = "ed25519"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A record of an erasure without its content. `marks` are keyed hashes that only its store can make.

    `counts` are by place; `pending` says what could not be cleaned at once, and why: the next upkeep, or
    opening or closing the memory, cleans it. `kept` says what stays on purpose.
    """

    store: str
    scope: str
    ids: tuple[str, ...]
    marks: tuple[str, ...]
    counts: Mapping[str, int]
    by: str | None = None
    at: float = 0.0
    why: str | None = None
    pending: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    method: str = HMAC
    key: str = ""  # the public key of an Ed25519 signature
    signature: str = field(default="", repr=False)

    def text_to_sign(self) -> bytes:
        """Returns the bytes to sign: all fields but the signature, as canonical JSON."""
        fields = {"eidet": "receipt", "format": FORMAT, **asdict(self)}
        del fields["signature"]
        return dump_json(fields, sort_keys=True).encode()

    def save(self, path: str | Path) -> None:
        fields = {"eidet": "receipt", "format": FORMAT, **asdict(self)}
        try:
            write_private(Path(path), json.dumps(fields, indent=1, ensure_ascii=False) + "\n")
        except OSError as error:
            raise Unavailable(f"the receipt {path} cannot be written: {error.strerror}") from error

    @classmethod
    def load(cls, path: str | Path) -> Receipt:
        """Loads a receipt; raises `Corrupt` if it is none. Verify it with `memory.trust.verify_receipt`."""
        try:
            fields = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise Misconfigured(f"the receipt {path} cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise Corrupt(f"{path} is not a receipt: {error}") from error
        if not isinstance(fields, dict) or (fields.pop("eidet", 0), fields.pop("format", 0)) != (
            "receipt",
            FORMAT,
        ):
            raise Corrupt(f"{path} is not a receipt of this version of Eidet")
        return _receipt(fields, str(path))


def _receipt(values: dict[str, Any], where: str) -> Receipt:
    names = {f.name for f in fields(Receipt)}
    lists = ("ids", "marks", "pending", "kept")
    kinds = dict.fromkeys(lists, list) | {"counts": dict, "store": str, "scope": str, "signature": str}
    if values.keys() != names or any(not isinstance(values[name], kind) for name, kind in kinds.items()):
        raise Corrupt(f"{where} is not a receipt: it lacks fields, or has others")
    return Receipt(**{**values, **{name: tuple(values[name]) for name in lists}})


class Signer:
    """Signs and verifies receipts with a secret of the store, or with an Ed25519 key of the owner."""

    def __init__(self, secret: bytes, key: object = None) -> None:
        self._secret = secret
        self.private: Any | None = None if key is None else _private_key(key)

    def sign(self, receipt: Receipt) -> Receipt:
        if self.private is None:
            bare = replace(receipt, method=HMAC, key="")
            return replace(bare, signature=self._hmac(bare))
        bare = replace(receipt, method=ED25519, key=public_half(self.private))
        return replace(bare, signature=self.private.sign(bare.text_to_sign()).hex())

    def holds(self, receipt: Receipt, known: frozenset[str]) -> bool:
        """Returns whether the signature is valid; `known` are the public keys that may have signed."""
        if receipt.method == HMAC:
            return hmac.compare_digest(self._hmac(receipt), receipt.signature)
        if receipt.method != ED25519 or receipt.key not in known:
            return False
        return _verify(receipt)

    def _hmac(self, receipt: Receipt) -> str:
        return hmac.digest(self._secret, receipt.text_to_sign(), "sha256").hex()


def _verify(receipt: Receipt) -> bool:
    _check_cryptography()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(receipt.key))
        public.verify(bytes.fromhex(receipt.signature), receipt.text_to_sign())
    except (InvalidSignature, ValueError):
        return False
    return True


def _private_key(key: object) -> Any:
    """Loads an Ed25519 key: an object of `cryptography`, 32 raw bytes, PEM text, or a file with PEM."""
    _check_cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    if isinstance(key, Ed25519PrivateKey):
        return key
    if isinstance(key, bytes) and len(key) == 32:
        return Ed25519PrivateKey.from_private_bytes(key)
    if not isinstance(key, str | bytes | Path):
        raise BadInput(f"a key must be an Ed25519 key, its 32 bytes, or PEM, not {type(key).__name__}")
    try:
        found = load_pem_private_key(_pem(key), password=None)
    except (ValueError, TypeError) as error:
        raise Misconfigured(f"the key for receipts cannot be read: {error}") from error
    if not isinstance(found, Ed25519PrivateKey):
        raise Misconfigured(
            "the key for receipts is not an Ed25519 key: `openssl genpkey -algorithm ed25519`"
        )
    return found


def _pem(key: str | bytes | Path) -> bytes:
    if isinstance(key, bytes):
        return key
    if isinstance(key, str) and "-----BEGIN" in key:
        return key.encode()
    return read_key_file(key, "the key for receipts")


def public_half(private: Any) -> str:
    return bytes(private.public_key().public_bytes_raw()).hex()


def _check_cryptography() -> None:
    if find_spec("cryptography") is None:
        raise MissingExtra("signing receipts with Ed25519", extra="seal")
