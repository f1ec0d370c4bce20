"""Some records of a scope, described as the index of all of it would describe them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...store import Changes, Entry
from .. import Candidates, Floats, Probe, Rows, Seqs, Span
from .lexicon import WordReader
from .row_traits import portray
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
        self.shard: Shard[VectorPlanes] = Shard(scope, VectorPlanes(width))
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
        *,
        rarity: float = 0.0,
        lexicon: WordReader | None = None,
        weights: Floats | None = None,
        low: float | None = None,
    ) -> Candidates:
        """All of them, with scores by row.

        Terms have `weights`, or a `rarity` together. With weights and a lexicon, words are aligned. Where
        more passed than these records, `low` is the lowest cosine of all that did.
        """
        shard, whole = self.shard, low is None
        rows: Rows = np.arange(shard.count)
        spans = {"dense": _span_of(dense, whole, low or 0.0), "words": _span_of(words, whole)}
        aligned = None
        if weights is not None:
            rarity = float(weights.sum())
            aligned = shard.align_words(probe, rows, lexicon, weights)
        if aligned is not None:
            spans["aligned"] = _span_of(aligned, whole)
        turn = np.array([self._turns.get(seq, NONE) for seq in self.seqs.tolist()], np.int32)
        seen = portray(shard.columns, shard.postings, rows, turn)
        return shard.describe(
            probe,
            seen,
            dense,
            words,
            aligned,
            spans,
            rarity=rarity,
            kept=shard.records,
            voices=self._voices,
        )


def _span_of(scores: Floats, whole: bool, low: float = 0.0) -> Span:
    """From the lowest score there is, where these are all; else from `low`."""
    if whole and len(scores):
        low = float(scores.min())
    return Span(low, float(scores.max(initial=low)))
