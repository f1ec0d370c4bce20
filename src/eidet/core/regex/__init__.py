"""Regular expressions that cannot hang: each value is searched in time linear to its length.

syntax.py      the tree of a pattern: Python's notation without look-around, back references and the like
literals.py    what can be told of a pattern before anything is searched
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
from .literals import find_required
from .syntax import Tree, parse_pattern

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
        return _ByLength(plain, tree, SHORT)
    return _ByLength(plain, tree, 0)


class _Backtracking:
    """Searches with `re`."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._search = pattern.search

    def __call__(self, value: str) -> bool:
        return self._search(value) is not None


class _ByLength:
    """Searches short values with `re`, longer ones with the automaton.

    A value without a text that every match has is not searched at all.
    """

    def __init__(self, pattern: re.Pattern[str], tree: Tree, short: int) -> None:
        self._search, self._short = pattern.search, short
        self._search_long = Automaton(tree).search
        self._required = find_required(tree)

    def __call__(self, value: str) -> bool:
        if self._required not in value:
            return False
        if len(value) <= self._short:
            return self._search(value) is not None
        return self._search_long(value)
