"""Which of several statements a question asks for: the first, the last, or the one that holds now."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..text.dates import Dated

FIRST, LAST, NOW = "first", "last", "now"

_LAST = re.compile(r"\b(?:last|latest|most recent(?:ly)?|newest)\b(?! name\b| year\b)", re.IGNORECASE)
_FIRST = re.compile(
    r"\b(?:first|earliest|original(?:ly)?|initial(?:ly)?|oldest|previous(?:ly)?|former(?:ly)?|used to)\b"
    r"|\bbefore\W*$|\b(?:in|at) the (?:beginning|start|outset)\b|\bto begin with\b"
    r"|\bwhen (?:\w+ ){1,2}(?:started|began)\W*$",
    re.IGNORECASE,
)
_AHEAD = re.compile(
    r"\b(?:will|is|are|do|does|must|should|next|upcoming|due)\b|^(?:can|may|shall) (?:i|we)\b"
    r"|^(?:what|who|which \w+) \w+[^s\W]s\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"\bor\b|\bdo(?:es)? the (?:first|last)\b|\border of\b|\bfrom .* to\b", re.IGNORECASE)
_PRESENT = re.compile(
    r"\b(?:is|are|am|do|does|can|may|will|should|must|now|current(?:ly)?|still|today)\b"
    r"|\b(?:what|who|where|when|how|which|it|that|there|he|she)['\u2019]s\b"
    r"|^(?:who|what|which \w+) \w+[^s\W]s\b",
    re.IGNORECASE,
)
_HELD = re.compile(r"\b(?:was|were|had)\b", re.IGNORECASE)
_DID = re.compile(r"\b(?:did|done|do|happen(?:ed)?|went|been)\b", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:was|were|did|has(?! (?:the|an?|my|our|his|her|their|its|no|any)\b)|had|been|before|earlier|ago"
    r"|once|ever)\b",
    re.IGNORECASE,
)


def looks_ahead(text: str) -> bool:
    """Whether a question is about what is to come."""
    return _AHEAD.search(text) is not None and _PAST.search(text) is None


def asks_what_held(text: str) -> bool:
    """Whether a question is about how things were, not about what somebody did."""
    return _HELD.search(text) is not None and _DID.search(text) is None


def read_moment(text: str, dates: Sequence[Dated]) -> str:
    """Which statement is asked for where several tell of the same thing."""
    for start, end in sorted({(one.start, one.end) for one in dates}, reverse=True):
        text = text[:start] + text[end:]
    if _CHOICE.search(text):
        return ""
    if _LAST.search(text):
        return LAST
    if _FIRST.search(text):
        return FIRST
    if not dates and _PRESENT.search(text) and not _PAST.search(text):
        return NOW
    return ""
