"""The order of what happened within sessions: each row's turn, and the rows before and after it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, zip_longest

import numpy as np
from numpy.typing import NDArray

from .. import Rows

Ints = NDArray[np.int32]
NONE = -1


class Sessions:
    """Turns of living records by when they happened, equal times by seq; -1 without a session.

    A record in several units takes the turn of its first.
    """

    def __init__(
        self,
        session: Ints,
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
        """Takes a record of one unit that came as the next row; False if its session has a later one."""
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
        """Up to `reach` rows after and before one, of those to keep, nearest first, what follows first."""
        after = self._walk(row, self.after, reach, keep)
        before = self._walk(row, self.before, reach, keep)
        pairs = zip_longest(after, before, fillvalue=NONE)
        return [near for near in chain.from_iterable(pairs) if near != NONE]

    def _walk(self, row: int, way: Ints, reach: int, keep: NDArray[np.bool_] | None) -> Iterator[int]:
        for _ in range(reach):
            row = int(way[row])
            while row != NONE and keep is not None and not keep[row]:
                row = int(way[row])
            if row == NONE:
                return
            yield row

    def around(self, rows: Rows) -> Rows:
        """The rows before and after those given, where there are any."""
        found = np.concatenate((self.before[rows], self.after[rows]))
        return found[found >= 0].astype(np.intp)


def _with(array: Ints, at: int, value: int) -> Ints:
    if at >= len(array):
        fresh = np.full(max(64, at + 1 + at // 2), NONE, np.int32)
        fresh[: len(array)] = array
        array = fresh
    array[at] = value
    return array
