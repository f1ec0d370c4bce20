"""Sealed bytes: AES-256-GCM with a nonce derived from the content, bound to their place.

A box consists of the number of the key (4 bytes), owner (12), nonce (12), ciphertext and tag. Store, scope
and field are authenticated but not stored, with number and owner. The owner is a keyed hash of the
readable columns that the box belongs to: if one of them is changed, the box does not open.
"""

from __future__ import annotations

import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Final

from ...core.errors import Corrupt
from ...core.record import EXACT_KEY_BYTES, MARK_BYTES
from .service import KEY_BYTES, NONCE_BYTES, aes_gcm

LASTING: Final = 0  # the number of the key of labels and marks, and of archives of format 0.3
SECRET_BYTES: Final = 2 * KEY_BYTES  # the key of records, and the one of labels, marks and archives
TAG_BYTES: Final = 12
LABELS_KEPT: Final = 10_000
_NUMBER: Final = struct.Struct(">I")
_OWNER: Final = slice(_NUMBER.size, _NUMBER.size + TAG_BYTES)
_NONCE: Final = slice(_OWNER.stop, _OWNER.stop + NONCE_BYTES)


class _Lock:
    """The cipher and the nonce key derived from one key."""

    __slots__ = ("_cipher", "_nonces")

    def __init__(self, key: bytes) -> None:
        self._cipher = aes_gcm(_derive_key(key, b"cipher"))
        self._nonces = _derive_key(key, b"nonces")

    def shut(self, bound: bytes, plain: bytes) -> bytes:
        nonce = blake2b(bound + plain, key=self._nonces, digest_size=NONCE_BYTES).digest()
        return nonce + self._cipher.encrypt(nonce, plain, bound)

    def open_box(self, bound: bytes, nonce: bytes, sealed: bytes) -> bytes:
        return self._cipher.decrypt(nonce, sealed, bound)


def _derive_key(key: bytes, purpose: bytes) -> bytes:
    return blake2b(b"", key=key, digest_size=KEY_BYTES, person=purpose[:16]).digest()


def pack_parts(*parts: bytes) -> bytes:
    """Joins parts unambiguously: no other parts give the same bytes."""
    return b"".join(_NUMBER.pack(len(part)) + part for part in parts)


def number_in(box: bytes) -> int:
    """Returns the number of the key that sealed a box; -1 if it is no box."""
    if not isinstance(box, bytes) or len(box) < _NUMBER.size:
        return -1
    return int(_NUMBER.unpack_from(box)[0])


class ScopeKeys:
    """The keys of one scope, by number. Seals with the newest, opens with any; immutable."""

    def __init__(self, identity: str, scope: str, secrets: Mapping[int, bytes]) -> None:
        self.scope = scope
        self._newest = max(secrets)
        lasting = secrets[self._newest][KEY_BYTES:]
        self._place = pack_parts(identity.encode(), scope.encode())
        self._locks = {number: _Lock(secret[:KEY_BYTES]) for number, secret in secrets.items()}
        self._locks[LASTING] = _Lock(_derive_key(lasting, b"lasting"))
        self.numbers: Collection[int] = self._locks.keys()
        self._labels = _Lock(_derive_key(lasting, b"labels"))
        self._marks = _derive_key(lasting, b"marks")
        self._owners = _derive_key(lasting, b"bound columns")
        self._about: Callable[[int, str], bytes] = cache(self._bind)
        self.label: Callable[[str, str], str] = lru_cache(LABELS_KEPT)(self._seal_label)
        self.open_label: Callable[[str, str], str] = lru_cache(LABELS_KEPT)(self._open_label)

    def owner(self, columns: bytes) -> bytes:
        """Returns the keyed hash of readable columns that a box stores to authenticate them."""
        return blake2b(columns, key=self._owners, digest_size=TAG_BYTES).digest()

    def mark(self, key: bytes) -> bytes:
        """Returns a keyed hash of a record's exact key, or of its content part, to identify duplicates."""
        mark = blake2b(key[:MARK_BYTES], key=self._marks, digest_size=MARK_BYTES).digest()
        if len(key) == MARK_BYTES:
            return mark
        return mark + blake2b(key, key=self._marks, digest_size=EXACT_KEY_BYTES - MARK_BYTES).digest()

    def seal(self, field: str, owner: bytes, plain: bytes) -> bytes:
        number = self._newest
        bound = self._about(number, field)
        return _NUMBER.pack(number) + owner + self._locks[number].shut(bound + owner, plain)

    def open(self, field: str, box: bytes, owner: bytes | None = None) -> bytes:
        """Opens a box; raises `Corrupt` if it was not sealed for this place, field and (if given) owner."""
        number = number_in(box)
        lock, whose = self._locks.get(number), box[_OWNER]
        if lock is not None and owner in (None, whose):
            bound = self._about(number, field)
            with suppress(*_failures()):
                return lock.open_box(bound + whose, box[_NONCE], box[_NONCE.stop :])
        raise Corrupt(f"the sealed {field} of a record in scope {self.scope!r} was changed or moved")

    def _seal_label(self, field: str, text: str) -> str:
        """Returns the token of a label, the same each time for this scope and field."""
        shut = self._labels.shut(self._about(LASTING, f"label {field}"), text.encode())
        return urlsafe_b64encode(shut).rstrip(b"=").decode()

    def _open_label(self, field: str, token: str) -> str:
        """Returns the label behind a token; raises `Corrupt` if the token was changed."""
        try:
            shut = urlsafe_b64decode(token + "=" * (-len(token) % 4))
            bound = self._about(LASTING, f"label {field}")
            return self._labels.open_box(bound, shut[:NONCE_BYTES], shut[NONCE_BYTES:]).decode()
        except _failures():
            raise Corrupt(f"the sealed {field} of a record in scope {self.scope!r} was changed") from None

    def _bind(self, number: int, field: str) -> bytes:
        """Joins what the boxes of a field are bound to: store, scope, number of the key, and field."""
        return self._place + pack_parts(_NUMBER.pack(number), field.encode())


def _failures() -> tuple[type[Exception], ...]:
    from cryptography.exceptions import InvalidTag

    return InvalidTag, ValueError, TypeError
