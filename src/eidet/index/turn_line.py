"""The candidates in order of time, session by session, with scores from neighbouring turns."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..text.analysis import QUESTION

WINDOW: Final = 6  # turns before and after that count as the context
BESIDE: Final = 0.5  # weight of the turns right before and after in a turn's dense score

Floats = NDArray[Any]  # floats of any width


class _TurnShape(NamedTuple):
    """The weights of candidates as turns of talk, where messages of more than `terms` terms count as long.

    share     1 for a turn of talk, fading to 0 for a long message
    rest      1 - share
    link      the weight of each turn and the next for each other
    weights   the total weight of each candidate and those beside it
    """

    terms: int
    share: Floats
    rest: Floats
    link: Floats
    weights: Floats


class TurnLine:
    """The turns of talk among candidates. It depends on no question, so an index may reuse it.

    Turns have places on a line: their distances in the session, and gaps beyond `WINDOW` between sessions.
    """

    def __init__(
        self,
        session: NDArray[np.int32],
        turn: NDArray[np.int32],
        who: NDArray[np.int32],
        flags: NDArray[np.uint8],
        length: Floats,
    ) -> None:
        key = session.astype(np.int64) * (1 << 32) + turn
        self._order = _list_turns(key, session)
        self.count: int = len(key) if self._order is None else len(self._order)
        self._length = length
        self._talk: _TurnShape | None = None  # the last one computed
        self._fill(self._pick(key), self._pick(who), self._pick(flags))

    def _fill(self, key: NDArray[np.int64], who: NDArray[np.int32], flags: NDArray[np.uint8]) -> None:
        apart = key[1:] - key[:-1]
        self._places = np.zeros(self.count, np.intp)
        np.cumsum(np.minimum(apart, WINDOW + 1), out=self._places[1:])
        self._beside = apart <= 1
        asks = (flags[:-1] & QUESTION) > 0
        self._answered = self._beside & asks & (who[:-1] != who[1:])

    @property
    def some(self) -> bool:
        return self.count > 0

    def shape_turns(self, terms: int) -> _TurnShape:
        """Returns the turn weights for talk of up to this many terms; caches the last."""
        talk = self._talk
        if talk is None or talk.terms != terms:
            share = self._fade(terms)
            link, weights = self._link_turns(share)
            talk = self._talk = _TurnShape(terms, share, 1 - share, link, weights)
        return talk

    def _fade(self, terms: int) -> Floats:
        """Returns 1 for up to `terms` terms, fading to 0 at twice as many."""
        lengths = np.minimum(self._length, 10.0 * terms)
        share: Floats = np.minimum(np.maximum(2.0 - lengths / terms, 0.0), 1.0)
        return share

    def _link_turns(self, talk: Floats) -> tuple[Floats, Floats]:
        weights = np.ones(len(talk))
        spoken = self._pick(talk)
        link = BESIDE * spoken[:-1] * spoken[1:]
        link *= self._beside
        line = self._pick(weights)
        line[1:] += link
        line[:-1] += link
        return link, self._put(line, weights)

    def _pick(self, values: Floats) -> Floats:
        """Returns the values of the turns in order; a copy unless all rows are turns in order."""
        return values if self._order is None else values[self._order]

    def best(self, base: Floats, own: Floats) -> Floats:
        """Returns each turn's best `base` within the window, or its own value if better. None is below 0."""
        best = np.maximum(own, base)
        around = np.zeros(int(self._places[-1]) + 2 * WINDOW + 1, base.dtype)
        np.maximum.at(around, self._places + WINDOW, self._pick(base))
        line = np.maximum(self._pick(best), _widen(around, 2 * WINDOW + 1).take(self._places))
        if self._order is None:
            return line
        return self._put(line, best)

    def smooth(self, values: Floats, talk: _TurnShape) -> Floats:
        """Returns the weighted mean of each value with those of the turns right before and after."""
        total = values.copy()
        if self.count > 1:
            own, sums = self._pick(values), self._pick(total)
            sums[1:] += talk.link * own[:-1]
            sums[:-1] += talk.link * own[1:]
            self._put(sums, total)
        return total / talk.weights

    def replies(self, base: Floats) -> Floats:
        """Scores turns right after another speaker's question by how well that question matches."""
        reply = np.zeros(len(base))
        if self.count > 1:
            line = self._pick(reply)
            np.copyto(line[1:], self._pick(base)[:-1], where=self._answered)
            self._put(line, reply)
        return reply

    def _put(self, line: Floats, values: Floats) -> Floats:
        """Writes the turns' values back to their rows and returns all values."""
        if self._order is not None:
            values[self._order] = line
        return values


def _list_turns(key: NDArray[np.int64], session: NDArray[np.int32]) -> NDArray[np.intp] | None:
    """Returns the rows that are turns, in order; None if all rows are turns and already in order."""
    alone = session < 0
    if not bool((key[1:] > key[:-1]).all()):
        order = np.argsort(key, kind="stable")
        return order[np.count_nonzero(alone) :]  # without a session, a key is below 0
    if alone.any():
        return (~alone).nonzero()[0]
    return None


def _widen(values: Floats, width: int) -> Floats:
    """Returns the maximum of every `width` consecutive values, doubling the reach at each step."""
    reach = 1
    while 2 * reach <= width:
        values = np.maximum(values[:-reach], values[reach:])
        reach *= 2
    if reach < width:
        values = np.maximum(values[: reach - width], values[width - reach :])
    return values
