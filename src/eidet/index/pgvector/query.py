"""A question and its answers as the stages of a search hand them on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...store.sql.postgres import Condition
from .. import Floats, Probe
from .postings import Seqs

Arm = tuple[Seqs, Floats]  # seqs that rise, and the score of each


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as the stages of a search hand it on."""

    probe: Probe
    query: Floats | None  # of length one
    condition: Condition
    strict: bool  # what does not pass must not take the place of what does
    passing: Seqs | None  # all that pass, rising, where they are few or must be named

    @property
    def whole(self) -> bool:
        """Whether all that pass are candidates."""
        return self.passing is not None and len(self.passing) <= self.probe.depth


class Chosen(NamedTuple):
    """Seqs of candidates; of those that are scored exactly; whose neighbours are candidates, too; whose
    sessions are read, so that their turns are known."""

    seqs: Seqs
    exact: Seqs
    leading: Seqs
    placed: Seqs


def merged(one: Arm, other: Arm) -> Arm:
    """The best score of each record, by rising seq."""
    seqs, scores = np.concatenate((one[0], other[0])), np.concatenate((one[1], other[1]))
    if not len(seqs):
        return seqs, scores
    order = np.lexsort((-scores, seqs))
    seqs, scores = seqs[order], scores[order]
    first = np.append(True, seqs[1:] != seqs[:-1])
    return seqs[first], scores[first]


def share(scores: Floats) -> Floats:
    """0 to 1 over what is there."""
    low, high = float(scores.min(initial=0.0)), float(scores.max(initial=0.0))
    return (scores - low) / np.float32(high - low) if high > low else scores


def lowest(sample: Floats, of: int) -> float:
    """The lowest score among `of` rows, judged by a sample: as far below the mean as for a normal law."""
    if not len(sample):
        return 0.0
    seen = float(sample.min())
    if of <= len(sample):
        return seen
    away = float(sample.std()) * float(np.sqrt(2 * np.log(of)))
    return max(-1.0, min(seen, float(sample.mean()) - away))
