"""A text as sentences of words, with what a reader of facts asks of each. Linear in the text's length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 4_000  # characters read of a text: what comes after them gives no facts
_WORD_LIMIT: Final = 120  # words read of a sentence: longer ones are lists, tables or code
_PAD: Final = [""] * 6

_PIECE: Final = re.compile(
    r"https?://[^\s<>\"]{1,300}(?<![.,!?;:])"
    r"|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\w)"
    r"|[^\W_]\w*(?:[-.'\u2019&@/+_:](?=\w)\w+)*[+#]{0,2}"
    r"|\+(?=\d)|\n+|[^\w\s]"
)
_ENDS: Final = frozenset(".!?;\u2026")
_TITLES: Final = frozenset(
    ["mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "e.g", "i.e", "approx", "no"]
)
_CLITICS: Final = frozenset({"s", "m", "re", "ve", "d", "ll"})
_QUOTES: Final = frozenset('"\u201c\u201d\u00ab\u00bb\u201e')


@dataclass(slots=True)
class SentenceWords:
    """One sentence: its words in small letters, padded with "" on both sides, and where each stands.

    Word 0 and those after `last` are padding, so that a reader may look around without asking.
    """

    text: str
    low: list[str]
    starts: list[int]
    ends: list[int]
    last: int  # the number of words
    mark: str  # what ends it: ".", "?", "" …

    def capital(self, at: int) -> bool:
        return 0 < at <= self.last and self.text[self.starts[at]].isupper()

    def cut(self, first: int, after: int) -> str:
        """The text from one word up to another, as written."""
        return self.text[self.starts[first] : self.ends[after - 1]]

    def raw(self, at: int) -> str:
        return self.text[self.starts[at] : self.ends[at]]


def split_words(text: str) -> Iterator[SentenceWords]:
    """The sentences of a text in order. A line break ends a sentence; titles such as "Dr." do not."""
    low: list[str] = [""]
    starts, ends = [0], [0]
    for found in _PIECE.finditer(text):
        piece, start = found[0], found.start()
        if (piece in _ENDS and not _abbreviates(piece, low)) or piece[0] == "\n":
            if len(low) > 1:
                yield _close(text, low, starts, ends, piece)
                low, starts, ends = [""], [0], [0]
            continue
        if piece == "." or len(low) > _WORD_LIMIT:
            continue
        if "'" in piece or "\u2019" in piece:
            _add_tied(piece, start, low, starts, ends)
        else:
            low.append(piece.lower())
            starts.append(start)
            ends.append(start + len(piece))
    if len(low) > 1:
        yield _close(text, low, starts, ends, "")


def _abbreviates(piece: str, low: list[str]) -> bool:
    return piece == "." and low[-1] in _TITLES


def _add_tied(piece: str, start: int, low: list[str], starts: list[int], ends: list[int]) -> None:
    """A piece with an apostrophe: two where it ties a clitic (I'm, Ann's, don't), else one."""
    small = piece.lower().replace("\u2019", "'")
    head, _, tail = small.rpartition("'")
    if tail in _CLITICS:
        cut = start + len(head)
        _put(head, start, cut, low, starts, ends)
        _put("'" + tail, cut, start + len(piece), low, starts, ends)
    elif tail == "t" and head.endswith("n"):
        cut = start + len(head) - 1
        _put(head[:-1], start, cut, low, starts, ends)
        _put("n't", cut, start + len(piece), low, starts, ends)
    else:
        _put(small, start, start + len(piece), low, starts, ends)


def _put(word: str, start: int, end: int, low: list[str], starts: list[int], ends: list[int]) -> None:
    low.append(word)
    starts.append(start)
    ends.append(end)


def _close(text: str, low: list[str], starts: list[int], ends: list[int], mark: str) -> SentenceWords:
    return SentenceWords(text, low + _PAD, starts, ends, len(low) - 1, mark)


def is_quote(word: str) -> bool:
    return word in _QUOTES
