"""Columns of one scope for paths in `data`, `meta` or `state`, made when a path is asked for repeatedly.

A row holds a code for its value among the distinct values of the path, so that a condition is evaluated
once per value and not per row. Tests keep it equal to `Condition.holds`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.condition import MISSING, Condition, compare, document_of, resolve
from ...core.record import Record
from ...core.validate import Json, dump_json
from .. import Rows, ValueMatch
from .arrays import make_room

Path = tuple[str | int, ...]
Mask = NDArray[np.bool_]
Read = Callable[[list[int]], Iterable[Record | None]]  # seqs -> records

ASKED: Final = 2  # uses after which a path gets a column; until then the store answers
PATHS: Final = 32  # columns of a scope; the least recently used are dropped
_CHARS: Final = 1 << 24  # of the distinct texts of a path; with more, the store answers
_FOLLOWED: Final = 256  # paths whose uses are counted
_VALUE_BYTES: Final = 150  # of a value beside its characters
_LARGEST: Final = 1e150  # larger numbers count as this one, so that any two are a finite distance apart
_ORDERED: Final = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


class Attributes:
    """The columns of one scope. Rows are those of the shard, which calls `keep` when they move."""

    def __init__(self) -> None:
        self._columns: OrderedDict[Path, _Column] = OrderedDict()
        self._asked: OrderedDict[Path, int] = OrderedDict()
        self._refused: set[Path] = set()
        self.nbytes: int = 0

    def holding(self, conditions: Sequence[Condition], seq: NDArray[np.int64], read: Read) -> Mask | None:
        """Returns a mask of the rows that pass all conditions; None if the store must be asked.

        Rows of deleted records count as without a value; the caller masks them anyway.
        """
        if any(condition.of_record for condition in conditions):
            return None  # uses change without a new seq, so a column would not follow
        wanted = {condition.path for condition in conditions}
        ready = [self._is_ready(path) for path in wanted]  # each is counted
        if not all(ready):
            return None
        self._follow(wanted, seq, read)
        if not wanted.isdisjoint(self._refused):
            return None
        masks = [self._columns[condition.path].passing(condition) for condition in conditions]
        return np.logical_and.reduce(masks) if len(masks) > 1 else masks[0]

    def match(
        self, wanted: Mapping[Path, Json], rows: Rows, seq: NDArray[np.int64], read: Read
    ) -> dict[Path, ValueMatch] | None:
        """Compares values of some rows with those wanted; None if the records must be read."""
        ready = [self._is_ready(path) for path in wanted]  # each is counted
        if not all(ready) and 2 * len(rows) < len(seq):  # else the records would be read for this question
            return None
        if self._refused.isdisjoint(wanted):
            self._follow(wanted, seq, read)
        if not self._refused.isdisjoint(wanted):
            return None
        return {path: self._columns[path].match(value, rows) for path, value in wanted.items()}

    def keep(self, rows: Mask) -> None:
        """Drops all other rows, as the shard did."""
        for path, column in list(self._columns.items()):
            column.keep(rows)
            if column.is_stale:
                del self._columns[path]

    def clear(self) -> None:
        self._columns.clear()
        self.nbytes = 0

    def _is_ready(self, path: Path) -> bool:
        if path in self._refused:
            return False
        if path in self._columns:
            self._columns.move_to_end(path)
            return True
        self._asked[path] = self._asked.pop(path, 0) + 1
        if len(self._asked) > _FOLLOWED:
            self._asked.popitem(last=False)
        return self._asked[path] >= ASKED

    def _follow(self, wanted: Iterable[Path], seq: NDArray[np.int64], read: Read) -> None:
        for path in wanted:
            self._columns.setdefault(path, _Column(path[0], path[1:]))
        behind = {path: c for path, c in self._columns.items() if path in wanted and c.count < len(seq)}
        if not behind:
            return
        start = min(column.count for column in behind.values())
        seqs, first = np.unique(seq[start:], return_index=True)  # a record in several units has several rows
        sizes = np.diff(np.append(first, len(seq) - start))
        codes = _encode(behind, read(seqs.tolist()))
        for path, column in behind.items():
            rows = np.repeat(np.array(codes[path], np.int32), sizes)
            column.append(rows[column.count - start :])
            if column.chars > _CHARS:
                self._refused.add(path)
                del self._columns[path]
        self._make_room(len(set(wanted)))

    def _make_room(self, needed: int) -> None:
        while len(self._columns) > max(PATHS, needed):
            self._columns.popitem(last=False)
        if len(self._refused) > _FOLLOWED:
            self._refused.clear()
        self.nbytes = sum(column.nbytes for column in self._columns.values())


def match_records(records: Iterable[Record | None], wanted: Mapping[Path, Json]) -> dict[Path, ValueMatch]:
    """Compares values of records with those wanted, without columns that stay."""
    columns = {path: _Column(path[0], path[1:]) for path in wanted}
    for path, codes in _encode(columns, records).items():
        columns[path].append(np.array(codes, np.int32))
    return {path: columns[path].match(value) for path, value in wanted.items()}


def _encode(columns: Mapping[Path, _Column], records: Iterable[Record | None]) -> dict[Path, list[int]]:
    codes: dict[Path, list[int]] = {path: [] for path in columns}
    for record in records:
        for path, column in columns.items():
            codes[path].append(0 if record is None else column.code_of(record))
    return codes


class _Column:
    """The values of one path: a code for each row and a value for each code; code 0 is no value."""

    def __init__(self, document: str | int, steps: Path) -> None:
        self._document, self._steps = document, steps
        self.count = 0
        self.chars = 0
        self._codes = np.empty(0, np.int32)
        self._known: dict[Any, int] = {}
        self._values: list[Json] = [MISSING]
        self._numbers = np.full(1, np.nan)  # by code
        self._are_exact = True  # whether floats hold all numbers exactly
        self._complex: list[int] = []  # codes of lists and dicts
        self._items: dict[int, frozenset[Any]] = {}  # by code: the keys of the items of a list, once compared

    def code_of(self, record: Record) -> int:
        value = resolve(document_of(record, self._document), self._steps)
        if value is MISSING:
            return 0
        key = _key(value)
        return self._known.get(key) or self._learn(key, value)

    def _learn(self, key: Any, value: Json) -> int:
        code = self._known[key] = len(self._values)
        self._values.append(value)
        self._numbers = make_room(self._numbers, code, code + 1)
        self._numbers[code] = np.nan
        if isinstance(value, list | dict):
            self._complex.append(code)
            self.chars += len(key[1])
        elif isinstance(value, str):
            self.chars += len(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            self._numbers[code] = min(max(value, -_LARGEST), _LARGEST)
            self._are_exact = self._are_exact and _is_exact(value)
        return code

    def append(self, codes: NDArray[np.int32]) -> None:
        total = self.count + len(codes)
        self._codes = make_room(self._codes, self.count, total)
        self._codes[self.count : total] = codes
        self.count = total

    def keep(self, rows: Mask) -> None:
        """Drops all other rows; ignores rows that the column does not have yet."""
        self._codes = self._codes[: self.count][rows[: self.count]]
        self.count = len(self._codes)

    @property
    def is_stale(self) -> bool:
        """Whether most of its values belong to deleted records."""
        return len(self._values) > 4 * self.count + 1000

    def passing(self, condition: Condition) -> Mask:
        found: Mask = self._table(condition.op, condition.value)[self._codes[: self.count]]
        return found

    def match(self, value: Json, rows: Rows | None = None) -> ValueMatch:
        """Compares the values of some rows, or of all, with one that is wanted."""
        codes = self._codes[: self.count]
        codes = codes if rows is None else codes[rows]
        shares = np.zeros(len(self._values))
        if isinstance(value, list) and value:
            keys = frozenset(map(_key, value))
            for code in self._complex:
                shares[code] = len(keys & self._list_items(code)) / len(keys)
        return ValueMatch(self._numbers[codes], self._same(value)[codes], codes > 0, shares[codes])

    def _list_items(self, code: int) -> frozenset[Any]:
        if code not in self._items:
            value = self._values[code]
            self._items[code] = frozenset(map(_key, value) if isinstance(value, list) else ())
        return self._items[code]

    def _table(self, op: str, operand: Json) -> Mask:
        """Returns a mask of the codes whose value passes."""
        match op:
            case "=":
                return self._same(operand)
            case "in":
                among: Mask = np.logical_or.reduce([self._none(), *map(self._same, operand)])
                return among
            case "!=":
                other = ~self._same(operand)
                other[0] = False
                return other
            case "exists":
                there = self._none()
                there[1:] = operand
                there[0] = not operand
                return there
        if op in _ORDERED and self._are_exact and _is_exact(operand):
            table: Mask = _ORDERED[op](self._numbers[: len(self._values)], operand)
            return table
        return self._try_codes(self._none(), range(1, len(self._values)), op, operand)

    def _same(self, operand: Json) -> Mask:
        table = self._none()
        if isinstance(operand, list | tuple | dict):
            return self._try_codes(table, self._complex, "=", operand)
        if code := self._known.get(_key(operand)):
            table[code] = True
        return table

    def _try_codes(self, table: Mask, codes: Iterable[int], op: str, operand: Json) -> Mask:
        for code in codes:
            table[code] = compare(self._values[code], op, operand)
        return table

    def _none(self) -> Mask:
        return np.zeros(len(self._values), np.bool_)

    @property
    def nbytes(self) -> int:
        kept = self._codes.nbytes + self._numbers.nbytes
        return kept + self.chars + _VALUE_BYTES * len(self._values)


def _is_exact(value: Json) -> bool:
    """Returns whether a column holds the number exactly."""
    if isinstance(value, float):
        return abs(value) <= _LARGEST
    return isinstance(value, int) and not isinstance(value, bool) and -(2**53) <= value <= 2**53


def _key(value: Json) -> Any:
    """Returns a key that is equal for equal values; 1 equals 1.0 but not True."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, list | dict):
        return ("json", dump_json(value, sort_keys=True))
    return value
