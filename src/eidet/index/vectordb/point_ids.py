"""UUIDs of points, for databases that take no other ids."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final
from uuid import UUID

from . import VectorShelf

KEY_BITS: Final = 64


def uuid_of(shelf: VectorShelf, key: int) -> str:
    """Of shelf and key: the same record may be on two shelves while one is filled beside the other."""
    space = int.from_bytes(blake2b(shelf.name.encode(), digest_size=8).digest(), "big")
    return str(UUID(int=space << KEY_BITS | key))


def key_in(id: object) -> int:
    """The key that a UUID was made of."""
    return UUID(str(id)).int & ((1 << KEY_BITS) - 1)
