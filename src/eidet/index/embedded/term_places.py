"""Where the vectors of terms are, looked up for many terms at once.

A dictionary answers for each id by itself, at some 100 ns. The first touch of a scope asks for 2,000.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .. import Rows
from .postings import Terms

ROOM: Final = 4  # slots for each id, at least: few share one
FIRST_ROOM: Final = 1 << 14


class TermPlaces:
    """The places of ids, from 1 on. Ids are hashes, so their low bits spread them over the slots.

    A slot has the place of the last id that fell into it. An empty slot says that none did; an id whose
    slot has another one is looked up in the dictionary, which knows all.
    """

    def __init__(self) -> None:
        self._known: dict[int, int] = {}
        self._ids: Terms = np.zeros(1, np.uint32)  # by place
        self._slots: NDArray[np.int32] = np.zeros(FIRST_ROOM, np.int32)

    def __len__(self) -> int:
        return len(self._known)

    def add(self, ids: Sequence[int]) -> None:
        """Learns ids. Their places follow one another, after those that are known."""
        start = len(self._ids)
        self._known.update(zip(ids, range(start, start + len(ids)), strict=True))
        self._ids = np.concatenate((self._ids, np.array(ids, np.uint32)))
        if ROOM * len(self._ids) > len(self._slots):
            self._slots = np.zeros(_round_up(ROOM * len(self._ids)), np.int32)
            start = 1
        self._fill_slots(start)

    def _fill_slots(self, start: int) -> None:
        fresh = self._ids[start:]
        self._slots[self._slot_of(fresh)] = np.arange(start, start + len(fresh), dtype=np.int32)

    def find(self, ids: Terms) -> Rows:
        """The place of each; 0 for one that is not known."""
        places = self._slots.take(self._slot_of(ids)).astype(np.intp)
        shared = ((self._ids.take(places) != ids) & (places > 0)).nonzero()[0]
        if len(shared):
            places[shared] = list(map(self._known.get, ids.take(shared).tolist(), repeat(0)))
        return places

    def _slot_of(self, ids: Terms) -> Terms:
        return ids & np.uint32(len(self._slots) - 1)


def _round_up(count: int) -> int:
    """To a power of two."""
    return 1 << (count - 1).bit_length()
