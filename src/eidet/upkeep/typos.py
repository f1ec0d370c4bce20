"""Slips of the pen: one word written in two ways."""

from __future__ import annotations

from .sentence_features import Sort, Term
from .word_lists import NO_SLIPS


def slip(one: Term, other: Term) -> bool:
    """Whether two words are one with letters exchanged or doubled. Never names or numbers."""
    if not one.sort is other.sort is Sort.WORD:
        return False
    if {one.word, other.word} in NO_SLIPS or one.word[0] != other.word[0]:
        return False
    short, long = sorted((one.word, other.word), key=len)
    if len(short) == len(long):
        return len(short) >= 6 and _is_exchange(short, long)
    return len(short) >= 5 and _is_doubling(short, long)


def _is_exchange(one: str, other: str) -> bool:
    off = []
    for at, (a, b) in enumerate(zip(one, other, strict=True)):
        if a != b:
            off.append(at)
    return (
        len(off) == 2
        and off[1] == off[0] + 1
        and one[off[0]] == other[off[1]]
        and one[off[1]] == other[off[0]]
    )


def _is_doubling(short: str, long: str) -> bool:
    return len(long) == len(short) + 1 and any(
        long[at] == long[at - 1] and long[:at] + long[at + 1 :] == short for at in range(1, len(long))
    )
