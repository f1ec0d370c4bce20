"""Which units hold a term, as the database keeps them: blocks of bytes, many units to a row.

A row per unit and term would be some ten times as large, and take ten times as long to read. So the
scores are BM25 over all of a scope, exactly as the embedded index gives them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...store import Head
from .. import Floats, Seqs
from ..embedded.arrays import run_starts
from ..embedded.occurrences import NOWHERE, Occurrences
from ..embedded.shard import Shard
from ..embedded.vectors import VectorPlanes
from .tables import Damaged

PlaneShard = Shard[VectorPlanes]

SPAN: Final = 2**32  # seqs that a block may span
PAGE: Final = 5_000  # units whose vectors are read at once
_LAYOUT: Final = (("<u4", 4), ("<u2", 2), ("<u2", 2), ("u1", 1))  # offset of the seq, unit, length, count
WIDTH: Final = sum(width for _, width in _LAYOUT)  # bytes of a unit in a block

READ: Final = """WITH held AS (
    SELECT term, sum(size) AS held FROM {words} WHERE term = ANY(%s::bigint[]) GROUP BY term),
ranked AS (SELECT term, held, sum(held) OVER (ORDER BY held, term) AS upto FROM held)
SELECT w.term, w.first, w.size, CASE WHEN r.upto <= %s OR r.upto = r.held THEN w.postings END
FROM {words} w JOIN ranked r USING (term)"""


def begin_shard(scope: str, width: int, head: Head) -> PlaneShard:
    """An empty one that goes on from a head."""
    shard = Shard(scope, VectorPlanes(width))
    shard.head = head
    return shard


def list_units(shard: PlaneShard) -> Iterator[tuple[int, int, float, bytes | None, bytes]]:
    """(seq, unit, length, vector, terms) of each row of a shard whose postings are merged.

    The terms are ids, for `thin_block` when the row goes.
    """
    terms, docs, _ = shard.postings.base
    ends = np.cumsum(np.bincount(docs, minlength=shard.count))[:-1]
    held = np.split(terms[np.argsort(docs, kind="stable")].astype("<u4"), ends)
    for start in range(0, shard.count, PAGE):
        rows = slice(start, min(start + PAGE, shard.count))
        yield from zip(
            shard.columns.seq[rows].tolist(),
            shard.columns.unit[rows].tolist(),
            shard.postings.lengths[rows].tolist(),
            _pack_vectors(shard.vectors.read(rows)),
            [row.tobytes() for row in held[rows]],
            strict=True,
        )


def _pack_vectors(vectors: Floats) -> Iterator[bytes | None]:
    """Each as a halfvec: two bytes for its width, two that are zero, and two for each number."""
    halves = vectors.astype(np.float16)
    packed = np.zeros((len(halves), 2 + halves.shape[1]), ">u2")
    packed[:, 0] = halves.shape[1]
    packed[:, 2:] = halves.view(np.uint16)
    for some, vector in zip((halves != 0).any(axis=1).tolist(), packed, strict=True):
        yield vector.tobytes() if some else None


def pack_blocks(shard: PlaneShard) -> Iterator[tuple[int, int, int, bytes]]:
    """(term, first seq, size, bytes) of each term of a shard, for `READ` to find."""
    shard.postings.merge()
    terms, docs, counts = shard.postings.base
    lengths = np.minimum(shard.postings.lengths, 65_535)
    seqs, *columns = shard.columns.seq[docs], shard.columns.unit[docs], lengths[docs], counts
    starts = run_starts(terms)
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(terms)], strict=False):
        for run in _split_runs(seqs, start, end):
            first = int(seqs[run.start])
            parts = [seqs[run] - first, *(column[run] for column in columns)]
            packed = [part.astype(kind).tobytes() for part, (kind, _) in zip(parts, _LAYOUT, strict=True)]
            yield int(terms[start]), first, run.stop - run.start, b"".join(packed)


def _split_runs(seqs: Seqs, start: int, end: int) -> Iterator[slice]:
    """Stretches whose seqs are near enough to each other for one block; nearly always one."""
    while start < end:
        stop = start + int(np.searchsorted(seqs[start:end], int(seqs[start]) + SPAN))
        yield slice(start, stop)
        start = stop


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
    return NOWHERE.join(*parts)


def _unpack_block(size: int, held: bytes) -> list[NDArray[Any]]:
    if len(held) != size * WIDTH:
        raise Damaged(f"a block of {size} units has {len(held)} bytes")
    columns, start = [], 0
    for kind, width in _LAYOUT:
        columns.append(np.frombuffer(held, kind, size, start))
        start += width * size
    return columns
