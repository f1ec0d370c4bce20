"""The arm of vectors in a scope: what the columns and words of a shard are composed with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .. import Floats, Rows


class Scorer(Protocol):
    """Scores the rows of a scope by their vectors. The query has length one."""

    def scan(self, query: Floats, rows: Rows | None) -> Floats:
        """A cosine for every row (or those given, which rise), as near as a ranking of many needs it."""

    def sharpen(self, query: Floats, scores: Floats, rows: Rows, count: int) -> Floats:
        """The scores of candidates, exact for the best `count` of them; may change what it is given."""


class VectorArm(Scorer, Protocol):
    """The vectors of a scope, a row for each row of its columns, wherever they are kept."""

    width: int

    def append(self, blobs: Sequence[bytes | None]) -> None:
        """Adds a row for each; one without a vector scores 0."""

    def reserve(self, count: int) -> None:
        """Makes room for so many rows in all."""

    def mark_gone(self, rows: Rows) -> None:
        """Learns that living rows are gone; they stay where they are until `keep`."""

    def keep(self, rows: NDArray[np.bool_]) -> None:
        """Forgets the other rows and numbers those that stay anew."""

    @property
    def nbytes(self) -> int: ...
