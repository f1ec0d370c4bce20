"""Turns of records in their sessions, from lists of sessions in their order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from . import Neighbours


class SessionTurn(NamedTuple):
    """A record in its session, and whether it passes the filter that was asked with."""

    seq: int
    passes: bool


def number_turns(lines: Iterable[Sequence[int]]) -> dict[int, int]:
    """Of whole sessions, each in its order: the turn of every seq."""
    turns: dict[int, int] = {}
    for line in lines:
        turns.update((seq, at) for at, seq in enumerate(line))
    return turns


def find_neighbours(
    sessions: Mapping[str, Sequence[SessionTurn]], seqs: Sequence[int], reach: int
) -> dict[int, Neighbours]:
    """As `Index.around`, of sessions that are there as a whole."""
    wanted, found = set(seqs), {}
    for line in sessions.values():
        for at, turn in enumerate(line):
            if turn.seq in wanted and turn.passes:
                found[turn.seq] = _look_around(line, at, reach)
    return found


def _look_around(line: Sequence[SessionTurn], at: int, reach: int) -> Neighbours:
    after = [i for i in range(at + 1, len(line)) if line[i].passes][:reach]
    before = [i for i in range(at - 1, -1, -1) if line[i].passes][:reach]
    beside = []
    for pair in zip_longest(after, before):
        beside += [(line[i].seq, i) for i in pair if i is not None]
    return Neighbours(at, tuple(beside))
