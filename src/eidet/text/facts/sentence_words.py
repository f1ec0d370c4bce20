"""A text as sentences of words, with what a reader of facts asks of each. Linear in the text's length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

LONGEST: Final = 4_000  # characters read of a text: what comes after them gives no facts
WORD_LIMIT: Final = 120  # words read of a sentence: longer ones are lists, tables or code
_PAD: Final = [""] * 6

_REST: Final = r"\w*+(?:[-.'\u2019&@/+_:]\w++)*+[+#]{0,2}"  # of a word, after its first letter
_PIECE: Final = re.compile(
    rf"[A-Za-gi-z]{_REST}"  # most words: none of the others begins with these letters
    r"|https?://[^\s<>\"]{1,300}(?<![.,!?;:])"
    r"|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\w)"
    rf"|[^\W_]{_REST}"
    r"|[^\w\s]|\n"
)
_ENDS: Final = frozenset(".!?;\u2026\n")
_TITLES: Final = frozenset(
    ["mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "e.g", "i.e", "approx", "no"]
)
_CLITICS: Final = frozenset({"s", "m", "re", "ve", "d", "ll"})
_QUOTES: Final = frozenset('"\u201c\u201d\u00ab\u00bb\u201e')


class TextWords:
    """The words and marks of a text in order, and where they stand, as far as anybody asked.

    A piece with an apostrophe is two words where it ties a clitic: I'm, Ann's, don't.
    """

    __slots__ = ("_after", "_known", "low", "raws", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.raws: list[str] = _PIECE.findall(text)
        is_curled = "\u2019" in text
        if is_curled or "'" in text:
            self.raws = _untie(self.raws)
        self.low = list(map(str.lower, self.raws))
        if is_curled:
            self.low = [word.replace("\u2019", "'") for word in self.low]
        self._known = self._after = 0  # words found so far, and where the last of them ends

    def find_start(self, number: int) -> int:
        """From where on a word is the next: between words, there is nothing that a word begins with."""
        if number < self._known:
            self._known = self._after = 0
        at, text = self._after, self.text
        for raw in self.raws[self._known : number]:
            at = text.index(raw, at) + len(raw)
        self._known, self._after = number, at
        return at


class SentenceWords:
    """One sentence: its words in small letters, padded with "" on both sides, and where each stands.

    Word 0 and those after `last` are padding, so that a reader may look around without asking.
    """

    __slots__ = ("_ends", "_first", "_starts", "_words", "last", "low", "mark", "raws", "text")

    def __init__(self, words: TextWords, first: int, after: int, mark: str) -> None:
        self.text = words.text
        self.raws = ["", *words.raws[first:after]]  # as written; word 1 is the first
        self.low = ["", *words.low[first:after]]
        if "." in self.low:  # of abbreviations
            self.raws = [raw for raw in self.raws if raw != "."]
            self.low = [word for word in self.low if word != "."]
        del self.raws[WORD_LIMIT + 1 :], self.low[WORD_LIMIT + 1 :]
        self.last = len(self.low) - 1  # the number of words
        self.low += _PAD
        self.mark = mark  # what ends it: ".", "?", "" …
        self._words, self._first = words, first
        self._starts: list[int] = []
        self._ends: list[int] = []

    @property
    def starts(self) -> list[int]:
        """Where each word begins in the text."""
        if not self._starts:
            self._locate()
        return self._starts

    @property
    def ends(self) -> list[int]:
        """Where each word ends in the text."""
        if not self._starts:
            self._locate()
        return self._ends

    def _locate(self) -> None:
        """Most sentences are never asked where their words are."""
        self._starts, self._ends = [0], [0]
        at = self._words.find_start(self._first)
        for raw in self.raws[1:]:
            at = self.text.index(raw, at)
            self._starts.append(at)
            at += len(raw)
            self._ends.append(at)

    def keep(self, count: int) -> None:
        """Drops the words after the first so many."""
        del self.raws[count + 1 :], self.low[count + 1 :]
        self.last = len(self.low) - 1
        self.low += _PAD
        self._starts = []

    def capital(self, at: int) -> bool:
        return 0 < at <= self.last and self.raws[at][0].isupper()

    def cut(self, first: int, after: int) -> str:
        """The text from one word up to another, as written."""
        return self.text[self.starts[first] : self.ends[after - 1]]

    def raw(self, at: int) -> str:
        return self.raws[at]


def split_words(text: str, wanted: frozenset[str] | None = None) -> Iterator[SentenceWords]:
    """The sentences of a text in order. A line break ends a sentence; titles such as "Dr." do not.

    With `wanted`, only those that have one of these words.
    """
    words, first = TextWords(text), 0
    low = words.low
    for at, word in enumerate(low):
        if word not in _ENDS or (word == "." and at > first and low[at - 1] in _TITLES):
            continue
        if at > first and (wanted is None or not wanted.isdisjoint(low[first:at])):
            yield SentenceWords(words, first, at, word)
        first = at + 1
    if first < len(low) and (wanted is None or not wanted.isdisjoint(low[first:])):
        yield SentenceWords(words, first, len(low), "")


def _untie(raws: list[str]) -> list[str]:
    untied: list[str] = []
    for raw in raws:
        if "'" in raw or "\u2019" in raw:
            untied += _split_tied(raw)
        else:
            untied.append(raw)
    return untied


def _split_tied(raw: str) -> tuple[str, ...]:
    at = max(raw.rfind("'"), raw.rfind("\u2019"))
    tail = raw[at + 1 :].lower()
    if at > 0 and tail in _CLITICS:
        return raw[:at], raw[at:]
    if at > 1 and tail == "t" and raw[at - 1] in "nN":
        return raw[: at - 1], raw[at - 1 :]
    return (raw,)


def is_quote(word: str) -> bool:
    return word in _QUOTES
