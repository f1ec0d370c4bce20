"""The turns of candidates in their sessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ...store import Entry

LONG: Final = 400  # turns; of longer sessions only the surroundings of candidates are read
REACH: Final = 7  # turns before and after: signals look at up to six
APART: Final = 1_000  # turns between two stretches of a long session, which is more than signals look at


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
