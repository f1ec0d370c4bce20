"""Some records of a scope, described as the index of all of it would describe them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...store import Changes, Entry
from .. import Candidates, Floats, Probe, Rows, Seqs, Span
from .lexicon import WordReader
from .sessions import NONE
from .shard import Shard
from .vectors import VectorPlanes, unit


class PickedRecords:
    """Records that somebody else found, with their turns and the voices in all of the scope.

    Only the best need have their vectors: their cosines are then exact.
    """

    def __init__(
        self,
        scope: str,
        width: int,
        entries: Sequence[Entry],
        *,
        voices: Sequence[str],
        turns: Mapping[int, int],
    ) -> None:
        self.shard = Shard(scope, VectorPlanes(width))
        self.shard.columns.codes["who"] = {who: at for at, who in enumerate(voices)}
        self.shard.apply(Changes(self.shard.head, entries, ()))
        self._voices, self._turns = tuple(voices), turns

    @property
    def seqs(self) -> Seqs:
        """By row."""
        return self.shard.columns.seq

    def sharpen(self, probe: Probe, dense: Floats) -> Floats:
        """Cosines by row, taken from the vectors where there are any."""
        vectors = self.shard.vectors
        if probe.vector is not None and self.shard.count:
            rows = np.flatnonzero(vectors.scale[: self.shard.count] > 0)
            dense[rows] = vectors.exact(unit(probe.vector), rows)
        return dense

    def describe(
        self,
        probe: Probe,
        dense: Floats,
        words: Floats,
        spans: Mapping[str, Span],
        *,
        rarity: float,
        lexicon: WordReader | None = None,
        weights: Floats | None = None,
        whole: bool = True,
    ) -> Candidates:
        """All of them, with scores by row. With `whole`, there is nothing else that passed.

        With a lexicon, words are aligned by the `weights` of the terms.
        """
        shard, found = self.shard, dict(spans)
        rows: Rows = np.arange(shard.count)
        aligned = None
        if weights is not None:
            aligned = shard.align_words(probe, rows, lexicon, weights)
        if aligned is not None:
            low = float(aligned.min()) if whole and len(rows) else 0.0
            found["aligned"] = Span(low, float(aligned.max(initial=0.0)))
        turn = np.array([self._turns.get(seq, NONE) for seq in self.seqs.tolist()], np.int32)
        return shard.describe(
            probe,
            rows,
            dense,
            words,
            aligned,
            found,
            rarity=rarity,
            kept=shard.records,
            turn=turn,
            voices=self._voices,
        )


def scores_of(wanted: Seqs, seqs: Seqs, scores: Floats) -> Floats:
    """The scores of the seqs wanted; 0 where there is none. `seqs` rise."""
    found = np.zeros(len(wanted), np.float32)
    if len(seqs):
        at = np.minimum(np.searchsorted(seqs, wanted), len(seqs) - 1)
        here = seqs[at] == wanted
        found[here] = scores[at[here]]
    return found
