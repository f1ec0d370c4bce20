"""Findings of detectors, words that raise or lower their confidence, and folding of lookalike characters."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, Final
from unicodedata import decimal

LEAST: Final = 0.5  # less certain findings are left out by default
REACH: Final = 40  # characters before a number in which a word counts as being about it


class Pii(StrEnum):
    """The built-in classes of personal data; user patterns add classes of their own."""

    EMAIL = "email"
    PHONE = "phone"
    CARD = "card"
    IBAN = "iban"
    NATIONAL_ID = "national_id"
    IP = "ip"
    MAC = "mac"
    SECRET = "secret"  # noqa: S105 - the name of a class
    BIRTH = "birth"
    ADDRESS = "address"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A span of text of one class. `repr` omits the text itself, so that logs stay clean.

    `guard` tells the action that it took, and where in data it found it.
    """

    kind: str
    start: int
    end: int
    text: str = field(repr=False)
    confidence: float
    action: str | None = None
    path: str = ""

    @property
    def weight(self) -> float:
        """Length times confidence, by which overlapping findings compete."""
        return (self.end - self.start) * self.confidence


def finding_at(text: str, kind: str, span: tuple[int, int], confidence: float) -> Found:
    start, end = span
    return Found(kind=str(kind), start=start, end=end, text=text[start:end], confidence=confidence)


def resolve_overlaps(found: Iterable[Found]) -> list[Found]:
    """Returns findings without overlaps, in text order; of overlapping ones, the weightiest stays."""
    starts: list[int] = []
    taken: list[Found] = []
    for one in sorted(found, key=lambda one: (-one.weight, one.start, one.kind)):
        at = bisect_left(starts, one.start)
        if (at and taken[at - 1].end > one.start) or (at < len(taken) and taken[at].start < one.end):
            continue
        starts.insert(at, one.start)
        taken.insert(at, one)
    return taken


# The data file.


@cache
def load_patterns() -> dict[str, Any]:
    """Loads patterns.toml, with values of several lines joined to one."""
    import tomllib

    text = files(__package__).joinpath("patterns.toml").read_text(encoding="utf-8")
    return {name: _join_lines(value) for name, value in tomllib.loads(text).items()}


def _join_lines(value: Any) -> Any:
    if isinstance(value, str):
        return "".join(line.strip() for line in value.splitlines())
    if isinstance(value, list) and isinstance(value[0], dict):  # the words of a list stay as they are
        return [_join_lines(one) for one in value]
    if isinstance(value, dict):
        return {name: _join_lines(one) for name, one in value.items()}
    return value


# Words before a number.


_WORDY: Final = re.compile(r"[^\W\d_]|[€$£#]")


@cache
def _signs(words: str) -> re.Pattern[str]:
    otherwise = load_patterns()["otherwise"]
    return re.compile(rf"(?<![^\W_])(?:(?P<yes>{words})|(?:{otherwise}))(?![^\W_])", re.IGNORECASE)


def weigh_confidence(text: str, start: int, words: str, *, alone: float, said: float) -> float:
    """Returns `said` if one of the words is the closest sign before, `alone` if there is no sign.

    After a word about other numbers, returns half of `alone`.
    """
    confidence, reach = alone, max(0, start - REACH)
    if _WORDY.search(text, reach, start):
        for sign in _signs(words).finditer(text, reach, start):
            confidence = said if sign["yes"] else alone / 2
    return confidence


# Folding a text to what people see. Invisible characters are left out, full-width signs and foreign digits
# become ASCII, every kind of space becomes a space and every kind of dash a hyphen. Spaces and line breaks
# between digits become one space, and spaced or doubled hyphens one hyphen.

_UNSEEN: Final = (
    "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e007f\U000e0100-\U000e01ef"
)
_SPACES: Final = "\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_DASHES: Final = "\u2010-\u2015\u2043\u2212\ufe58\ufe63\uff0d"
_FOLDS: Final = tuple((re.compile(f"[{s}]"), by) for s, by in ((_UNSEEN, ""), (_SPACES, " "), (_DASHES, "-")))
_GAPS: Final = (
    (re.compile(r"(?<=[0-9])(?:[ \t\r\n]{2,6}|[\t\r\n])(?=[0-9(])"), " "),
    (re.compile(r"(?<=[0-9])(?:[ \t]{1,3}-{1,3}[ \t]{0,3}|-{1,3}[ \t]{1,3}|-{2,3})(?=[0-9(])"), "-"),
    (re.compile(r"(?<=\w@)[ \t]?\r?\n[ \t]?(?=\w)"), ""),  # before the sign, it may begin a line of code
)
_WORTH: Final = re.compile(rf"[{_UNSEEN}{_SPACES}{_DASHES}\uff01-\uff5e]|(?![0-9])\d")


@dataclass(frozen=True, slots=True)
class _Folded:
    """A folded text, and the position of each of its characters in the original."""

    text: str
    places: list[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Maps a span of this text to its span in the original."""
        return self.places[start], self.places[end - 1] + 1


def fold(text: str) -> _Folded | None:
    """Folds lookalike characters; None if the text needs no folding."""
    plain = text.isascii() or not _WORTH.search(text)
    if plain and not any(gap.search(text) for gap, _ in _GAPS):
        return None
    folded = _Folded(text, list(range(len(text)))) if plain else _fold_characters(text)
    for gap, by in _GAPS:
        folded = _join_gaps(folded, gap, by)
    return folded


def _fold_characters(text: str) -> _Folded:
    signs = [sign if sign.isascii() else _fold_one(sign) for sign in text]
    return _Folded("".join(signs), [place for place, sign in enumerate(signs) if sign])


def _fold_one(sign: str) -> str:
    for some, by in _FOLDS:
        if some.match(sign):
            return by
    if "\uff01" <= sign <= "\uff5e":
        return chr(ord(sign) - 0xFEE0)
    return str(decimal(sign)) if sign.isdecimal() else sign


def _join_gaps(folded: _Folded, gaps: re.Pattern[str], by: str) -> _Folded:
    """Replaces each gap by `by`, which is one character or none."""
    signs: list[str] = []
    places: list[int] = []
    at = 0
    for gap in gaps.finditer(folded.text):
        signs += [folded.text[at : gap.start()], by]
        places += folded.places[at : gap.start() + len(by)]
        at = gap.end()
    if not at:
        return folded
    return _Folded("".join((*signs, folded.text[at:])), places + folded.places[at:])
