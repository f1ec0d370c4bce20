"""Regular expressions that cannot hang: each value is searched in time linear to its length.

syntax.py      the tree of a pattern: Python's notation without look-around, back references and the like
automaton.py   searches with all ways of matching at once, however the pattern is written

Python's `re` tries one way of matching after another, and patterns such as `(a+)+b` have more ways than
anybody can wait for. A pattern with few ways still goes to `re`, which is faster; both give the same answer.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Protocol

from ..errors import BadInput
from ..limits import REGEX_CHARS, check_length
from .automaton import Automaton
from .syntax import parse_pattern

FEW_WAYS: Final = 64  # to try at each place of a value: `re` is linear with them
SHORT: Final = 64  # characters; a single `*` is harmless in so short a value


class Matcher(Protocol):
    """Says whether a pattern is found anywhere in a value."""

    def __call__(self, value: str) -> bool: ...


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Matcher:
    """A search for the pattern; `BadInput` where it is none, or needs what linear time cannot give."""
    check_length(pattern, REGEX_CHARS, "a regular expression")
    try:
        plain = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as bad:
        raise BadInput(f"{pattern!r:.200} is not a regular expression: {bad}") from None
    tree = parse_pattern(pattern, plain.flags)
    if tree.count_ways(endless=FEW_WAYS + 1) <= FEW_WAYS:
        return _Backtracking(plain)
    if tree.count_ways(endless=SHORT) <= FEW_WAYS**2:
        return _ByLength(plain, Automaton(tree), SHORT)
    return _ByLength(plain, Automaton(tree), 0)


class _Backtracking:
    """Searches with `re`."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._search = pattern.search

    def __call__(self, value: str) -> bool:
        return self._search(value) is not None


class _ByLength:
    """Searches short values with `re`, longer ones with the automaton."""

    def __init__(self, pattern: re.Pattern[str], automaton: Automaton, short: int) -> None:
        self._search, self._automaton, self._short = pattern.search, automaton, short

    def __call__(self, value: str) -> bool:
        if len(value) <= self._short:
            return self._search(value) is not None
        return self._automaton.search(value)
