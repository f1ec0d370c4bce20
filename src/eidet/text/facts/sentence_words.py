"""Splits a text into sentences of words for the fact reader, in time linear in its length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

LONGEST: Final = 4_000  # characters of a text that are parsed for facts
_WORD_LIMIT: Final = 120  # words of a sentence that are parsed: longer ones are lists, tables or code
_PAD: Final = [""] * 6
_PIECE: Final = re.compile(
    r"https?://[^\s<>\"]{1,300}(?<![.,!?;:])"
    r"|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\w)"
    r"|[^\W_]\w*+(?:[-.'\u2019&@/+_:]\w++)*+[+#]{0,2}"
    r"|[^\w\s]|\n"
)
_CLITIC: Final = re.compile(r"(?:(?<=.)['\u2019](?:s|m|re|ve|d|ll)|(?<=.)n['\u2019]t)$", re.IGNORECASE)
_ENDS: Final = frozenset(".!?;\u2026\n")
_TITLES: Final = frozenset(("mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "e.g", "i.e", "approx"))

_Piece = tuple[str, int]  # a word as written, and its start


class SentenceWords:
    """One sentence: its lower-case words, padded with "" on both sides, and their positions.

    Word 0 and those after `last` are padding, so that a reader may look around without bounds checks.
    """

    __slots__ = ("last", "low", "mark", "raws", "starts", "text")

    def __init__(self, text: str, pieces: list[_Piece], mark: str) -> None:
        kept = [piece for piece in pieces if piece[0] != "."][:_WORD_LIMIT]  # "." of abbreviations
        self.text = text
        self.mark = mark  # its end: ".", "?", "" …
        self.raws: list[str] = ["", *[raw for raw, _ in kept]]  # as written; word 1 is the first
        self.starts: list[int] = [0, *[start for _, start in kept]]
        self.low: list[str] = [raw.lower().replace("\u2019", "'") for raw in self.raws] + _PAD
        self.last = len(kept)  # the number of words

    def keep(self, count: int) -> None:
        """Drops the words after the first `count`."""
        self.raws, self.starts, self.last = self.raws[: count + 1], self.starts[: count + 1], count
        self.low = self.low[: count + 1] + _PAD

    def capital(self, at: int) -> bool:
        return 0 < at <= self.last and self.raws[at][0].isupper()

    def end(self, at: int) -> int:
        """Returns the end of a word in the text."""
        return self.starts[at] + len(self.raws[at])

    def cut(self, first: int, after: int) -> str:
        """Returns the text from one word up to another, as written."""
        return self.text[self.starts[first] : self.end(after - 1)]

    @property
    def sentence(self) -> str:
        return self.cut(1, self.last + 1)


def split_words(text: str) -> Iterator[SentenceWords]:
    """Splits a text into sentences. A line break ends one; titles such as "Dr." do not."""
    pieces: list[_Piece] = []
    for found in _PIECE.finditer(text):
        raw, start = found[0], found.start()
        if raw in _ENDS and not (raw == "." and pieces and pieces[-1][0].lower() in _TITLES):
            if pieces:
                yield SentenceWords(text, pieces, raw)
            pieces = []
        elif ("'" in raw or "\u2019" in raw) and (tied := _CLITIC.search(raw)):
            at = tied.start()  # I'm, Ann's, don't
            pieces += [(raw[:at], start), (raw[at:], start + at)]
        else:
            pieces.append((raw, start))
    if pieces:
        yield SentenceWords(text, pieces, "")
