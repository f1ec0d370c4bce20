"""Which units hold a term, as the database keeps them: blocks of bytes, many units to a row.

A row per unit and term would be some ten times as large, and take ten times as long to read. So the
scores are BM25 over all of a scope, exactly as the embedded index gives them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import Floats, Seqs
from ..embedded.arrays import run_starts
from ..embedded.shard import Shard
from ..embedded.vectors import VectorPlanes
from .integrity import Damaged

PlaneShard = Shard[VectorPlanes]

SPAN: Final = 2**32  # seqs that a block may span
_LAYOUT: Final = (("<u4", 4), ("<u2", 2), ("<u2", 2), ("u1", 1))  # offset of the seq, unit, length, count
WIDTH: Final = sum(width for _, width in _LAYOUT)  # bytes of a unit in a block

READ: Final = """WITH held AS (
    SELECT term, sum(size) AS held FROM {words} WHERE term = ANY(%s::bigint[]) GROUP BY term),
ranked AS (SELECT term, held, sum(held) OVER (ORDER BY held, term) AS upto FROM held)
SELECT w.term, w.first, w.size, CASE WHEN r.upto <= %s OR r.upto = r.held THEN w.postings END
FROM {words} w JOIN ranked r USING (term)"""


class Occurrences(NamedTuple):
    """Where terms occur: which (its place in the question), in which unit, of what length, how often."""

    which: NDArray[np.intp]
    seq: Seqs
    unit: NDArray[np.int64]
    length: Floats
    times: Floats


def pack_blocks(shard: PlaneShard) -> Iterator[tuple[int, int, int, bytes]]:
    """(term, first seq, size, bytes) of each term of a shard, for `READ` to find."""
    shard.postings.merge()
    terms, docs, counts = shard.postings.base
    lengths = np.minimum(shard.postings.lengths, 65_535)
    columns = shard.columns.seq[docs], shard.columns.unit[docs], lengths[docs], counts
    starts = run_starts(terms)
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(terms)], strict=False):
        for run in _split_runs(columns[0], start, end):
            first = int(columns[0][run.start])
            yield (
                int(terms[start]),
                first,
                run.stop - run.start,
                _pack_block(first, [c[run] for c in columns]),
            )


def _split_runs(seqs: Seqs, start: int, end: int) -> Iterator[slice]:
    """Stretches whose seqs are near enough to each other for one block; nearly always one."""
    while start < end:
        stop = start + int(np.searchsorted(seqs[start:end], int(seqs[start]) + SPAN))
        yield slice(start, stop)
        start = stop


def _pack_block(first: int, columns: list[NDArray[Any]]) -> bytes:
    seqs, *rest = columns
    parts = zip((seqs - first, *rest), _LAYOUT, strict=True)
    return b"".join(part.astype(kind).tobytes() for part, (kind, _) in parts)


def list_terms(shard: PlaneShard) -> list[bytes]:
    """The ids of the terms of each row, for `thin_block` when the row goes."""
    shard.postings.merge()
    terms, docs, _ = shard.postings.base
    ends = np.cumsum(np.bincount(docs, minlength=shard.count))[:-1]
    rows = np.split(terms[np.argsort(docs, kind="stable")].astype("<u4"), ends)
    return [row.tobytes() for row in rows[: shard.count]]


def thin_block(first: int, size: int, held: bytes, gone: Seqs) -> tuple[int, bytes]:
    """A block without some seqs: what is left of its size, and of it."""
    columns = _unpack_block(size, held)
    stay = ~np.isin(columns[0].astype(np.int64) + first, gone)
    return int(stay.sum()), b"".join(column[stay].tobytes() for column in columns)


def read_blocks(terms: Sequence[int], rows: Sequence[Sequence[Any]]) -> Occurrences:
    """What `READ` answered, as arrays."""
    parts = []
    for term, first, size, held in rows:
        if held is not None:
            offset, unit, length, count = _unpack_block(size, held)
            which, seq = np.full(size, terms.index(term), np.intp), offset.astype(np.int64) + first
            parts.append(Occurrences(which, seq, unit.astype("i8"), length.astype("f4"), count.astype("f4")))
    return join_occurrences(parts)


def _unpack_block(size: int, held: bytes) -> list[NDArray[Any]]:
    if len(held) != size * WIDTH:
        raise Damaged(f"a block of {size} units has {len(held)} bytes")
    columns, start = [], 0
    for kind, width in _LAYOUT:
        columns.append(np.frombuffer(held, kind, size, start))
        start += width * size
    return columns


def read_shard(shard: PlaneShard, terms: Sequence[int]) -> Occurrences:
    """The same of a scope's part that is in RAM; only what lives."""
    if not shard.count or not terms:
        return join_occurrences([])
    which, docs, counts = shard.postings.lookup(terms)
    here = shard.columns.alive[docs]
    which, docs, counts = which[here], docs[here], counts[here]
    lengths = shard.postings.lengths[docs]
    units = shard.columns.unit[docs].astype(np.int64)
    return Occurrences(which, shard.columns.seq[docs], units, lengths, counts.astype("f4"))


def join_occurrences(parts: Sequence[Occurrences]) -> Occurrences:
    if not parts:
        none = np.empty(0, np.int64)
        return Occurrences(none.astype(np.intp), none, none, none.astype("f4"), none.astype("f4"))
    return Occurrences(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def leave_out(postings: Occurrences, gone: Seqs) -> Occurrences:
    """Only what is not of these seqs, which rise."""
    if not len(gone) or not len(postings.seq):
        return postings
    at = np.minimum(np.searchsorted(gone, postings.seq), len(gone) - 1)
    stay = gone[at] != postings.seq
    return Occurrences(*(column[stay] for column in postings))


def sum_scores(postings: Occurrences, scores: Floats) -> tuple[Seqs, Floats]:
    """Rising seqs of the records that hold any of the terms, and the score of the best unit of each."""
    if not len(postings.seq):
        return np.empty(0, np.int64), np.empty(0, np.float32)
    keys = postings.seq * 65_536 + postings.unit
    order = np.argsort(keys, kind="stable")
    keys, scores = keys[order], scores[order]
    starts = run_starts(keys)
    units, sums = keys[starts] // 65_536, np.add.reduceat(scores, starts)
    if not (postings.unit > 0).any():
        return units, sums
    starts = run_starts(units)
    return units[starts], np.maximum.reduceat(sums, starts)
