"""From a sum of signals to a score that means the same for every question.

A sum only ranks: its best is near 1 even where nothing fits. The score is the share of hits like this one
that were right when it was measured, on chats, notes, documents and states, with questions that have no
answer among them (docs/how-it-works/retrieval.md). The log odds of the best hit are linear in what is known
of it: how much of the question its words cover, how near its meaning is, whether it has the identifier, the
day and the names that were asked for, and how far the next ones are behind. Those of the others fall with
their distance.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..index import Candidates
from .recipes import Recipe
from .signals import Signals, share_covered

BASE: Final = -2.12
COVERED: Final = 0.48  # ln of the share of the question's words
NEAR: Final = 0.74  # ln of the best cosine
TERMS: Final = 1.16  # ln of the number of terms: a long question that is met says more
IDENTIFIED: Final = 1.49
NOT_IDENTIFIED: Final = -1.43
UNIDENTIFIED: Final = -1.5  # at most, where the question names one thing and no record has it
ON_TIME: Final = 1.7  # at least, where only a time is asked about and this is from then
SAME_TIME: Final = 0.5  # a lower share is of a neighbouring day
DATED: Final = 1.31
LONG: Final = -1.26  # a document, of which one part matches
AHEAD: Final = 7.12  # of the next hit, times the share covered
AHEAD_OF_FIVE: Final = 4.9
ALIKE, LIKENESS = 1.0, 3.1  # of a vector alone: the log odds at a cosine of 1, and how they fall with it
GAP: Final = 15.0
FLOOR: Final = 0.05  # what nothing at all counts as
FAR: Final = 0.1  # a cosine below says no more: a long text is far from a word that it has
BEST: Final = 10  # hits whose words and meaning are looked at
NAMED: Final = ("date", "asked", "identifier", "fields")
MOST_AHEAD, MOST_AHEAD_OF_FIVE = 0.3, 0.5


def calibrate_scores(
    sums: NDArray[Any], rows: NDArray[np.intp], found: Candidates, signals: Signals, recipe: Recipe
) -> NDArray[Any]:
    """Scores for sums that fall, of the rows given; the order stays."""
    if not len(rows):
        return sums
    evidence = _evidence(sums, rows, found, signals, recipe)
    scores: NDArray[Any]
    if evidence is None:
        scores = np.clip(sums, 0.0, 1.0)
    else:
        scores = 1.0 / (1.0 + np.exp(-(evidence + GAP * (sums - sums[0]))))
    return scores


def _evidence(
    sums: NDArray[Any], rows: NDArray[np.intp], found: Candidates, signals: Signals, recipe: Recipe
) -> float | None:
    """The log odds that the best hit is right; None where neither words nor meaning tell of it."""
    best = rows[:BEST]
    near = None
    if "dense" in signals.weights:
        near = float(np.maximum.reduce(found.dense.take(best), initial=0.0))
    here = share_covered(found, best) if "words" in signals.weights else None
    if near is None and here is None:
        looked = recipe.dense > 0 or recipe.words > 0
        if not looked or fits(rows, signals):
            return None
        near = here = 0.0
    covered = here if here is not None else near
    meant = near if near is not None else here
    assert covered is not None
    assert meant is not None
    if not signals.terms:  # asked by a vector alone
        return ALIKE + LIKENESS * math.log(meant + FLOOR)
    own = share_covered(found, rows[:1]) if here is not None else meant
    odds = BASE + COVERED * math.log(covered + FLOOR) + NEAR * math.log(max(meant, FAR) + FLOOR)
    odds += TERMS * math.log(signals.terms + 1) + _weigh_names(int(rows[0]), signals)
    if np.isinf(found.traits.length[rows[0]]):
        odds += LONG
    odds += own * _ahead(sums)
    if signals.identifiers and "identifier" not in signals.shares:
        return min(odds, UNIDENTIFIED)
    return max(odds, _weigh_time(int(rows[0]), signals))


def _weigh_time(row: int, signals: Signals) -> float:
    """Where only a time is asked about, whatever is from then answers."""
    if not signals.only_time or "date" not in signals.shares:
        return -math.inf
    fit = float(signals.shares["date"][row])
    if fit < SAME_TIME and signals.meant is None:  # else neighbouring days are left out
        return -math.inf
    return ON_TIME * fit


def _weigh_names(row: int, signals: Signals) -> float:
    """What the identifiers, names and times of the question say of a hit."""
    odds = 0.0
    if signals.identifiers:
        has = float(signals.shares["identifier"][row]) if "identifier" in signals.shares else 0.0
        odds += IDENTIFIED * has if has else NOT_IDENTIFIED
    if "date" in signals.shares:
        odds += DATED * float(signals.shares["date"][row])
    if "asked" in signals.shares:
        odds += DATED * float(signals.shares["asked"][row])
    return odds


def _ahead(sums: NDArray[Any]) -> float:
    """How far the best hit is before the second and the fifth."""
    second = float(sums[1]) if len(sums) > 1 else 0.0
    fifth = float(sums[min(4, len(sums) - 1)]) if len(sums) > 1 else 0.0
    first = float(sums[0])
    return AHEAD * min(first - second, MOST_AHEAD) + AHEAD_OF_FIVE * min(first - fifth, MOST_AHEAD_OF_FIVE)


def fits(rows: NDArray[np.intp], signals: Signals) -> bool:
    """Whether the time, session, kind, place or values that are asked for are found: an answer by itself."""
    return any(bool(signals.shares[name][rows].any()) for name in NAMED if name in signals.weights)
