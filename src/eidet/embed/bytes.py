"""Vectors as the bytes a record carries: float32, little-endian."""

from __future__ import annotations

import numpy as np

from ..errors import BadInput
from . import Vectors


def packed(vector: object, width: int) -> bytes:
    """One vector given by a caller (numbers, an array, or bytes of float32), checked."""
    try:
        row = np.frombuffer(vector, np.float32) if isinstance(vector, bytes) else _numbers(vector)
    except (TypeError, ValueError) as bad:
        raise BadInput(f"a vector is a sequence of {width} numbers: {bad}") from None
    if row.shape != (width,):
        raise BadInput(f"the vector has the shape {row.shape}, this memory's embedder makes ({width},)")
    if not np.isfinite(row).all():
        raise BadInput("the vector holds NaN or infinity")
    return row.astype("<f4").tobytes()


def _numbers(vector: object) -> Vectors:
    with np.errstate(over="ignore"):
        return np.asarray(vector, dtype=np.float32)


def packed_rows(rows: Vectors) -> list[bytes]:
    """The rows of a matrix as bytes, one each."""
    whole, size = rows.astype("<f4", copy=False).tobytes(), rows.shape[1] * 4
    return [whole[at : at + size] for at in range(0, len(whole), size)]


def row_of(vector: bytes) -> Vectors:
    return np.frombuffer(vector, "<f4")
