"""Records with a score each, as an arm of a search hands them on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from .. import Floats, Seqs
from .arrays import run_starts, top


class ScoredSeqs(NamedTuple):
    """Seqs that rise, and the score of each."""

    seqs: Seqs
    scores: Floats

    def read(self, wanted: Seqs) -> Floats:
        """The scores of the seqs wanted; 0 where there is none."""
        found = np.zeros(len(wanted), np.float32)
        if len(self.seqs):
            at = np.minimum(np.searchsorted(self.seqs, wanted), len(self.seqs) - 1)
            here = self.seqs[at] == wanted
            found[here] = self.scores[at[here]]
        return found

    def pick(self, wanted: Sequence[int] | Seqs) -> ScoredSeqs:
        """Only those that are wanted."""
        here = np.isin(self.seqs, wanted)
        return ScoredSeqs(self.seqs[here], self.scores[here])

    def pick_best(self, count: int) -> ScoredSeqs:
        best = np.sort(top(self.scores, count))
        return ScoredSeqs(self.seqs[best], self.scores[best])

    def merge(self, other: ScoredSeqs) -> ScoredSeqs:
        """Both as one, with the best score of each seq. Here seqs need not rise before, nor differ."""
        seqs = np.concatenate((self.seqs, other.seqs))
        scores = np.concatenate((self.scores, other.scores))
        order = np.lexsort((-scores, seqs))
        seqs, scores = seqs[order], scores[order]
        first = run_starts(seqs)
        return ScoredSeqs(seqs[first], scores[first])


NONE_SCORED: Final = ScoredSeqs(np.empty(0, np.int64), np.empty(0, np.float32))
