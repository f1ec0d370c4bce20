"""Regular expressions of filters. Users and models write them, so every search has a time limit."""

from __future__ import annotations

import re
from functools import lru_cache
from time import monotonic
from typing import Final

import regex

from .errors import BadInput
from .validate import REGEX_CHARS, check_length

SECONDS: Final = 1.0  # of CPU that a pattern may spend on slow searches at once
REFILL: Final = 0.5  # seconds that it gets back in each second
SLOW: Final = 0.01  # seconds; quicker searches cost nothing
# A time limit makes a search five times slower. A pattern with few repeats, none of a group, needs none on a
# short text.
SHORT, FEW = 256, 2
_REPEAT: Final = re.compile(r"[*+{]")
_REPEATED_GROUP: Final = re.compile(r"\)[*+?{]")


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> _PatternSearch:
    """Compiles a search for the pattern; raises `BadInput` if it is invalid."""
    check_length(pattern, REGEX_CHARS, "a regular expression")
    try:
        return _PatternSearch(pattern)
    except (regex.error, RecursionError, OverflowError) as bad:
        raise BadInput(f"{pattern!r:.200} is not a regular expression: {bad}") from None


class _PatternSearch:
    """A search for a pattern anywhere in a text; raises `BadInput` once it takes too long."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._search = regex.compile(pattern).search
        self._left, self._since = SECONDS, monotonic()
        is_tame = len(_REPEAT.findall(pattern)) <= FEW and not _REPEATED_GROUP.search(pattern)
        self._short = SHORT if is_tame else 0

    def __call__(self, text: str) -> bool:
        if len(text) <= self._short:
            return self._search(text) is not None
        started = monotonic()
        left = min(SECONDS, self._left + (started - self._since) * REFILL)
        try:
            found = self._search(text, timeout=max(left, SLOW), concurrent=True)
        except TimeoutError:
            raise BadInput(
                f"the regular expression {self._pattern!r:.200} takes too long on what is stored: write it "
                "with fewer repeats inside of repeats, or narrow the filter"
            ) from None
        finally:
            if (spent := monotonic() - started) > SLOW:
                self._left, self._since = left - spent, started + spent
        return found is not None
