"""Cuts long texts into units of some eighty words, so that the part that answers is found."""

from __future__ import annotations

import re
from itertools import chain
from typing import Final

from .sentences import sentences

UNIT_CHARS: Final = 480  # some eighty words
WHOLE_CHARS: Final = 720  # characters up to which a text is one unit
MOST_UNITS: Final = 64  # units at most; in longer texts they are larger

_SPACE: Final = re.compile(r"\s")


def units_of(text: str) -> list[str]:
    """Cuts a text into units in order, between sentences if possible; a short text is one unit.

    Only white space between units is lost.
    """
    if len(text) <= WHOLE_CHARS:
        return [text]
    whole = sentences(text)
    size = max(UNIT_CHARS, -(-len(text) // MOST_UNITS) + UNIT_CHARS // 4)
    while len(units := _cut(whole, size)) > MOST_UNITS:
        size += size // 4  # sentences did not fill the units
    return units or [text]


def _cut(whole: list[str], size: int) -> list[str]:
    """Joins sentences into units of about a size."""
    units: list[list[str]] = []
    length = size
    for piece in chain.from_iterable(_pieces(sentence, size) for sentence in whole):
        if length + len(piece) < size:
            units[-1].append(piece)
            length += 1 + len(piece)
        else:
            units.append([piece])
            length = len(piece)
    return _join_short_tail([" ".join(unit) for unit in units], size)


def _pieces(sentence: str, size: int) -> list[str]:
    """Cuts an overlong sentence at white space or, failing that, anywhere."""
    pieces = []
    while len(sentence) > size * 3 // 2:
        cut = size
        if space := next(_SPACE.finditer(sentence, size, size * 3 // 2), None):
            cut = space.start()
        pieces.append(sentence[:cut].strip())
        sentence = sentence[cut:].strip()
    return [*pieces, sentence] if sentence else pieces


def _join_short_tail(units: list[str], size: int) -> list[str]:
    """Joins a short last unit to the one before."""
    if len(units) > 1 and len(units[-1]) < size // 4:
        units[-2:] = [f"{units[-2]} {units[-1]}"]
    return units
