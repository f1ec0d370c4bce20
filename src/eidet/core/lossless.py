"""What a record was before its tier showed less of it, in few bytes: zlib around JSON and a vector."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any, Final

from .errors import Corrupt
from .validate import Json, dump_json

_LEVEL: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The parts that were lowered; None where the record still has them.

    `data` is a list of one, because data may be None itself. A vector that the embedder makes of the
    text is not kept; any other is, with the name of the embedder it belongs to.
    """

    text: str | None = None
    data: tuple[Json] | None = None
    vector: bytes | None = None
    embedder: str = ""


NOTHING: Final = Original()


def pack_original(original: Original) -> bytes | None:
    """The bytes to keep; None if there is nothing to keep."""
    if original == NOTHING:
        return None
    fields: dict[str, Any] = {"text": original.text} if original.text is not None else {}
    if original.data is not None:
        fields["data"] = original.data[0]
    if original.vector is not None:
        fields["embedder"] = original.embedder
    # JSON has no NUL of its own, so the first one is where the vector begins
    return zlib.compress(dump_json(fields).encode() + b"\0" + (original.vector or b""), _LEVEL)


def read_original(blob: bytes | None) -> Original:
    """`Corrupt` for bytes that are none."""
    if blob is None:
        return NOTHING
    try:
        packed, _, vector = zlib.decompress(blob).partition(b"\0")
        fields = json.loads(packed)
        return Original(
            text=fields.get("text"),
            data=(fields["data"],) if "data" in fields else None,
            vector=vector if "embedder" in fields else None,
            embedder=fields.get("embedder", ""),
        )
    except (zlib.error, ValueError, TypeError, AttributeError) as error:
        raise Corrupt(f"a record's original is damaged ({error}); restore a copy or an export") from error
