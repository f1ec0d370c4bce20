"""One scope in RAM: columns for filters, and words and a vector arm for scores."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Sequence
from itertools import repeat
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core.errors import Corrupt
from ...core.where import Where
from ...models.embed.quantise import dequantise_all
from ...store import Changes, Entry, Head
from ...text.analysis import Analysis, decode_analysis
from .. import Candidates, Floats, Neighbours, Probe, Rows, WordStatistics
from .arrays import top, unite
from .attributes import Attributes
from .columns import FEW, ColumnTable
from .filters import Resolve
from .lexicon import Vocabulary, WordReader
from .postings import Bm25, Postings
from .row_traits import LastPassing, Passing, Portrait, describe_rows, portray
from .vectors import Scorer, VectorPlanes, unit

log: logging.Logger = logging.getLogger("eidet.index")

V_co = TypeVar("V_co", bound=VectorPlanes, covariant=True)

EXACT: Final = 8  # one in so many of the depth is scored exactly
WHOLE: Final = 4096  # rows up to which all are candidates
_ALIGNED: Final = 20_000  # rows up to which words are aligned; in larger scopes they are only counted
DEAD_ROWS: Final = 1000  # deleted rows that may stay marked; in large scopes, a quarter


class Shard(Generic[V_co]):
    """The index of one scope: `columns`, `postings` and `vectors` have the same rows.

    Not thread-safe: callers hold a lock.
    """

    def __init__(self, scope: str, vectors: V_co) -> None:
        self.scope = scope
        self.head: Head = Head(0, 0)
        self.total: float = 0.0  # terms in living rows
        self.columns: ColumnTable = ColumnTable(scope)
        self.vectors = vectors
        self.postings: Postings = Postings()
        self.attributes: Attributes = Attributes()
        self.damaged: dict[int, str] = {}  # seq -> tier of unreadable records, which are not searched
        self._vocabulary: Vocabulary | None = None
        self._passing = LastPassing()

    @property
    def count(self) -> int:
        return self.columns.count

    @property
    def live(self) -> int:
        return self.columns.live

    @property
    def records(self) -> int:
        return self.columns.records

    # Following the store.

    def apply(self, changes: Changes) -> None:
        if changes.gone or changes.entries:
            self._passing.forget()
        if changes.gone:
            self._mark_gone(np.array(changes.gone, np.int64))
            for seq in changes.gone:
                self.damaged.pop(seq, None)
        if changes.entries:
            self._append_sound(changes.entries)
        self.head = changes.head
        if self.count - self.live > max(DEAD_ROWS, self.count // 4):
            self.compact()

    def _mark_gone(self, seqs: NDArray[np.int64]) -> None:
        rows = self.columns.living_rows_of(seqs)
        self.vectors.mark_gone(rows)
        self.columns.mark_gone(rows)
        self.total -= float(self.postings.lengths[rows].sum(dtype=np.float64))

    def _append_sound(self, entries: Sequence[Entry]) -> None:
        """Adds the readable entries, and notes the damaged ones, so that the others are still found."""
        try:
            self._append(entries)
        except (Corrupt, KeyError, ValueError, TypeError) as error:
            if len(entries) > 1:
                for entry in entries:
                    self._append_sound([entry])
            else:
                self.damaged[entries[0].seq] = str(entries[0].tier)
                log.warning(
                    "a record of scope %s is damaged and cannot be found (row %s: %r); `eidet doctor`",
                    self.scope,
                    entries[0].seq,
                    error,
                )

    def _append(self, entries: Sequence[Entry]) -> None:
        given = Entry(*zip(*entries, strict=True))  # type: ignore[arg-type]
        blobs: tuple[bytes, ...] = given.terms  # type: ignore[assignment]
        read = [decode_analysis(blob) for blob in blobs]
        vectors, width = _raise_levels(given, self.vectors.width), 4 * self.vectors.width
        sizes = list(map(_count_rows, read, vectors, repeat(width)))
        start = self.count
        self.columns.append(given, read, np.array(sizes, np.intp))
        self.vectors.append(_split_vectors(vectors, sizes, width))
        units = _list_units(read, sizes)
        self.postings.append(units)
        self.total += float(self.postings.lengths[start : self.count].sum(dtype=np.float64))
        self._extend_vocabulary(units)

    def _extend_vocabulary(self, units: Sequence[bytes]) -> None:
        """Adds the words of new rows if they are few; else rebuilds the vocabulary."""
        if len(units) > FEW:
            self._vocabulary = None
        if self._vocabulary is not None:
            self._vocabulary.append([np.frombuffer(u[: len(u) // 5 * 4], "<u4").tolist() for u in units])

    def reserve(self, count: int) -> None:
        """Makes room for `count` rows in total."""
        self.vectors.reserve(count)
        self.columns.reserve(count)

    def compact(self) -> None:
        """Drops the deleted rows."""
        self._passing.forget()
        alive = self.columns.alive.copy()
        for part in (self.columns, self.vectors, self.postings, self.attributes):
            part.keep(alive)
        self._vocabulary = None

    def settle(self) -> None:
        """Drops deleted rows and merges the postings, as a cache file needs it."""
        if self.live < self.count:
            self.compact()
        self.postings.merge()

    # Searching.

    def search(
        self, probe: Probe, resolve: Resolve, lexicon: WordReader | None = None, scorer: Scorer | None = None
    ) -> Candidates:
        """Returns the best candidates of both arms. A `scorer` replaces the shard's own vectors."""
        arm = scorer or self.vectors
        passing = self._passing.read(self.columns, probe.where, probe.now, resolve)
        query = None if probe.vector is None or not self.count else unit(probe.vector)
        coarse = None if query is None else arm.scan(query, passing.rows)
        words, rarity = self._count_words(probe, passing)
        best = _choose_candidates(coarse, words, passing.count, probe, self.live)
        if best is not None:
            best = self._add_neighbours(best, passing.rows)
        rows = passing.pick(best)
        counted = _take(words, best, len(rows))
        dense = _take(coarse, best, len(rows))
        if query is not None and len(rows):
            dense = arm.sharpen(query, dense, rows, max(1, probe.depth // EXACT))
        aligned = self.align_words(probe, rows, lexicon, rarity)
        seen = self._portray(rows, None if best is not None else passing)
        return self.describe(
            probe, seen, dense, counted, aligned, rarity=float(rarity.sum()), kept=passing.records
        )

    def _portray(self, rows: Rows, whole: Passing | None) -> Portrait:
        """Describes the rows; a portrait of all passing rows is cached in `whole`."""
        if whole is not None and whole.portrait is not None:
            return whole.portrait
        turn = self.columns.sessions.turn
        seen = portray(self.columns, self.postings, rows, turn, is_kept=whole is not None)
        if whole is not None:
            whole.portrait = seen
        return seen

    def describe(
        self,
        probe: Probe,
        seen: Portrait,
        dense: Floats,
        words: Floats,
        aligned: Floats | None,
        *,
        rarity: float,
        kept: int,
        voices: tuple[str, ...] | None = None,
    ) -> Candidates:
        """Returns the records of a portrait as candidates, with the score of the best unit in each arm.

        The scores given are per unit. `voices` default to those of the columns.
        """
        columns = self.columns
        return Candidates(
            scopes=[self.scope],
            scope=seen.scope,
            seq=seen.seq,
            dense=seen.best_units(dense),
            words=seen.best_units(words),
            traits=describe_rows(
                columns,
                self.postings,
                seen,
                probe.hints,
                voices=columns.voices if voices is None else voices,
                aligned=None if aligned is None else seen.best_units(aligned),
            ),
            rarity=rarity,
            damaged=dict(Counter(self.damaged.values())) if self.damaged else {},
            searched=self.records,
            kept=kept,
        )

    def around(
        self, seqs: Sequence[int], reach: int, where: Where | None, now: float, resolve: Resolve
    ) -> dict[int, Neighbours]:
        """Implements `Index.around`."""
        columns = self.columns
        keep, order = columns.select_passing(where, now, resolve), columns.sessions
        held, turn = columns.seq, order.turn
        rows = held.searchsorted(seqs)
        rows = rows[rows < self.count]
        rows = rows[np.isin(held[rows], seqs) & (turn[rows] >= 0)]
        if keep is not None:
            rows = rows[keep[rows]]
        found = {}
        for seq, row, at in zip(held[rows].tolist(), rows.tolist(), turn[rows].tolist(), strict=True):
            near = order.beside(row, reach, keep) if reach else []
            beside = zip(held.take(near).tolist(), turn.take(near).tolist(), strict=True) if near else ()
            found[seq] = Neighbours(at, tuple(beside))
        return found

    def _add_neighbours(self, best: Rows, passed: Rows | None) -> Rows:
        """Adds the records before and after the candidates in their sessions, if they passed."""
        rows = best if passed is None else passed[best]
        around = self.columns.sessions.around(rows)
        if passed is not None and len(around):
            at = np.minimum(np.searchsorted(passed, around), len(passed) - 1)
            around = at[passed[at] == around]
        return unite((best, around), self.count if passed is None else len(passed))

    def align_words(
        self, probe: Probe, rows: Rows, lexicon: WordReader | None, rarity: Floats
    ) -> Floats | None:
        """Returns the share of the question's words, or similar ones, that each row has; None if unknown."""
        spelt = probe.hints.spelt
        if lexicon is None or not spelt or _count_searched(probe, self.live) > _ALIGNED:
            return None
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(self.postings, lexicon)
        return self._vocabulary.align(probe.terms, spelt, rarity, rows)

    def _count_words(self, probe: Probe, passing: Passing) -> tuple[Floats | None, Floats]:
        """Returns the word score of each row that passed (None without terms), and each term's rarity."""
        terms, known = probe.terms, probe.statistics
        if not terms or not self.count:
            return None, np.zeros(len(terms), np.float32)
        only = None if passing.all_living else passing.keep
        scale = None if known is None else Bm25.of_terms(np.array(known.holding), known.units, known.terms)
        scores, rarity = self.postings.bm25(
            terms, alive=self._alive, live=self.live, total=self.total, only=only, scale=scale
        )
        return scores if passing.rows is None else scores.take(passing.rows), rarity

    def count_terms(self, terms: Sequence[int]) -> WordStatistics:
        """Returns the BM25 statistics of this scope."""
        held = self.postings.count_rows(terms, self._alive) if self.count else np.zeros(len(terms), np.intp)
        return WordStatistics(tuple(held.tolist()), self.live, self.total)

    @property
    def _alive(self) -> NDArray[np.bool_] | None:
        """The mask of living rows; None if all are alive."""
        return self.columns.alive if self.live < self.count else None

    @property
    def words_nbytes(self) -> int:
        return 0 if self._vocabulary is None else self._vocabulary.nbytes

    @property
    def nbytes(self) -> int:
        kept = self.columns.nbytes + self.vectors.nbytes + self.postings.nbytes
        return kept + self.words_nbytes + self.attributes.nbytes


def _choose_candidates(
    coarse: Floats | None, words: Floats | None, kept: int, probe: Probe, live: int
) -> Rows | None:
    """Returns the ascending positions of the best `depth` of each arm; None for all."""
    if kept + _count_searched(probe, live) - live <= max(probe.depth, WHOLE):
        return None
    arms = zip((coarse, words), probe.floors, strict=True)
    best = [_find_best(scores, probe.depth, floor) for scores, floor in arms if scores is not None]
    return unite(best, kept) if best else np.arange(0)


def _count_searched(probe: Probe, live: int) -> int:
    """Returns the number of living rows in all scopes of the question."""
    return live if probe.statistics is None else probe.statistics.units


def _find_best(scores: Floats, depth: int, floor: float) -> Rows:
    """Returns the positions of the best `depth` scores above the floor."""
    if floor == -math.inf:
        return top(scores, depth)
    high = (scores > floor).nonzero()[0]  # most rows contain none of the words
    return high if len(high) <= depth else high[top(scores[high], depth)]


def _take(scores: Floats | None, best: Rows | None, count: int) -> Floats:
    """Returns all scores or the best ones; zeros for an arm that was not asked."""
    if scores is None:
        return np.zeros(count, np.float32)
    return scores if best is None else scores.take(best)


def _raise_levels(given: Entry, width: int) -> Sequence[bytes | None]:
    """Returns the vectors of records, whatever their level, as float32."""
    vectors: Sequence[bytes | None] = given.vector  # type: ignore[assignment]
    levels: Sequence[int] = given.level  # type: ignore[assignment]
    return dequantise_all(vectors, levels, width) if any(levels) else vectors


def _count_rows(analysis: Analysis, vector: bytes | None, width: int) -> int:
    """Counts the rows of a record; another embedder may have made more or fewer vectors than units."""
    if vector is None:
        return max(1, len(analysis.units))
    size = len(vector)
    if size == width and len(analysis.units) == 1:  # as in nearly all records
        return 1
    if size % width:
        size = 0
    return max(1, len(analysis.units), size // width)


def _list_units(read: Sequence[Analysis], sizes: Sequence[int]) -> list[bytes]:
    """Returns the packed words of every row; empty for a row beyond the record's units."""
    units: list[bytes] = []
    for analysis, size in zip(read, sizes, strict=True):
        units += analysis.units
        if size > len(analysis.units):
            units += [b""] * (size - len(analysis.units))
    return units


def _split_vectors(vectors: Sequence[bytes | None], sizes: Sequence[int], width: int) -> list[bytes | None]:
    """Returns one vector per row; None for bytes that are no vectors of this width."""
    if all(size == 1 for size in sizes):
        return list(vectors)
    rows: list[bytes | None] = []
    for blob, size in zip(vectors, sizes, strict=True):
        whole = b"" if blob is None or len(blob) % width else blob
        parts = [whole[at : at + width] for at in range(0, len(whole), width)]
        rows += [*parts, *[None] * (size - len(parts))]
    return rows
