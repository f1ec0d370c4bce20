"""Detects which of several statements a question asks for: the first, the last or the present one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..text.dates import Dated
from ..text.flags import FoldedPattern

FIRST, LAST, NOW = "first", "last", "now"

_LAST: Final = FoldedPattern(r"\b(?:last|latest|most recent(?:ly)?|newest)\b(?! name\b| year\b)")
_FIRST: Final = FoldedPattern(
    r"\b(?:first|earliest|original(?:ly)?|initial(?:ly)?|oldest|previous(?:ly)?|former(?:ly)?|used to)\b"
    r"|\bbefore\W*$|\b(?:in|at) the (?:beginning|start|outset)\b|\bto begin with\b"
    r"|\bwhen (?:\w+ ){1,2}(?:started|began)\W*$",
)
_AHEAD: Final = FoldedPattern(
    r"\b(?:will|is|are|do|does|must|should|next|upcoming|coming|due)\b|^(?:can|may|shall) (?:i|we)\b"
    r"|\bwhat['\u2019]s\b",
)
_DOES: Final = FoldedPattern(
    r"(?:what|who|which \w+) \w+[^s\W]s\b"
)  # at the beginning: "what costs", "who runs"
_CHOICE: Final = FoldedPattern(r"\bor\b|\bdo(?:es)? the (?:first|last)\b|\border of\b|\bfrom .* to\b")
_PAST: Final = FoldedPattern(
    r"\b(?:was|were|did|has(?! (?:the|an?|my|our|his|her|their|its|no|any)\b)|had|been|before|earlier|ago"
    r"|once|ever)\b",
)


_COMING: Final = FoldedPattern(  # "about the upcoming opening" speaks of one that may be over
    r"\bcoming up\b|\bahead of (?:me|us)\b"
    r"|\b(?:which|what|any|all|list|have|show|are) (?:\w+ ){0,2}upcoming\b",
)
_PLANNED: Final = FoldedPattern(
    r"\b(?:due|scheduled|planned|plans|agenda|calendar|diary|appointments?|deadlines?)\b",
)


def asks_upcoming(text: str, dates: Sequence[Dated], today: int) -> bool:
    """Returns whether a question asks only for coming events."""
    if not looks_ahead(text):
        return False
    if _COMING.search(text):
        return not dates or any(one.last >= today for one in dates)
    ahead = any(one.first >= today and not one.yearless for one in dates)
    return ahead and _PLANNED.search(text) is not None


def looks_ahead(text: str) -> bool:
    """Returns whether a question is about the future."""
    if _AHEAD.search(text) is None and _DOES.match(text) is None:
        return False
    return _PAST.search(text) is None


def detect_moment(text: str, dates: Sequence[Dated]) -> str:
    """Detects which of several statements is asked for: the first, the last or the present one."""
    for start, end in sorted({(one.start, one.end) for one in dates}, reverse=True):
        text = text[:start] + text[end:]
    chooses = _CHOICE.search(text)
    if not chooses and _LAST.search(text):
        return LAST
    if not chooses and _FIRST.search(text):
        return FIRST
    if dates or _PAST.search(text):
        return ""
    return NOW
