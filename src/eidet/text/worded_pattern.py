"""Patterns that are found in any case, and of which most texts are known not to have one.

`re.IGNORECASE` tries each alternative of a pattern at each letter. A text in ASCII is made small and searched
as it is, up to five times as fast. Where all that a pattern matches has one of a few words, a text without
any of them is not searched at all.
"""

from __future__ import annotations

import re
from functools import cached_property

from .dates import split_letters


class WordedPattern:
    """A pattern in small letters; compiled when it is first used.

    Whatever it matches has one of the `words`, if there are any, with no letter or digit beside it. A match
    in ASCII holds small letters. It stands where the text has it.
    """

    def __init__(self, pattern: str, words: str = "") -> None:
        self.pattern = pattern
        self.words: frozenset[bytes] = frozenset(words.encode().split())

    @cached_property
    def _small(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    @cached_property
    def _folding(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.IGNORECASE)

    def search(self, text: str) -> re.Match[str] | None:
        if not text.isascii():  # letters beyond may match those of ASCII: the Kelvin sign is a k
            return self._folding.search(text)
        if self.words and self.words.isdisjoint(split_letters(text)[0]):
            return None
        return self._small.search(text.lower())

    def match(self, text: str) -> re.Match[str] | None:
        """Matches at the beginning without looking for the words first, which would not be quicker."""
        if not text.isascii():
            return self._folding.match(text)
        return self._small.match(text.lower())

    def sub(self, new: str, text: str) -> str:
        if self.search(text) is None:
            return text
        return self._folding.sub(new, text)
