"""Turns of records in their sessions, from lists of sessions in their order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Final, NamedTuple

from ..store import Entry
from . import Neighbours

LONG: Final = 400  # turns; of longer sessions only the surroundings of candidates are read
REACH: Final = 7  # turns before and after: signals look at up to six
APART: Final = 1_000  # turns between two stretches of a long session, which is more than signals look at


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


def number_windows(windows: Sequence[Sequence[int]]) -> dict[int, int]:
    """Of stretches of long sessions, by session and time: turns count from the first one that was read.

    Stretches that touch are one; others stand apart, however near they are.
    """
    turns: dict[int, int] = {}
    after = -APART
    for window in windows:
        start = turns.get(window[0], after + APART)
        turns.update((seq, start + at) for at, seq in enumerate(window))
        after = start + len(window)
    return turns


def number_apart(entries: Iterable[Entry]) -> dict[int, int]:
    """In the order things happened, but nothing beside anything."""
    line = sorted(entries, key=lambda entry: (entry.occurred, entry.seq))
    return {entry.seq: at * APART for at, entry in enumerate(line)}


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
