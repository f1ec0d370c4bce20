"""One scope in RAM: columns to filter by, vectors and postings to score with."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.errors import Corrupt
from ...core.record import Kind, Place, Tier, Trust
from ...core.where import Where
from ...models.embed.quantise import all_raised
from ...store import Changes, Entry, Head
from ...text.analysis import Analysis, read_analysis
from .. import Floats, Found, Neighbours, Probe, Rows, Span
from .attributes import Attributes
from .filters import mask
from .forward import Forward
from .lexicon import Reader
from .postings import Postings
from .sessions import Sessions
from .vectors import Vectors, extended, grown, unit

log = logging.getLogger("eidet.index")

Mask = NDArray[np.bool_]
Resolve = Callable[[Where], NDArray[np.int64]]

FLOATS: Final = ("occurred", "created", "step", "x", "y", "z", "importance", "expires")
LABELS: Final = ("agent", "session", "who", "source")
TYPES: Final[dict[str, Any]] = {
    "seq": np.int64,
    "kind": np.uint8,
    "tier": np.uint8,
    "trust": np.uint8,
    "flags": np.uint8,
    "unit": np.uint16,
    "alive": np.bool_,
    **dict.fromkeys(FLOATS, np.float64),
    **dict.fromkeys(LABELS, np.int32),
}
_KINDS: Final = {str(kind): code for code, kind in enumerate(Kind)}
_TIERS: Final = {str(tier): code for code, tier in enumerate(Tier)}
_TRUST: Final = {str(trust): code for code, trust in enumerate(Trust)}
NONE: Final = -1
UNSEEN: Final = -2
EXACT: Final = 8  # of the depth, this part is scored exactly
WHOLE: Final = 4096  # so many rows are all candidates
ALIGNED: Final = 20_000  # in larger scopes words are not aligned, only counted
FEW: Final = 64  # rows at most that are added to what was made for searching; more make it anew
DEAD_ROWS: Final = 1000  # so many may be marked before they are dropped; in large scopes, a quarter


class Shard:
    """The index of one scope. Rows are in order of seq; a row that is gone is only marked.

    A row is a unit of a record: most records have one, long ones several, one after the other.
    Not safe by itself: whoever uses it holds a lock.
    """

    def __init__(self, scope: str, width: int) -> None:
        self.scope = scope
        self.head = Head(0, 0)
        self.count = 0
        self.live = 0  # living rows
        self.records = 0  # living records
        self.total = 0.0  # terms in living rows
        self.mortal = False  # whether any row ever had an expiry
        self.columns: dict[str, NDArray[Any]] = {name: np.empty(0, kind) for name, kind in TYPES.items()}
        self.codes: dict[str, dict[str, int]] = {name: {} for name in LABELS}
        self.vectors = Vectors(width)
        self.postings = Postings()
        self.attributes = Attributes()
        self.damaged: dict[int, str] = {}  # seq -> tier of records that cannot be read, and are not searched
        self.days = np.empty((0, 3), np.int32)  # row, first and last day of the times texts speak of
        self._voices: tuple[str, ...] | None = None
        self._sessions: Sessions | None = None
        self._forward: Forward | None = None

    # What filters read: the columns up to `count`.

    def __len__(self) -> int:
        return self.count

    def __getattr__(self, name: str) -> NDArray[Any]:
        try:
            return self.__dict__["columns"][name][: self.__dict__["count"]]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(name) from None

    def code(self, column: str, label: str) -> int:
        return self.codes[column].get(label, UNSEEN)

    # Following the store.

    def apply(self, changes: Changes) -> None:
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
        rows = self._rows_of(np.unique(seqs))
        rows = rows[self.alive[rows]]
        self.alive[rows] = False
        self.live -= len(rows)
        self.records -= int((self.unit[rows] == 0).sum())
        self.total -= float(self.postings.lengths[rows].sum(dtype=np.float64))
        self._sessions = self._voices = None

    def _rows_of(self, seqs: NDArray[np.int64]) -> Rows:
        """All rows of the records with these seqs; not every seq need be one of ours."""
        first, last = np.searchsorted(self.seq, seqs), np.searchsorted(self.seq, seqs, side="right")
        sizes = last - first
        return np.repeat(first - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))

    def _append_sound(self, entries: Sequence[Entry]) -> None:
        """Adds what can be read: a damaged record does not keep the others from being found."""
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
        read = [read_analysis(blob) for blob in blobs]
        vectors, width = self._floats(given), 4 * self.vectors.width
        sizes = np.array([_size(one, v, width) for one, v in zip(read, vectors, strict=True)], np.intp)
        added = int(sizes.sum())
        start = self.count
        rows = slice(start, start + added)
        self._reserve(start + added)
        self._fill(given, rows, sizes)
        self.columns["flags"][rows] = np.repeat([analysis.flags for analysis in read], sizes)
        self.columns["unit"][rows] = np.arange(added) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        self._add_days(read, start + np.cumsum(sizes) - sizes)
        units = [unit for one, size in zip(read, sizes.tolist(), strict=True) for unit in _units(one, size)]
        self.vectors.append(_split(vectors, sizes.tolist(), width))
        self.postings.append(units)
        self.count += added
        self.live += added
        self.records += len(entries)
        self._voices = None
        self.total += float(self.postings.lengths[rows].sum(dtype=np.float64))
        self._extend(start, units, added == len(entries))

    def _floats(self, given: Entry) -> Sequence[bytes | None]:
        """The vectors of records, of whatever level, as float32."""
        vectors: Sequence[bytes | None] = given.vector  # type: ignore[assignment]
        levels: Sequence[int] = given.level  # type: ignore[assignment]
        if not any(levels):
            return vectors
        return all_raised(vectors, levels, self.vectors.width)

    def _fill(self, given: Entry, rows: slice, sizes: NDArray[np.intp]) -> None:
        for name in FLOATS:
            self.columns[name][rows] = np.repeat(np.array(getattr(given, name), np.float64), sizes)
        for name in LABELS:
            self.columns[name][rows] = np.repeat(self._encode(name, getattr(given, name)), sizes)
        self.columns["seq"][rows] = np.repeat(given.seq, sizes)
        self.columns["kind"][rows] = np.repeat([_KINDS[kind] for kind in given.kind], sizes)
        self.columns["tier"][rows] = np.repeat([_TIERS[tier] for tier in given.tier], sizes)
        self.columns["trust"][rows] = np.repeat([_TRUST[trust] for trust in given.trust], sizes)
        self.columns["alive"][rows] = True
        expires = self.columns["expires"][rows]
        self.mortal = self.mortal or not np.isnan(expires).all()
        expires[np.isnan(expires)] = np.inf

    def _add_days(self, read: Sequence[Analysis], rows: NDArray[np.intp]) -> None:
        found = [(int(row), *days) for row, one in zip(rows, read, strict=True) for days in one.days]
        if found:
            self.days = np.concatenate((self.days, np.array(found, np.int32)))

    def _extend(self, start: int, units: Sequence[bytes], whole: bool) -> None:
        """Adds new rows to what was made for searching, if they are few; else it is made anew."""
        if len(units) > FEW:
            self._sessions = self._forward = None
            return
        if self._forward is not None:
            self._forward.append([np.frombuffer(u[: len(u) // 5 * 4], "<u4").tolist() for u in units])
        if not whole:
            self._sessions = None
        if self._sessions is not None:
            fits = (
                self._sessions.append(r, int(self.session[r]), self.occurred)
                for r in range(start, self.count)
            )
            self._sessions = self._sessions if all(fits) else None

    def _encode(self, name: str, labels: Sequence[str | None]) -> list[int]:
        codes = self.codes[name]
        return [NONE if label is None else codes.setdefault(label, len(codes)) for label in labels]

    def reserve(self, count: int) -> None:
        """Makes room for so many rows in all."""
        self.vectors.reserve(count)
        self._reserve(count)

    def _reserve(self, count: int) -> None:
        capacity = len(self.columns["seq"])
        if count > capacity:
            capacity = grown(capacity, count)
            for name, column in self.columns.items():
                self.columns[name] = extended(column, self.count, capacity)

    def compact(self) -> None:
        """Drops the rows that are gone."""
        alive = self.alive.copy()
        for name in self.columns:
            self.columns[name] = self.columns[name][: self.count][alive]
        self.vectors.keep(alive)
        self.postings.keep(alive)
        self.attributes.keep(alive)
        stay = alive[self.days[:, 0]]
        self.days = self.days[stay]
        self.days[:, 0] = (np.cumsum(alive) - 1)[self.days[:, 0]]
        self.count = self.live = int(alive.sum())
        self._sessions = self._forward = None

    def settle(self) -> None:
        """Brings everything into its final place, as a cache file wants it."""
        if self.live < self.count:
            self.compact()
        self.postings.merge()

    # Searching.

    def passing(self, where: Where | None, now: float, resolve: Resolve) -> Mask | None:
        """Which rows may be answered; None when all may."""
        keep = None if where is None else mask(where, self, resolve)
        if keep is not None and keep.all():
            keep = None  # all rows are searched faster as all than as those that passed
        if self.live < self.count:
            keep = self.alive.copy() if keep is None else np.logical_and(keep, self.alive)
        if self.mortal:
            fresh = self.expires > now
            keep = fresh if keep is None else np.logical_and(keep, fresh)
        return keep

    def search(self, probe: Probe, resolve: Resolve, lexicon: Reader | None = None) -> Found:
        keep = self.passing(probe.where, probe.now, resolve)
        passed = None if keep is None else np.flatnonzero(keep)
        kept = self.count if passed is None else len(passed)
        query = None if probe.vector is None else unit(probe.vector)
        coarse = self._scan(query, passed)
        words, rarity = self._words(probe.terms, keep, passed)
        hits = None if words is None else words.nonzero()[0]  # most rows hold none of the words
        best = _candidates(coarse, words, hits, kept, probe.depth)
        if len(best) < kept:
            best = self._with_neighbours(best, passed)
        rows = best if passed is None else passed[best]
        dense = self._sharpened(query, coarse, best, rows, max(1, probe.depth // EXACT))
        counted = np.zeros(len(rows), np.float32) if words is None else words[best]
        aligned = self._aligned(probe, rows, lexicon, rarity)
        spans = {"dense": _dense_span(coarse, dense), "words": _words_span(words, hits)}
        if aligned is not None:
            low = float(aligned.min()) if len(rows) == kept and kept else 0.0
            spans["aligned"] = Span(low, float(aligned.max(initial=0)))
        found = self._found(probe, rows, dense, counted, aligned, spans, keep)
        found.rarity = float(rarity.sum())
        return found

    def _found(
        self,
        probe: Probe,
        rows: Rows,
        dense: Floats,
        words: Floats,
        aligned: Floats | None,
        spans: dict[str, Span],
        keep: Mask | None,
    ) -> Found:
        """The records of the rows, each with the best of its units in every arm."""
        seq = self.seq[rows]
        heads = np.flatnonzero(np.append(True, seq[1:] != seq[:-1])) if len(rows) else rows
        if len(heads) < len(rows):
            dense, words = np.maximum.reduceat(dense, heads), np.maximum.reduceat(words, heads)
            aligned = None if aligned is None else np.maximum.reduceat(aligned, heads)
        if self.records < self.live:
            rows = rows[heads] - self.unit[rows[heads]]  # where each record begins
        return Found(
            scopes=[self.scope],
            scope=np.zeros(len(rows), np.int32),
            seq=self.seq[rows],
            dense=dense,
            words=words,
            aligned=aligned,
            importance=self.importance[rows],
            occurred=self.occurred[rows],
            session=self.session[rows],
            turn=self._ordered().turn[rows],
            who=self.who[rows],
            kind=self.kind[rows],
            flags=self.flags[rows],
            length=self._lengths(rows),
            days=self._days_of(rows),
            voices=self.voices,
            mentions=tuple(self._mentioned(rows, name) for name in probe.names),
            inside=None if probe.session is None else self._inside(rows, probe.session),
            away=None if probe.place is None else self._away(rows, probe.place),
            spans=spans,
            damaged=dict(Counter(self.damaged.values())),
            searched=self.records,
            kept=self.records if keep is None else int((keep & (self.unit == 0)).sum()),
        )

    @property
    def voices(self) -> tuple[str, ...]:
        """Every who of the scope, by code; "" for one who has no living record."""
        if self._voices is None:
            here = np.bincount(self.who[self.alive & (self.who >= 0)], minlength=len(self.codes["who"]))
            self._voices = tuple(who if here[at] else "" for at, who in enumerate(self.codes["who"]))
        return self._voices

    def _mentioned(self, rows: Rows, name: tuple[int, ...]) -> Mask:
        """Whether the records that begin at the rows have every term of a name (in one unit)."""
        if not name:
            return np.zeros(len(rows), np.bool_)
        terms = tuple(set(name))
        _, docs, _ = self.postings.lookup(terms)
        held = np.bincount(docs, minlength=self.count) >= len(terms)
        if self.records < self.live:
            held[docs - self.unit[docs]] |= held[docs]
        return held[rows]

    def _inside(self, rows: Rows, name: str) -> Mask:
        """Whether the rows are of a session by that name: "7" is also "session-7"."""
        low, codes = name.casefold(), self.codes["session"]
        named = [code for label, code in codes.items() if _ends_with(label.casefold(), low)]
        return np.isin(self.session[rows], named)

    def _away(self, rows: Rows, place: Place) -> NDArray[np.float64]:
        """How far the rows are from a place; without a height they are at 0, as in filters."""
        x, y, z = (getattr(self, axis)[rows] for axis in "xyz")
        away = (x, y, np.where(np.isnan(z), 0.0, z))
        middle = (*place, 0.0)[:3]
        return np.sqrt(
            sum(((at - to) ** 2 for at, to in zip(away, middle, strict=True)), np.zeros(len(rows)))
        )

    def around(
        self, seqs: Sequence[int], reach: int, where: Where | None, now: float, resolve: Resolve
    ) -> dict[int, Neighbours]:
        keep, order = self.passing(where, now, resolve), self._ordered()
        found = {}
        for seq, row in zip(seqs, np.searchsorted(self.seq, seqs).tolist(), strict=True):
            if (
                row < self.count
                and self.seq[row] == seq
                and order.turn[row] >= 0
                and (keep is None or keep[row])
            ):
                near = order.beside(row, reach, keep)
                beside = tuple((int(self.seq[at]), int(order.turn[at])) for at in near)
                found[seq] = Neighbours(int(order.turn[row]), beside)
        return found

    def _lengths(self, rows: Rows) -> Floats:
        """Terms of the records that begin at the rows; infinite for a record in several units."""
        lengths = self.postings.lengths[rows]
        further = np.minimum(rows + 1, max(self.count - 1, 0))
        lengths[self.unit[further] > 0] = np.inf
        return lengths

    def _days_of(self, rows: Rows) -> NDArray[np.int32]:
        """Days of the rows, which rise, by their position among them."""
        if not len(self.days) or not len(rows):
            return np.empty((0, 3), np.int32)
        at = np.minimum(np.searchsorted(rows, self.days[:, 0]), len(rows) - 1)
        here = rows[at] == self.days[:, 0]
        found: NDArray[np.int32] = self.days[here]
        found[:, 0] = at[here]
        return found

    def _ordered(self) -> Sessions:
        if self._sessions is None:
            self._sessions = Sessions(self.session, self.occurred, self.alive, self.unit == 0)
        return self._sessions

    def _with_neighbours(self, best: Rows, passed: Rows | None) -> Rows:
        """The candidates and the records before and after them in their sessions, as far as they passed."""
        rows = best if passed is None else passed[best]
        around = self._ordered().around(rows)
        if passed is not None and len(around):
            at = np.minimum(np.searchsorted(passed, around), len(passed) - 1)
            around = at[passed[at] == around]
        return distinct(np.concatenate((best, around)))

    def _aligned(self, probe: Probe, rows: Rows, lexicon: Reader | None, rarity: Floats) -> Floats | None:
        if lexicon is None or not probe.spelt or self.live > ALIGNED:
            return None
        if self._forward is None:
            self._forward = Forward(self.postings, lexicon.learn)
        return self._forward.align(probe.terms, lexicon.vectors(probe.spelt), rarity, rows)

    def _scan(self, query: Floats | None, passed: Rows | None) -> Floats | None:
        """A score for each row that passed; picking rows out first pays when they are few."""
        if query is None or not self.count:
            return None
        if passed is None or len(passed) * 4 <= self.count:
            return self.vectors.scan(query, passed)
        return self.vectors.scan(query, None)[passed]

    def _sharpened(
        self, query: Floats | None, coarse: Floats | None, best: Rows, rows: Rows, count: int
    ) -> Floats:
        """The candidates' cosines: exact for the best `count`, as the scan gave them for the rest."""
        if query is None or coarse is None:
            return np.zeros(len(rows), np.float32)
        dense = coarse[best]
        near = top(dense, count)
        dense[near] = self.vectors.exact(query, rows[near])
        return dense

    def _words(
        self, terms: Sequence[int], keep: Mask | None, passed: Rows | None
    ) -> tuple[Floats | None, Floats]:
        """A score for each row that passed, and how rare each term is in the scope."""
        if not terms or not self.count:
            return None, np.zeros(len(terms), np.float32)
        alive = self.alive if self.live < self.count else None
        scores, rarity = self.postings.bm25(terms, alive=alive, live=self.live, total=self.total, only=keep)
        return scores if passed is None else scores[passed], rarity

    @property
    def nbytes(self) -> int:
        columns = sum(column.nbytes for column in self.columns.values())
        labels = sum(len(label) + 100 for codes in self.codes.values() for label in codes)
        words = 0 if self._forward is None else self._forward.nbytes
        derived = words + self.attributes.nbytes
        return columns + labels + self.vectors.nbytes + self.postings.nbytes + self.days.nbytes + derived


def _candidates(
    coarse: Floats | None, words: Floats | None, hits: Rows | None, kept: int, depth: int
) -> Rows:
    """The best `depth` of each arm, as rising positions in the arms' scores."""
    if kept <= max(depth, WHOLE):
        return np.arange(kept)
    best = [] if coarse is None else [top(coarse, depth)]
    if words is not None and hits is not None:
        best.append(hits[top(words[hits], depth)])
    return distinct(np.concatenate(best)) if best else np.arange(0)


def _ends_with(label: str, name: str) -> bool:
    return label.endswith(name) and not label[: len(label) - len(name)][-1:].isalnum()


def _size(analysis: Analysis, vector: bytes | None, width: int) -> int:
    """The rows of a record: another embedder may have made more or fewer vectors than it has units."""
    made = 0 if vector is None or len(vector) % width else len(vector) // width
    return max(1, len(analysis.units), made)


def _units(analysis: Analysis, size: int) -> tuple[bytes, ...]:
    return analysis.units + (b"",) * (size - len(analysis.units))


def _split(vectors: Sequence[bytes | None], sizes: Sequence[int], width: int) -> list[bytes | None]:
    """A vector, or none, for every row; bytes that are no vectors of this width are none."""
    if all(size == 1 for size in sizes):
        return list(vectors)
    return [part for blob, size in zip(vectors, sizes, strict=True) for part in _parts(blob, size, width)]


def _parts(blob: bytes | None, size: int, width: int) -> list[bytes | None]:
    if blob is None or len(blob) % width:
        return [None] * size
    parts: list[bytes | None] = [blob[at : at + width] for at in range(0, len(blob), width)]
    return parts + [None] * (size - len(parts))


def distinct(rows: Rows) -> Rows:
    """The rows rising, each once: `np.unique` without its detours, at a third of the cost."""
    rows = np.sort(rows)
    return rows[np.append(True, rows[1:] != rows[:-1])] if len(rows) else rows


def top(scores: Floats, depth: int) -> Rows:
    """The positions of the `depth` highest scores, in no order."""
    if len(scores) <= depth:
        return np.arange(len(scores))
    above = scores > scores.min()
    if depth <= np.count_nonzero(above) < len(scores) // 2:  # the sort is slow where most are the same
        few = np.flatnonzero(above)
        return few[np.argpartition(scores[few], -depth)[-depth:]]
    return np.argpartition(scores, -depth)[-depth:]


def _dense_span(scores: Floats | None, exact: Floats) -> Span:
    if scores is None or not len(scores):
        return Span()
    return Span(float(scores.min()), float((exact if len(exact) else scores).max()))


def _words_span(scores: Floats | None, hits: Rows | None) -> Span:
    if scores is None or hits is None or not len(hits):
        return Span()
    found = scores[hits]
    return Span(float(found.min()) if len(hits) == len(scores) else 0.0, float(found.max()))
