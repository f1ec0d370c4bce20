"""Where terms occur in a scope, whichever of its parts tells: a shard in RAM, or a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import Floats, Seqs
from .arms import VectorArm
from .arrays import run_starts
from .postings import Bm25
from .scored import NONE_SCORED, ScoredSeqs
from .shard import Shard


class Occurrences(NamedTuple):
    """Where terms occur: which (its place in the question), in which unit, of what length, how often."""

    which: NDArray[np.intp]
    seq: Seqs
    unit: NDArray[np.int64]
    length: Floats
    times: Floats

    def join(self, *others: Occurrences) -> Occurrences:
        columns: list[Any] = [np.concatenate(parts) for parts in zip(self, *others, strict=True)]
        return Occurrences(*columns)

    def keep(self, rows: NDArray[np.bool_]) -> Occurrences:
        columns: list[Any] = [column[rows] for column in self]
        return Occurrences(*columns)

    def leave_out(self, gone: Seqs) -> Occurrences:
        """Only what is not of these seqs, which rise."""
        if not len(gone):
            return self
        at = np.minimum(np.searchsorted(gone, self.seq), len(gone) - 1)
        return self.keep(gone[at] != self.seq)

    def score(self, scale: Bm25) -> ScoredSeqs:
        """The records that hold any of the terms, each with the score of its best unit."""
        if not len(self.seq):
            return NONE_SCORED
        keys = self.seq * 65_536 + self.unit
        order = np.argsort(keys, kind="stable")
        keys, scores = keys[order], scale.score(self.which, self.length.copy(), self.times)[order]
        starts = run_starts(keys)
        seqs, sums = keys[starts] // 65_536, np.add.reduceat(scores, starts)
        starts = run_starts(seqs)
        return ScoredSeqs(seqs[starts], np.maximum.reduceat(sums, starts))


_NONE: Final = np.empty(0, np.int64)
NOWHERE: Final = Occurrences(_NONE.astype(np.intp), _NONE, _NONE, _NONE.astype("f4"), _NONE.astype("f4"))


def read_shard(shard: Shard[VectorArm], terms: Sequence[int]) -> Occurrences:
    """Where terms occur in the living rows of a shard."""
    if not shard.count or not terms:
        return NOWHERE
    which, docs, counts = shard.postings.lookup(terms)
    columns, lengths = shard.columns, shard.postings.lengths[docs]
    found = Occurrences(
        which, columns.seq[docs], columns.unit[docs].astype("i8"), lengths, counts.astype("f4")
    )
    return found.keep(columns.alive[docs])
