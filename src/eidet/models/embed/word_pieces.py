"""The words of the default embedder's tokenizer, split in Python: a start need not load the tokenizer.

Its file lists pieces of words by number. A word is split as its merges do it: of all neighbours that make
up a piece, those with the lowest number are joined first. The tokenizer library gives the same answer and is
faster for many words, but takes 60 ms to load. A test compares both, word by word.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Final

SPACE: Final = "\u2581"  # how the tokenizer writes a space


def read_pieces(content: bytes) -> dict[str, int]:
    """The numbers of the pieces, from the file of a known version: only this part of it is parsed."""
    start = content.index(b'"vocab"')
    end = content.index(b'"merges"', start)
    listed = content[content.index(b"{", start) : end].rstrip(b", \r\n\t")
    pieces: dict[str, int] = json.loads(listed)
    return pieces


def split_word(word: str, pieces: dict[str, int]) -> list[int] | None:
    """The numbers of a word's pieces; None if it has a letter that is no piece, which bytes stand for."""
    whole = pieces.get(SPACE + word)
    if whole is not None:  # every word that is a piece comes out of the merges whole
        return [whole]
    parts = [SPACE, *word]
    if not pieces.keys() >= set(parts):
        return None
    none = len(pieces)
    numbers = [pieces.get(left + right, none) for left, right in pairwise(parts)]
    while numbers:
        best = min(numbers)
        if best == none:
            break
        _join(parts, numbers, numbers.index(best), pieces)
    return [pieces[part] for part in parts]


def _join(parts: list[str], numbers: list[int], at: int, pieces: dict[str, int]) -> None:
    """Makes two neighbours one part. `numbers` has what each part makes with the next one."""
    none = len(pieces)
    parts[at : at + 2] = [parts[at] + parts[at + 1]]
    del numbers[at]
    if at > 0:
        numbers[at - 1] = pieces.get(parts[at - 1] + parts[at], none)
    if at < len(numbers):
        numbers[at] = pieces.get(parts[at] + parts[at + 1], none)
