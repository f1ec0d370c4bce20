"""Complete answers: detects questions that want all records on a topic, and chooses those that belong.

Records on one topic resemble each other, so each counts by its score and by its likeness to the best hits.
The numbers were chosen on the lists and counts of the development sets
(see `bench/complete.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from ..core.hit import AllHits, Hit, Hits
from ..index import Floats
from ..models.embed.quantise import dequantise_all

LOOKED_AT: Final = 1000  # hits that a complete answer is chosen from
LEAST_OF_ALL: Final = 1e-6  # the lowest score of one of them
_LIKE: Final = 5  # best hits that others are compared with
_LIKENESS: Final = 8.0  # log odds that a cosine of 1 with one of them adds
_MEMBER, _MAYBE = 5.0, 7.0  # log odds that a hit may be behind the first
_SURE: Final = 0.1  # the best score below which no hit surely belongs


def gather_all(found: Hits, width: int, limit: int) -> AllHits:
    """Separates the hits that belong to the topic, in order of time, from those that may; notes gaps.

    `found` has hits of any score, best first; `width` is that of the vectors.
    """
    if not found:
        return AllHits(scope=found.scope)
    odds = _weigh_all(found, width)
    order = sorted(range(len(found)), key=lambda at: -odds[at])
    behind = [odds[order[0]] - odds[at] for at in order]
    sure = _MEMBER if found[0].score >= _SURE else -1.0
    member = [found[at] for at, gap in zip(order, behind, strict=True) if gap <= sure]
    maybe = [found[at] for at, gap in zip(order, behind, strict=True) if sure < gap <= _MAYBE]
    reasons = []
    if len(member) > limit:
        reasons.append(f"{len(member) - limit:,} more belong: ask with a higher limit")
    if maybe:
        reasons.append(f"{len(maybe):,} more may belong: see `maybe`")
    if len(found) >= LOOKED_AT and behind[-1] <= _MAYBE:
        reasons.append(f"only the best {LOOKED_AT:,} were looked at: ask for less at once, with a filter")
    return AllHits(
        hits=tuple(sorted(member[:limit], key=lambda hit: (hit.record.occurred, hit.record.seq))),
        maybe=tuple(maybe[:limit]),
        reason="; ".join(reasons),
        scope=found.scope,
    )


def _weigh_all(found: Sequence[Hit], width: int) -> list[float]:
    """Returns the log odds of each hit, raised by its likeness to the best ones."""
    rows = _unit_rows(found, width)
    likeness = rows @ rows[:_LIKE].T
    np.fill_diagonal(likeness, 0.0)
    nearest = likeness.max(axis=1, initial=0.0)
    shares = [min(max(hit.score, LEAST_OF_ALL), 1 - LEAST_OF_ALL) for hit in found]
    return [
        math.log(share / (1 - share)) + _LIKENESS * float(near)
        for share, near in zip(shares, nearest, strict=True)
    ]


def _unit_rows(found: Sequence[Hit], width: int) -> Floats:
    """Returns the mean vector of each record, of length 1; zeros for a record without vectors."""
    vectors = dequantise_all([hit.record.vector for hit in found], [hit.record.level for hit in found], width)
    rows = np.zeros((len(found), width), np.float32)
    for row, vector in zip(rows, vectors, strict=True):
        if vector is not None and len(vector) % (4 * width) == 0:
            row[:] = np.frombuffer(vector, "<f4").reshape(-1, width).mean(axis=0)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = (rows / np.where(norms > 0, norms, 1)).astype(np.float32)
    return unit
