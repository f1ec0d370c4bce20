"""Columns by scope for paths in `data`, made when states are first compared by them.

A seq identifies one version of a record for ever. So a row is read once, and nothing has to follow the
store: callers give the seqs that are alive.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core.condition import MISSING, is_number, resolve
from ..core.record import Record
from ..core.validate import Json, dump_json
from . import Seqs

DataPath = tuple[str | int, ...]
_ReadRecords = Callable[[str, list[int]], Sequence[Record | None]]

BATCH: Final = 2_000  # records read from the store at once
PATHS: Final = 256  # columns of a scope, beyond which it starts over
ROWS: Final = 200_000  # rows of a scope, deleted records included, beyond which it starts over
LARGEST: Final = 1e150  # larger numbers count as this one
_ITEM_BYTES: Final = 100  # approximate size of a set of items


@dataclass(frozen=True, slots=True)
class StateColumn:
    """The values of one path, one row per record.

    numbers  values that are numbers; NaN for all others
    marks    a number that is equal for equal values; 0 without a value
    items    for lists, the marks of their items; None for all others
    """

    numbers: NDArray[np.float64]
    marks: NDArray[np.int64]
    items: NDArray[Any]

    def take(self, rows: NDArray[np.intp]) -> StateColumn:
        return StateColumn(self.numbers.take(rows), self.marks.take(rows), self.items.take(rows))

    @classmethod
    def of(cls, values: Sequence[Json]) -> StateColumn:
        count = len(values)
        made = cls(np.full(count, np.nan), np.zeros(count, np.int64), np.full(count, None, object))
        for row, value in enumerate(values):
            if value is MISSING:
                continue
            made.marks[row] = mark_of(value)
            if is_number(value):
                made.numbers[row] = float_of(value)
            elif isinstance(value, list):
                made.items[row] = frozenset(map(mark_of, value))
        return made

    def join(self, other: StateColumn, order: NDArray[np.intp]) -> StateColumn:
        """Joins two columns, with their rows in a new order."""
        return StateColumn(
            np.concatenate((self.numbers, other.numbers))[order],
            np.concatenate((self.marks, other.marks))[order],
            np.concatenate((self.items, other.items))[order],
        )

    @property
    def nbytes(self) -> int:
        kept = self.numbers.nbytes + self.marks.nbytes + self.items.nbytes
        return kept + _ITEM_BYTES * int(np.count_nonzero(self.items))


def mark_of(value: Json) -> int:
    """Returns a hash that distinguishes values; 1 equals 1.0 but not True. Never 0."""
    if is_number(value):
        return hash(("number", value)) or 1
    return hash(("json", dump_json(value, sort_keys=True))) or 1


def float_of(value: Any) -> float:
    """Converts to a float, clipped to ±`LARGEST` so that any two are a finite distance apart."""
    try:
        return min(max(float(value), -LARGEST), LARGEST)
    except OverflowError:  # a whole number beyond what a float holds
        return LARGEST if value > 0 else -LARGEST


class _ScopeTable:
    """The columns of one scope, with rows by ascending seq, and their lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.seqs: Seqs = np.empty(0, np.int64)
        self.columns: dict[DataPath, StateColumn] = {}

    @property
    def nbytes(self) -> int:
        return self.seqs.nbytes + sum(column.nbytes for column in self.columns.values())

    def prepare(self, paths: Sequence[DataPath]) -> None:
        """Starts over if a path is new or rows are too many, because the records have to be read again."""
        unknown = [path for path in paths if path not in self.columns]
        if not unknown and len(self.seqs) <= ROWS:
            return
        wanted = [*self.columns, *unknown]
        if len(wanted) > PATHS:
            wanted = list(paths)
        self.seqs = np.empty(0, np.int64)
        self.columns = {path: StateColumn.of(()) for path in wanted}

    def add(self, seqs: list[int], records: Sequence[Record | None]) -> None:
        known = np.concatenate((self.seqs, np.array(seqs, np.int64)))
        order = np.argsort(known, kind="stable")
        for path, column in self.columns.items():
            values = [_value_at(record, path) for record in records]
            self.columns[path] = column.join(StateColumn.of(values), order)
        self.seqs = known[order]

    def find_missing(self, seqs: Seqs) -> list[int]:
        unknown = seqs
        if len(self.seqs):
            at = np.minimum(np.searchsorted(self.seqs, seqs), len(self.seqs) - 1)
            unknown = seqs[self.seqs[at] != seqs]
        missing: list[int] = unknown.tolist()
        return missing

    def pick(self, seqs: Seqs, paths: Sequence[DataPath]) -> dict[DataPath, StateColumn]:
        """Returns the columns of these seqs, without a copy if these are all rows."""
        if np.array_equal(seqs, self.seqs):
            return {path: self.columns[path] for path in paths}
        rows = np.searchsorted(self.seqs, seqs)
        return {path: self.columns[path].take(rows) for path in paths}


def _value_at(record: Record | None, path: DataPath) -> Json:
    if record is None:
        return MISSING
    return resolve(record.data, path)


class StateColumns:
    """The columns of a memory's states. Thread-safe; the least recently used scopes leave RAM."""

    def __init__(self, *, memory_mb: int = 64) -> None:
        self._most = memory_mb * 2**20
        self._tables: OrderedDict[str, _ScopeTable] = OrderedDict()
        self._lock = threading.Lock()

    def read(
        self, scope: str, seqs: Seqs, paths: Sequence[DataPath], read: _ReadRecords
    ) -> dict[DataPath, StateColumn]:
        """Returns the columns at these paths, one row for each seq; reads only records not seen before."""
        table = self._find_table(scope)
        with table.lock:
            table.prepare(paths)
            missing = table.find_missing(seqs)
            for start in range(0, len(missing), BATCH):
                page = missing[start : start + BATCH]
                table.add(page, read(scope, page))
            found = table.pick(seqs, paths)
        if missing:
            self._make_room(scope)
        return found

    def drop(self, scope: str) -> None:
        """Drops a scope: erased content must not stay in RAM."""
        with self._lock:
            self._tables.pop(scope, None)

    def clear(self) -> None:
        with self._lock:
            self._tables.clear()

    def _find_table(self, scope: str) -> _ScopeTable:
        with self._lock:
            table = self._tables.setdefault(scope, _ScopeTable())
            self._tables.move_to_end(scope)
            return table

    def _make_room(self, current: str) -> None:
        with self._lock:
            excess = sum(table.nbytes for table in self._tables.values()) - self._most
            for scope in list(self._tables):
                if excess <= 0 or scope == current:
                    return
                excess -= self._tables.pop(scope).nbytes
