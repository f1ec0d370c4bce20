"""Candidates in the order they happened, session by session: what stands beside what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..text.analysis import QUESTION

WINDOW: Final = 6  # turns before and after that count as the context
BESIDE: Final = 0.5  # how much the turns right before and after count for the dense of one

Floats = NDArray[Any]  # of any width of float
Mask = NDArray[np.bool_]


class TurnLine:
    """The turns of talk among candidates. No question changes it, so an index may keep it for the next one.

    `near[lag - 1]` says of each turn but the last `lag` whether the one `lag` places later is of the same
    session and at most a window away.
    """

    def __init__(
        self,
        session: NDArray[np.int32],
        turn: NDArray[np.int32],
        who: NDArray[np.int32],
        flags: NDArray[np.uint8],
    ) -> None:
        key = session.astype(np.int64) * (1 << 32) + turn
        order = np.arange(len(key))
        if not bool((key[1:] > key[:-1]).all()):
            order = np.argsort(key, kind="stable")
        order = order[session[order] >= 0]
        self.count: int = len(order)
        self._order = None if self.count == len(key) and bool((order[1:] > order[:-1]).all()) else order
        self._fill(key[order], who[order], flags[order])

    def _fill(self, key: NDArray[np.int64], who: NDArray[np.int32], flags: NDArray[np.uint8]) -> None:
        self._near: list[Mask] = []
        for lag in range(1, min(WINDOW, self.count - 1) + 1):
            self._near.append(key[lag:] - key[:-lag] <= WINDOW)
        self._beside = key[1:] - key[:-1] <= 1
        asks = (flags[:-1] & QUESTION) > 0
        self._answered = self._beside & asks & (who[:-1] != who[1:])

    @property
    def some(self) -> bool:
        return self.count > 0

    @property
    def nbytes(self) -> int:
        return (len(self._near) + 2) * self.count + (0 if self._order is None else self._order.nbytes)

    def _pick(self, values: Floats) -> Floats:
        """The values of the turns, in their order; a copy unless all rows are turns in their order."""
        return values if self._order is None else values[self._order]

    def _lags(self) -> Iterator[tuple[int, Mask]]:
        return enumerate(self._near, start=1)

    def best(self, base: Floats, own: Floats) -> Floats:
        """The best of those around, or its own if that is better."""
        best = np.maximum(own, base)
        around, line = self._pick(base), self._pick(best)
        for lag, near in self._lags():
            np.maximum(line[lag:], around[:-lag], out=line[lag:], where=near)
            np.maximum(line[:-lag], around[lag:], out=line[:-lag], where=near)
        return self._put(line, best)

    def smooth(self, values: Floats, talk: Floats) -> Floats:
        """The mean with the turns right before and after."""
        total, weight = values.copy(), np.ones(len(values))
        if self.count < 2:
            return total / weight
        own, spoken = self._pick(values), self._pick(talk)
        share = BESIDE * spoken[:-1] * spoken[1:]
        share *= self._beside
        sums, weights = self._pick(total), self._pick(weight)
        sums[1:] += share * own[:-1]
        weights[1:] += share
        sums[:-1] += share * own[1:]
        weights[:-1] += share
        return self._put(sums, total) / self._put(weights, weight)

    def replies(self, base: Floats) -> Floats:
        """For a turn right after another speaker's question: how well the question matches."""
        reply = np.zeros(len(base))
        if self.count > 1:
            line = self._pick(reply)
            np.copyto(line[1:], self._pick(base)[:-1], where=self._answered)
            self._put(line, reply)
        return reply

    def _put(self, line: Floats, values: Floats) -> Floats:
        """The values with those of the turns put back where they belong."""
        if self._order is not None:
            values[self._order] = line
        return values
