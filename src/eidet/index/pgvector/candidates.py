"""The candidates of a search on the server, told of by the same code as those of the embedded index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...store import Changes, Entry
from .. import Floats, Found, Probe, Span
from ..embedded.lexicon import Reader
from ..embedded.sessions import Sessions
from ..embedded.shard import NONE, Shard
from ..embedded.vectors import unit
from .postings import Seqs


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """What the arms say: seqs that rise, with the best score of each; none is 0.

    `low` is the lowest cosine of all that was searched.
    """

    dense: tuple[Seqs, Floats]
    words: tuple[Seqs, Floats]
    rarity: Floats
    low: float


@dataclass(frozen=True, slots=True)
class _Turns:
    turn: NDArray[np.int32]


class Candidates(Shard):
    """Some records of a scope, with their turns in all of it. Only the best need have their vectors."""

    def __init__(
        self,
        scope: str,
        width: int,
        voices: Sequence[str],
        entries: Sequence[Entry],
        turns: Mapping[int, int],
    ) -> None:
        super().__init__(scope, width)
        self.codes["who"] = {who: at for at, who in enumerate(voices)}
        self._heard = tuple(voices)
        self.apply(Changes(self.head, entries, ()))
        self._turn = turns

    @property
    def voices(self) -> tuple[str, ...]:
        """Of all the scope."""
        return self._heard

    def _ordered(self) -> Sessions:
        turns = np.array([self._turn.get(seq, NONE) for seq in self.seq.tolist()], np.int32)
        return cast("Sessions", _Turns(turns))

    def found(self, probe: Probe, scores: Scores, lexicon: Reader | None, whole: bool) -> Found:
        """All of them. `whole`: there is nothing else that passed."""
        rows = np.arange(self.count)
        dense, words = (among(self.seq, *arm) for arm in (scores.dense, scores.words))
        dense = self._exact(probe, dense)
        aligned = self._aligned(probe, rows, lexicon, scores.rarity)
        whole = whole and self.count > 0
        spans = {
            "dense": Span(float(dense.min()) if whole else scores.low, float(dense.max(initial=scores.low))),
            "words": Span(float(words.min()) if whole else 0.0, float(words.max(initial=0.0))),
        }
        if probe.vector is None:
            spans["dense"] = Span()
        if aligned is not None:
            spans["aligned"] = Span(float(aligned.min()) if whole else 0.0, float(aligned.max(initial=0.0)))
        found = self._found(probe, rows, dense, words, aligned, spans, None)
        found.rarity = float(scores.rarity.sum())
        return found

    def _exact(self, probe: Probe, dense: Floats) -> Floats:
        """The cosines of those whose vectors are here are taken from them."""
        if probe.vector is not None and self.count:
            rows = np.flatnonzero(self.vectors.scale[: self.count] > 0)
            dense[rows] = self.vectors.exact(unit(probe.vector), rows)
        return dense


def among(wanted: Seqs, seqs: Seqs, scores: Floats) -> Floats:
    """The scores of the seqs wanted; 0 where there is none. `seqs` rise."""
    found = np.zeros(len(wanted), np.float32)
    if len(seqs):
        at = np.minimum(np.searchsorted(seqs, wanted), len(seqs) - 1)
        here = seqs[at] == wanted
        found[here] = scores[at[here]]
    return found
