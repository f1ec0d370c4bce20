"""A text as it reads, for finding what is hidden in it: positions lead back to the original.

Characters that are not seen are left out. Full-width signs and foreign digits become ASCII, every kind of
space becomes a space and every kind of dash a hyphen. Spaces and line breaks between digits become one
space, and spaced or doubled hyphens one hyphen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from unicodedata import decimal

_UNSEEN: Final = (
    "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e007f\U000e0100-\U000e01ef"
)
_SPACES: Final = "\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_DASHES: Final = "\u2010-\u2015\u2043\u2212\ufe58\ufe63\uff0d"
_WIDE: Final = "\uff01-\uff5e"
_UNSEEN_ONE: Final = re.compile(f"[{_UNSEEN}]")
_SPACE_ONE: Final = re.compile(f"[{_SPACES}]")
_DASH_ONE: Final = re.compile(f"[{_DASHES}]")
_LOOSE: Final = re.compile(r"(?<=[0-9])(?:[ \t\r\n]{2,6}|[\t\r\n])(?=[0-9(])")
_DASHED: Final = re.compile(r"(?<=[0-9])(?:[ \t]{1,3}-{1,3}[ \t]{0,3}|-{1,3}[ \t]{1,3}|-{2,3})(?=[0-9(])")
_AT: Final = re.compile(r"(?<=\w@)[ \t]?\r?\n[ \t]?(?=\w)")  # before the sign, it may begin a line of code
_WORTH: Final = re.compile(rf"[{_UNSEEN}{_SPACES}{_DASHES}{_WIDE}]|(?![0-9])\d")


@dataclass(frozen=True, slots=True)
class Folded:
    """The text as it reads, and where each of its characters stands in the original."""

    text: str
    places: list[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the original that a stretch of this text was made of."""
        return self.places[start], self.places[end - 1] + 1


def fold(text: str) -> Folded | None:
    """None where the text reads as it stands."""
    plain = text.isascii() or not _WORTH.search(text)
    if plain and not any(gap.search(text) for gap in (_LOOSE, _DASHED, _AT)):
        return None
    folded = Folded(text, list(range(len(text))))
    if not plain:
        folded = _fold_characters(text)
    for gap, by in ((_LOOSE, " "), (_DASHED, "-"), (_AT, "")):
        folded = _join(folded, gap, by)
    return folded


def _fold_characters(text: str) -> Folded:
    signs: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        seen = sign if sign.isascii() else _fold_one(sign)
        if seen:
            signs.append(seen)
            places.append(place)
    return Folded("".join(signs), places)


def _fold_one(sign: str) -> str:
    if _UNSEEN_ONE.match(sign):
        return ""
    if _SPACE_ONE.match(sign):
        return " "
    if _DASH_ONE.match(sign):
        return "-"
    if "\uff01" <= sign <= "\uff5e":
        return chr(ord(sign) - 0xFEE0)
    if sign.isdecimal():
        return str(decimal(sign))
    return sign


def _join(folded: Folded, gaps: re.Pattern[str], by: str) -> Folded:
    """The same with each gap written as `by`, which is a character or none."""
    signs: list[str] = []
    places: list[int] = []
    at = 0
    for gap in gaps.finditer(folded.text):
        signs += [folded.text[at : gap.start()], by]
        places += folded.places[at : gap.start() + len(by)]
        at = gap.end()
    if not at:
        return folded
    return Folded("".join((*signs, folded.text[at:])), places + folded.places[at:])
