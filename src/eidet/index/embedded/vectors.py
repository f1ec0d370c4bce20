"""Unit vectors in two byte planes: one that is scanned, one that makes the best scores exact.

A vector v is stored as scale * (high + low / 254) with high and low in int8. A scan reads only the
high plane (a quarter of float32); its best candidates are scored again with both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
import simsimd
from numpy.typing import NDArray

from .. import Floats, Rows
from .arrays import make_room, top

_FINE: Final = 254.0
AT_ONCE: Final = 128  # vectors split into planes at once: so few stay in the cache of a core


class Scorer(Protocol):
    """Scores the rows of a scope by their vectors. The query has length one."""

    def scan(self, query: Floats, rows: Rows | None) -> Floats:
        """Returns a cosine for every row (or those given, ascending), exact enough to rank many."""

    def sharpen(self, query: Floats, scores: Floats, rows: Rows, count: int) -> Floats:
        """Returns the candidates' scores, exact for the best `count` of them; may overwrite `scores`."""


class VectorPlanes:
    """A growing matrix of unit vectors; a row without a vector scores 0."""

    def __init__(self, width: int, capacity: int = 0) -> None:
        self.width = width
        self.count: int = 0
        self.high: NDArray[np.int8] = np.empty((capacity, width), np.int8)
        self.low: NDArray[np.int8] = np.empty((capacity, width), np.int8)
        self.scale: NDArray[np.float32] = np.empty(capacity, np.float32)

    def append(self, blobs: Sequence[bytes | None]) -> None:
        self.reserve(self.count + len(blobs))
        for start in range(0, len(blobs), AT_ONCE):
            self._append(blobs[start : start + AT_ONCE])

    def _append(self, blobs: Sequence[bytes | None]) -> None:
        size = self.width * 4
        empty = bytes(size)
        whole = b"".join(blob if blob is not None and len(blob) == size else empty for blob in blobs)
        steps = normalise(np.frombuffer(whole, np.float32).reshape(len(blobs), self.width))
        scale = np.abs(steps).max(axis=1) / 127
        steps /= np.where(scale > 0, scale, 1)[:, None]
        high = np.rint(steps)
        steps -= high
        steps *= _FINE
        rows = slice(self.count, self.count + len(blobs))
        self.high[rows] = high
        self.low[rows] = np.rint(steps, out=steps)
        self.scale[rows] = scale
        self.count += len(blobs)

    def scan(self, query: Floats, rows: Rows | None) -> Floats:
        """Returns the cosine with every row (or those given), to about 0.001."""
        if rows is not None and len(rows) * 4 > self.count:  # picking out rows pays only for few
            return self.scan(query, None).take(rows)
        top, count = float(np.maximum.reduce(np.abs(query))), self.count if rows is None else len(rows)
        if top == 0 or count == 0:
            return np.zeros(count, np.float32)
        coarse = np.rint(query * (127 / top)).astype(np.int8)[None]
        matrix = self.high[: self.count] if rows is None else self.high[rows]
        scale = self.scale[: self.count] if rows is None else self.scale[rows]
        dots = simsimd.cdist(coarse, matrix, metric="dot", out_dtype="float32", threads=1)
        scores: Floats = np.asarray(dots, np.float32).reshape(-1)
        scores *= scale
        scores *= top / 127
        return scores

    def exact(self, query: Floats, rows: Rows) -> Floats:
        """Returns the cosine with the rows given, to about 0.00001."""
        matrix: Floats = self.low.take(rows, axis=0) * np.float32(1 / _FINE)
        matrix += self.high.take(rows, axis=0)
        scores: Floats = matrix @ query
        scores *= self.scale.take(rows)
        return scores

    def read(self, rows: slice) -> Floats:
        """Returns the unit vectors of some rows."""
        matrix: Floats = self.low[rows] * np.float32(1 / _FINE)
        matrix += self.high[rows]
        matrix *= self.scale[rows, None]
        return matrix

    def sharpen(self, query: Floats, scores: Floats, rows: Rows, count: int) -> Floats:
        """Makes the best `count` of the rows' scores exact, in place."""
        near = top(scores, count)
        scores[near] = self.exact(query, rows[near])
        return scores

    def mark_gone(self, rows: Rows) -> None:
        """Notes that living rows were deleted; they keep their places until `keep`."""

    def keep(self, rows: NDArray[np.bool_]) -> None:
        """Drops all other rows and renumbers the rest."""
        self.high, self.low = self.high[: self.count][rows], self.low[: self.count][rows]
        self.scale = self.scale[: self.count][rows]
        self.count = len(self.scale)

    def reserve(self, count: int) -> None:
        """Makes room for `count` rows in total."""
        self.high = make_room(self.high, self.count, count)
        self.low = make_room(self.low, self.count, count)
        self.scale = make_room(self.scale, self.count, count)

    @property
    def nbytes(self) -> int:
        return self.high.nbytes + self.low.nbytes + self.scale.nbytes


def normalise(matrix: Floats) -> Floats:
    """Scales rows to length one; a zero row stays zero."""
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
    unit: Floats = (matrix / np.where(lengths > 0, lengths, 1)[:, None]).astype(np.float32)
    return unit


def unit(vector: Floats) -> Floats:
    """Scales a vector to length one; a zero vector stays zero."""
    length = math.sqrt(float(vector.dot(vector)))
    return vector / np.float32(length) if 0 < length < math.inf else normalise(vector[None])[0]
