"""Converts vectors to the bytes in a record: float32, little-endian; int8 or bits in the lower tiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...core.errors import BadInput
from ...core.record import Record
from . import Vectors

_MOST: Final = 64  # vectors of one record at most; the best one counts


def pack_vector(vector: object, width: int) -> bytes:
    """Checks and packs a caller's vector or several (numbers, an array, or bytes of float32)."""
    try:
        with np.errstate(over="ignore"):
            given = np.frombuffer(vector, "<f4") if isinstance(vector, bytes) else vector
            rows: Vectors = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as bad:
        raise BadInput(f"a vector is a sequence of {width} numbers: {bad}") from None
    if isinstance(vector, bytes) and len(rows) > width and len(rows) % width == 0:
        rows = rows.reshape(-1, width)
    if rows.shape != (width,) and not (rows.ndim == 2 and rows.shape[1] == width and 0 < len(rows) <= _MOST):
        raise BadInput(
            f"the vector has the shape {rows.shape}, this memory's embedder makes ({width},); a record may "
            f"have up to {_MOST} of them"
        )
    if not np.isfinite(rows).all():
        raise BadInput("the vector holds NaN or infinity")
    return rows.astype("<f4").tobytes()


def pack_rows(rows: Vectors) -> list[bytes]:
    """Returns the bytes of each row of a matrix."""
    whole, size = rows.astype("<f4", copy=False).tobytes(), rows.shape[1] * 4
    if len(rows) == 1:
        return [whole]
    return [whole[at : at + size] for at in range(0, len(whole), size)]


def row_of(vector: bytes) -> Vectors:
    return np.frombuffer(vector, "<f4")


# The formats of a vector, by the level of its record. Each begins with its own marker byte, to distinguish
# quantised vectors from those that were left as they were because they do not fit the width.

_INT8: Final = b"8"
_BITS: Final = b"1"


def quantise(vector: bytes, level: int, width: int) -> bytes:
    """Quantises a record's float32 vectors to a level: 1 is int8 with a scale each, 2 is one bit per number.

    Bytes that are no vectors of this width are left as they are.
    """
    if level <= 0 or not vector or len(vector) % (4 * width):
        return vector
    rows = np.frombuffer(vector, "<f4").reshape(-1, width)
    if level == 1:
        scale = np.abs(rows).max(axis=1) / np.float32(127)
        steps = np.rint(rows / np.where(scale > 0, scale, 1)[:, None]).clip(-127, 127).astype(np.int8)
        return b"".join((_INT8, scale.astype("<f4").tobytes(), steps.tobytes()))
    return _BITS + np.packbits(rows >= 0, axis=1).tobytes()


def dequantise(vector: bytes, level: int, width: int) -> bytes:
    """Restores the float32 vectors from a level; those restored from bits have length one."""
    count = _count(vector, level, width)
    if not count:
        return vector
    if level != 1:
        return _dequantise_bits(vector, width)
    scale = np.frombuffer(vector, "<f4", count, offset=1)
    steps = np.frombuffer(vector, np.int8, offset=1 + 4 * count).reshape(count, width)
    rows: Vectors = (steps * scale[:, None]).astype("<f4")
    return rows.tobytes()


def dequantise_all(vectors: Sequence[bytes | None], levels: Sequence[int], width: int) -> list[bytes | None]:
    """Restores many; single bit codes, the most frequent case, in one step."""
    size = -(-width // 8)
    one = {
        at
        for at, (vector, level) in enumerate(zip(vectors, levels, strict=True))
        if level >= 2 and vector is not None and len(vector) == 1 + size and vector[:1] == _BITS
    }
    codes = b"".join((vectors[at] or b"")[1:] for at in sorted(one))
    rows = _dequantise_bits(_BITS + codes, width)
    parts = (rows[at : at + 4 * width] for at in range(0, len(rows), 4 * width))
    return [
        next(parts) if at in one else vector and dequantise(vector, level, width)
        for at, (vector, level) in enumerate(zip(vectors, levels, strict=True))
    ]


def _dequantise_bits(vector: bytes, width: int) -> bytes:
    codes = np.frombuffer(vector, np.uint8, offset=1).reshape(-1, -(-width // 8))
    bits = np.unpackbits(codes, axis=1, count=width)
    length = np.float32(1 / np.sqrt(width))
    return np.array((-length, length), "<f4")[bits].tobytes()


def are_finite(rows: bytes) -> bool:
    """Returns whether the bytes are float32 numbers, all finite."""
    return not len(rows) % 4 and bool(np.isfinite(np.frombuffer(rows, "<f4")).all())


def how_many(vector: bytes | None, level: int, width: int) -> int:
    """Returns the number of vectors of a record, at least one."""
    if not vector or (level <= 0 and len(vector) == 4 * width):
        return 1
    return _count(vector, level, width) or max(1, len(vector) // (4 * width))


def _count(vector: bytes, level: int, width: int) -> int:
    """Returns the number of quantised vectors; 0 for bytes that were not quantised."""
    sign, size = (_INT8, 4 + width) if level == 1 else (_BITS, -(-width // 8))
    body = len(vector) - 1
    if level > 0 and vector[:1] == sign and body > 0 and body % size == 0:
        return body // size
    return 0


def first_rows(vectors: Sequence[bytes | None], levels: Sequence[int], width: int) -> Vectors:
    """Returns a matrix of each record's first vector; a row of zeros for a record without a fitting one."""
    rows = np.zeros((len(vectors), width), np.float32)
    for row, vector in zip(rows, dequantise_all(vectors, levels, width), strict=True):
        if vector is not None and len(vector) >= 4 * width:
            row[:] = np.frombuffer(vector, "<f4", width)
    return rows


def list_rows(records: Sequence[Record], width: int) -> list[Vectors]:
    """Returns the vectors of each record, one for each part of its text; a row of zeros without a vector."""
    kept = dequantise_all([record.vector for record in records], [record.level for record in records], width)
    none = np.zeros((1, width), np.float32)
    return [np.frombuffer(found, "<f4").reshape(-1, width) if found else none for found in kept]


def find_cosines(records: Sequence[Record], asked: Sequence[float] | Vectors) -> list[float]:
    """Returns the cosine of a vector with the nearest part of each record; 0 for one without a vector."""
    row = np.asarray(asked, np.float32)
    length = np.linalg.norm(row) or 1.0
    return [
        float(np.max(rows @ row / (np.maximum(np.linalg.norm(rows, axis=1), 1e-30) * length)).clip(-1, 1))
        for rows in list_rows(records, len(row))
    ]
