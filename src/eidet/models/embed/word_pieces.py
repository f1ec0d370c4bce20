"""The words of the default embedder's tokenizer, split in Python: a start need not load the tokenizer.

Its file lists pieces of words by number. A word is split as its merges do it: of all neighbours that make
up a piece, those with the lowest number are joined first. The tokenizer library gives the same answer and is
faster for many words, but takes 60 ms to load. A test compares both, word by word.
"""

from __future__ import annotations

import json
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
    parts = [SPACE, *word]
    for letter in parts:
        if letter not in pieces:
            return None
    while len(parts) > 1:
        at = _find_best(parts, pieces)
        if at is None:
            break
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return [pieces[part] for part in parts]


def _find_best(parts: list[str], pieces: dict[str, int]) -> int | None:
    """Where the two neighbours are that are joined next; the first of equals."""
    best, best_at = len(pieces), None
    for at in range(len(parts) - 1):
        number = pieces.get(parts[at] + parts[at + 1])
        if number is not None and number < best:
            best, best_at = number, at
    return best_at
