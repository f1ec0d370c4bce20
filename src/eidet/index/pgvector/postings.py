"""Which units hold a term, as the database keeps them: blocks of bytes, many units to a row.

A row per unit and term would be some ten times as large, and take ten times as long to read. So the
scores are BM25 over all of a scope, exactly as the embedded index gives them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import Floats
from ..embedded.postings import K1, B
from ..embedded.shard import Shard
from .integrity import Damaged

Seqs = NDArray[np.int64]

SPAN: Final = 2**32  # seqs that a block may span
_LAYOUT: Final = (("<u4", 4), ("<u2", 2), ("<u2", 2), ("u1", 1))  # offset of the seq, unit, length, count
WIDTH: Final = sum(width for _, width in _LAYOUT)  # bytes of a unit in a block

READ: Final = """WITH held AS (
    SELECT term, sum(size) AS held FROM {words} WHERE term = ANY(%s::bigint[]) GROUP BY term),
ranked AS (SELECT term, held, sum(held) OVER (ORDER BY held, term) AS upto FROM held)
SELECT w.term, w.first, w.size, CASE WHEN r.upto <= %s OR r.upto = r.held THEN w.postings END
FROM {words} w JOIN ranked r USING (term)"""


class Postings(NamedTuple):
    """Where terms occur: which (its place in the question), in which unit, of what length, how often."""

    which: NDArray[np.intp]
    seq: Seqs
    unit: NDArray[np.int64]
    length: Floats
    times: Floats


def blocks(shard: Shard) -> Iterator[tuple[int, int, int, bytes]]:
    """(term, first seq, size, bytes) of each term of a shard, for `READ` to find."""
    shard.postings.merge()
    terms, docs, counts = shard.postings.base
    columns = shard.seq[docs], shard.unit[docs], np.minimum(shard.postings.lengths, 65_535)[docs], counts
    starts = np.flatnonzero(np.append(True, terms[1:] != terms[:-1])) if len(terms) else np.empty(0, np.intp)
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(terms)], strict=False):
        for run in _runs(columns[0], start, end):
            first = int(columns[0][run.start])
            yield int(terms[start]), first, run.stop - run.start, _packed(first, [c[run] for c in columns])


def _runs(seqs: Seqs, start: int, end: int) -> Iterator[slice]:
    """Stretches whose seqs are near enough to each other for one block; nearly always one."""
    while start < end:
        stop = start + int(np.searchsorted(seqs[start:end], int(seqs[start]) + SPAN))
        yield slice(start, stop)
        start = stop


def _packed(first: int, columns: list[NDArray[Any]]) -> bytes:
    seqs, *rest = columns
    parts = zip((seqs - first, *rest), _LAYOUT, strict=True)
    return b"".join(part.astype(kind).tobytes() for part, (kind, _) in parts)


def terms_by_row(shard: Shard) -> list[bytes]:
    """The ids of the terms of each row, for `thinned` when the row goes."""
    shard.postings.merge()
    terms, docs, _ = shard.postings.base
    ends = np.cumsum(np.bincount(docs, minlength=shard.count))[:-1]
    rows = np.split(terms[np.argsort(docs, kind="stable")].astype("<u4"), ends)
    return [row.tobytes() for row in rows[: shard.count]]


def thinned(first: int, size: int, held: bytes, gone: Seqs) -> tuple[int, bytes]:
    """A block without some seqs: what is left of its size, and of it."""
    _check(size, held)
    rows = np.frombuffer(held[: 4 * size], "<u4").astype(np.int64) + first
    stay = ~np.isin(rows, gone)
    columns, start = [], 0
    for kind, width in _LAYOUT:
        columns.append(np.frombuffer(held, kind, size, start)[stay].tobytes())
        start += width * size
    return int(stay.sum()), b"".join(columns)


def read_blocks(terms: Sequence[int], rows: Sequence[Sequence[Any]]) -> Postings:
    """What `READ` answered, as arrays."""
    place = {term: at for at, term in enumerate(terms)}
    parts = [_block(place[term], first, size, held) for term, first, size, held in rows if held is not None]
    return joined(parts)


def _check(size: int, held: bytes) -> None:
    if len(held) != size * WIDTH:
        raise Damaged(f"a block of {size} units has {len(held)} bytes")


def _block(which: int, first: int, size: int, held: bytes) -> Postings:
    _check(size, held)
    columns, start = [], 0
    for kind, width in _LAYOUT:
        columns.append(np.frombuffer(held, kind, size, start))
        start += width * size
    offset, unit, length, count = columns
    return Postings(
        np.full(size, which, np.intp),
        offset.astype(np.int64) + first,
        unit.astype(np.int64),
        length.astype(np.float32),
        count.astype(np.float32),
    )


def of_shard(shard: Shard, terms: Sequence[int]) -> Postings:
    """The same of a scope's part that is in RAM; only what lives."""
    if not shard.count or not terms:
        return joined([])
    which, docs, counts = shard.postings.lookup(terms)
    here = shard.alive[docs]
    which, docs, counts = which[here], docs[here], counts[here]
    lengths = shard.postings.lengths[docs]
    return Postings(which, shard.seq[docs], shard.unit[docs].astype(np.int64), lengths, counts.astype("f4"))


def joined(parts: Sequence[Postings]) -> Postings:
    if not parts:
        none = np.empty(0, np.int64)
        return Postings(none.astype(np.intp), none, none, none.astype("f4"), none.astype("f4"))
    return Postings(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def without(postings: Postings, gone: Seqs) -> Postings:
    """Only what is not of these seqs, which rise."""
    if not len(gone) or not len(postings.seq):
        return postings
    at = np.minimum(np.searchsorted(gone, postings.seq), len(gone) - 1)
    stay = gone[at] != postings.seq
    return Postings(*(column[stay] for column in postings))


class Weights(NamedTuple):
    """What BM25 goes by in a scope: the rarity of each term, and how long a unit is on average."""

    rarity: Floats
    mean: float

    def scored(self, postings: Postings) -> Floats:
        """What each occurrence adds to its unit."""
        norm = postings.length * np.float32(K1 * B / self.mean)
        norm += K1 * (1 - B)
        norm += postings.times
        weight = (self.rarity * np.float32(K1 + 1))[postings.which]
        weight *= postings.times
        weight /= norm
        return weight


def weights(held: NDArray[Any], live: int, total: float) -> Weights:
    """`held` says how many living units hold each term."""
    rarity = np.log1p((live - held + 0.5) / (held + 0.5)).astype(np.float32)
    return Weights(rarity, total / live if live and total else 1.0)


def summed(postings: Postings, scores: Floats) -> tuple[Seqs, Floats]:
    """Rising seqs of the records that hold any of the terms, and the score of the best unit of each."""
    if not len(postings.seq):
        return np.empty(0, np.int64), np.empty(0, np.float32)
    keys = postings.seq * 65_536 + postings.unit
    order = np.argsort(keys, kind="stable")
    keys, scores = keys[order], scores[order]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    units, sums = keys[starts] // 65_536, np.add.reduceat(scores, starts)
    if not (postings.unit > 0).any():
        return units, sums
    starts = np.flatnonzero(np.append(True, units[1:] != units[:-1]))
    return units[starts], np.maximum.reduceat(sums, starts)
