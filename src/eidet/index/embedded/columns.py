"""The columns of one scope, by which records are filtered, ordered and described."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.where import Where
from ...store import Entry
from ...text.analysis import Analysis
from .. import Rows, Seqs
from .arrays import distinct, expand_runs, make_room
from .filters import CODES, Mask, Resolve, mask

_Ints = NDArray[np.int32]
NONE: Final = -1


class Sessions:
    """Turns of living records, in order of time and then of seq; -1 without a session.

    A record in several units takes the turn of its first.
    """

    def __init__(
        self,
        session: _Ints,
        occurred: NDArray[np.float64],
        alive: NDArray[np.bool_],
        first: NDArray[np.bool_],
    ) -> None:
        count = len(session)
        rows = np.flatnonzero(alive & first & (session >= 0))
        rows = rows[np.lexsort((rows, occurred[rows], session[rows]))]
        self.turn: NDArray[np.int32] = np.full(count, NONE, np.int32)
        self.before: NDArray[np.int32] = self.turn.copy()
        self.after: NDArray[np.int32] = self.turn.copy()
        same = session[rows[1:]] == session[rows[:-1]]
        begins = np.flatnonzero(np.append(True, ~same)) if len(rows) else np.empty(0, np.intp)
        sizes = np.diff(np.append(begins, len(rows)))
        self.turn[rows] = np.arange(len(rows)) - np.repeat(begins, sizes)
        self.before[rows[1:][same]] = rows[:-1][same]
        self.after[rows[:-1][same]] = rows[1:][same]
        if not first.all():
            head = np.maximum.accumulate(np.where(first, np.arange(count), 0))
            self.turn, self.before, self.after = self.turn[head], self.before[head], self.after[head]
        ends = rows[begins + sizes - 1] if len(rows) else rows
        self._last = dict(zip(session[ends].tolist(), ends.tolist(), strict=True))

    def append(self, row: int, session: int, occurred: NDArray[np.float64]) -> bool:
        """Adds the next row, a record of one unit; returns False if its session has a later record."""
        last = self._last.get(session, NONE) if session >= 0 else NONE
        if last != NONE and occurred[last] > occurred[row]:
            return False
        turn = NONE
        if session >= 0:
            turn = 0 if last == NONE else int(self.turn[last]) + 1
        self.turn = _with(self.turn, row, turn)
        self.before = _with(self.before, row, last)
        self.after = _with(self.after, row, NONE)
        if last != NONE:
            self.after[last] = row
        if session >= 0:
            self._last[session] = row
        return True

    def beside(self, row: int, reach: int, keep: NDArray[np.bool_] | None) -> list[int]:
        """Returns up to `reach` kept rows after and before a row: nearest first, of two the later one."""
        after = self._walk(row, self.after, reach, keep)
        before = self._walk(row, self.before, reach, keep)
        pairs = zip_longest(after, before, fillvalue=NONE)
        return [near for near in chain.from_iterable(pairs) if near != NONE]

    def _walk(self, row: int, way: _Ints, reach: int, keep: NDArray[np.bool_] | None) -> Iterator[int]:
        for _ in range(reach):
            row = int(way[row])
            while row != NONE and keep is not None and not keep[row]:
                row = int(way[row])
            if row == NONE:
                return
            yield row

    def around(self, rows: Rows) -> Rows:
        """Returns the existing rows before and after those given."""
        found = np.concatenate((self.before[rows], self.after[rows]))
        return found[found >= 0].astype(np.intp)


def _with(array: _Ints, at: int, value: int) -> _Ints:
    array = make_room(array, at, at + 1)
    array[at] = value
    return array


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
_NOBODY: Final = {None}
UNSEEN: Final = -2
FEW: Final = 64  # new rows up to which search structures are extended; more rebuild them


class ColumnTable:
    """Rows in order of seq; deleted rows are only marked. The columns are attributes: `table.seq`.

    A row is a unit of a record: most records have one, long ones several in succession. Kinds, tiers and
    trust are positions in their enums, labels are numbers in `codes`, -1 if absent. A missing step or place
    is NaN, a missing expiry infinity.
    """

    def __init__(self, scope: str) -> None:
        self.scope = scope
        self.count: int = 0
        self.live: int = 0  # living rows
        self.records: int = 0  # living records
        self.mortal: bool = False  # whether any row ever had an expiry
        self.arrays: dict[str, NDArray[Any]] = {name: np.empty(0, kind) for name, kind in TYPES.items()}
        self.codes: dict[str, dict[str, int]] = {name: {} for name in LABELS}
        self.days: NDArray[np.int32] = np.empty(
            (0, 3), np.int32
        )  # row, first and last day of the times that texts mention
        self._label_sizes = (0, 0)  # number of labels, and their bytes
        self._voices: tuple[str, ...] | None = None
        self._sessions: Sessions | None = None

    def __len__(self) -> int:
        return self.count

    def __getattr__(self, name: str) -> NDArray[Any]:
        try:
            return self.__dict__["arrays"][name][: self.__dict__["count"]]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(name) from None

    def code(self, column: str, label: str) -> int:
        return self.codes[column].get(label, UNSEEN)

    def living_rows_of(self, seqs: Seqs) -> Rows:
        """Returns all living rows of the records with these seqs; ignores unknown seqs."""
        seqs = distinct(seqs)
        first, last = np.searchsorted(self.seq, seqs), np.searchsorted(self.seq, seqs, side="right")
        rows = expand_runs(first, last)[1]
        alive: Mask = self.alive[rows]
        return rows[alive]

    def select_passing(self, where: Where | None, now: float, resolve: Resolve) -> Mask | None:
        """Returns a mask of the rows that pass; None if all do."""
        keep = None if where is None else mask(where, self, resolve)
        if keep is not None and keep.all():
            keep = None  # searching all rows is faster without a mask
        if self.live < self.count:
            keep = self.alive.copy() if keep is None else np.logical_and(keep, self.alive)
        if self.mortal:
            fresh = self.expires > now
            keep = fresh if keep is None else np.logical_and(keep, fresh)
        return keep

    @property
    def voices(self) -> tuple[str, ...]:
        """Lists every `who` of the scope by code; "" for one without a living record."""
        if self._voices is None:
            here = np.bincount(self.who[self.alive & (self.who >= 0)], minlength=len(self.codes["who"]))
            self._voices = tuple(who if here[at] else "" for at, who in enumerate(self.codes["who"]))
        return self._voices

    @property
    def sessions(self) -> Sessions:
        if self._sessions is None:
            self._sessions = Sessions(self.session, self.occurred, self.alive, self.unit == 0)
        return self._sessions

    # Following the store.

    def append(self, given: Entry, read: Sequence[Analysis], sizes: NDArray[np.intp]) -> None:
        """Adds records, given column by column; `sizes` holds the number of rows of each."""
        start, added = self.count, int(sizes.sum())
        self.reserve(start + added)
        rows, firsts = slice(start, start + added), np.cumsum(sizes) - sizes
        owners: Rows | None = None
        if added > len(sizes):  # else every record has one row
            owners = np.repeat(np.arange(len(sizes)), sizes)
        self._fill(given, rows, owners)
        self._put("flags", rows, [analysis.flags for analysis in read], owners)
        self.arrays["unit"][rows] = 0
        if owners is not None:
            self.arrays["unit"][rows] = np.arange(added) - firsts[owners]
        self._add_days(read, start + firsts)
        self.count += added
        self.live += added
        self.records += len(sizes)
        self._hear(start)
        if added == len(sizes) <= FEW:
            self._extend_sessions(start)
        else:
            self._sessions = None

    def _fill(self, given: Entry, rows: slice, owners: Rows | None) -> None:
        for name in FLOATS:
            self._put(name, rows, getattr(given, name), owners)
        for name in LABELS:
            self._put(name, rows, self._encode(name, getattr(given, name)), owners)
        self._put("seq", rows, given.seq, owners)
        for name, codes in CODES.items():
            self._put(name, rows, list(map(codes.__getitem__, getattr(given, name))), owners)
        self.arrays["alive"][rows] = True
        expires = self.arrays["expires"][rows]
        self.mortal = self.mortal or not np.isnan(expires).all()
        expires[np.isnan(expires)] = np.inf

    def _put(self, name: str, rows: slice, values: Any, owners: Rows | None) -> None:
        """Writes each record's value to its rows; `owners` maps rows to records if some have several."""
        column = np.array(values, TYPES[name])
        if owners is not None:
            column = column.take(owners)
        self.arrays[name][rows] = column

    def _encode(self, name: str, labels: Sequence[str | None]) -> list[int]:
        codes = self.codes[name]
        if set(labels) == _NOBODY:
            return [NONE] * len(labels)
        return [NONE if label is None else codes.setdefault(label, len(codes)) for label in labels]

    def _add_days(self, read: Sequence[Analysis], rows: NDArray[np.intp]) -> None:
        found: list[tuple[int, int, int]] = []
        for row, analysis in zip(rows.tolist(), read, strict=True):
            found += [(row, first, last) for first, last in analysis.days]
        if found:
            self.days = np.concatenate((self.days, np.array(found, np.int32)))

    def _hear(self, start: int) -> None:
        """Resets the cached voices if a row from `start` on has a speaker who is not among them."""
        if self._voices is None:
            return
        for code in set(self.who[start:].tolist()):
            if code >= len(self._voices) or (code >= 0 and not self._voices[code]):
                self._voices = None
                return

    def _extend_sessions(self, start: int) -> None:
        """Adds new rows to the sessions if each comes last in its own; else rebuilds them."""
        if self._sessions is None:
            return
        session, occurred = self.session, self.occurred
        for row in range(start, self.count):
            if not self._sessions.append(row, int(session[row]), occurred):
                self._sessions = None
                return

    def mark_gone(self, rows: Rows) -> None:
        self.alive[rows] = False
        self.live -= len(rows)
        self.records -= int((self.unit[rows] == 0).sum())
        if (self.session[rows] >= 0).any():
            self._sessions = None
        if (self.who[rows] >= 0).any():
            self._voices = None

    def reserve(self, count: int) -> None:
        """Makes room for `count` rows in total."""
        if count > len(self.arrays["seq"]):
            for name, column in self.arrays.items():
                self.arrays[name] = make_room(column, self.count, count)

    def keep(self, rows: Mask) -> None:
        """Drops all other rows and renumbers the rest."""
        for name in self.arrays:
            self.arrays[name] = self.arrays[name][: self.count][rows]
        self.days = self.days[rows[self.days[:, 0]]]
        self.days[:, 0] = (np.cumsum(rows) - 1)[self.days[:, 0]]
        self.count = self.live = int(rows.sum())
        self._sessions = self._voices = None
        for name in LABELS:
            self._drop_unused_labels(name)

    def _drop_unused_labels(self, name: str) -> None:
        """Removes labels that only deleted rows had, and renumbers the rest."""
        column = self.arrays[name]
        used, numbers = np.unique(column[column >= 0], return_inverse=True)
        labels = list(self.codes[name])
        self.codes[name] = {labels[old]: new for new, old in enumerate(used.tolist())}
        column[column >= 0] = numbers

    @property
    def nbytes(self) -> int:
        columns = sum(column.nbytes for column in self.arrays.values())
        return columns + self._measure_labels() + self.days.nbytes

    def _measure_labels(self) -> int:
        """Returns the bytes of the labels; recounts them only if their number changed."""
        count = sum(map(len, self.codes.values()))
        if count != self._label_sizes[0]:
            letters = 0
            for codes in self.codes.values():
                letters += sum(map(len, codes))
            self._label_sizes = (count, letters + 100 * count)
        return self._label_sizes[1]
