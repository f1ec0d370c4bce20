"""The digests of Portable AI Memory: of a content, and of all memories of a document."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from ..core.validate import dump_json


def hash_content(content: str) -> str:
    """The digest by which the format finds the same text: without case and extra space."""
    folded = unicodedata.normalize("NFC", content.strip().lower())
    return _digest(re.sub(r"\s+", " ", folded))


def hash_memories(memories: Sequence[Mapping[str, Any]]) -> str:
    """The digest of all memories, in the order of their ids.

    The format asks for the JSON of RFC 8785. Sorted JSON is that, as long as no number is in it and names
    are ASCII, which `to_pam` sees to.
    """
    ordered = sorted(memories, key=_id_of)
    return _digest(dump_json(ordered, sort_keys=True))


def _id_of(memory: Mapping[str, Any]) -> str:
    return str(memory["id"])


def _digest(text: str) -> str:
    return f"sha256:{sha256(text.encode()).hexdigest()}"
