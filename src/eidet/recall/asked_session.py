"""Sessions that a question counts: "our first session", "20 sessions ago", "sessions 1 through 3". Pure.

Each language gives the words (`talk_words.json`); the forms below are the same in all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from ..text.dates.scanner import fold_text
from .talk_words import list_languages, session_words

MOST: Final = 1_000_000  # a higher number counts nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSessions:
    """The sessions a question names, counted from the first (1) or the last (-1), and where.

    `label` is what follows the word for a session: it may be a name as well as a number.
    """

    start: int
    end: int
    ranges: tuple[tuple[int, int], ...] = ()
    label: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeantSession:
    """A session of a scope, and which of all it is."""

    scope: str
    session: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MeantSessions:
    """The sessions that a question means, of how many there are. None, if it counts beyond them."""

    asked: AskedSessions
    meant: tuple[MeantSession, ...]
    total: int

    def describe(self) -> str:
        """Describes the sessions for the explanation."""
        if not self.meant:
            return f"asks for a session that is not there: there are {self.total:,}"
        numbers = ", ".join(str(one.number) for one in self.meant)
        return f"in session {numbers} of {self.total:,}"


_Ranges = tuple[tuple[int, int], ...]
_Reading = Callable[[int, int, bool], _Ranges]


def _span(first: int, last: int, both: bool) -> _Ranges:
    return ((first, first), (last, last)) if both else ((min(first, last), max(first, last)),)


# The forms in which sessions are counted, and what they say; {…} are patterns of the language. The first
# number is a, the second b, or a again where there is none; `both` says that they are two, not a range.
_FORMS: Final[tuple[tuple[str, _Reading], ...]] = (
    ("{ago_before} {number_a} {noun}", lambda a, _, __: ((-a, -a),)),
    ("{number_a} {noun} {ago_after}", lambda a, _, __: ((-a, -a),)),
    ("{ordinal_a} {to_last} {noun}", lambda a, _, __: ((-a, -a),)),
    ("{before_last} {noun}", lambda _, __, ___: ((-2, -2),)),
    ("{noun} {before_last_after}", lambda _, __, ___: ((-2, -2),)),
    ("{last} {number_a} {noun}", lambda a, _, __: ((-a, -1),)),
    ("{first} {number_a} {noun}", lambda a, _, __: ((1, a),)),
    ("{ordinal_a}(?: {noun})? {link} {ordinal_b} {noun}", _span),
    ("{noun} (?:{number} )?{number_a}(?: ?{link} ?{number_b})?", _span),
    ("{ordinal_a} {noun}", lambda a, _, __: ((a, a),)),
    ("{last} {noun}", lambda _, __, ___: ((-1, -1),)),
    ("{noun} {last_after}", lambda _, __, ___: ((-1, -1),)),
)
_NOT_A_VERB = r"(?<!\bwe )(?<!\bi )(?<!\byou )(?<!\bthey )(?<!\bto )"  # "when did we first talk?"
_LABEL = re.compile(r"\b(?:session|conversation|chat|thread)\s+[#\"']?([\w.:-]*\d[\w.:-]*)")
_SLOT = re.compile(r"\{(\w+)\}")


@lru_cache(maxsize=4)  # a recall asks twice
def parse_asked_sessions(text: str, language: str) -> AskedSessions | None:
    """The sessions that a question counts or names; None for most questions."""
    low = fold_text(text)
    for code in list_languages(language):
        if (found := _grammar(code).read(low)) is not None:
            return found
    if named := _LABEL.search(low):
        label = text[named.start(1) : named.end(1)].rstrip(".:-")
        return AskedSessions(start=named.start(), end=named.end(), label=label)
    return None


class _Grammar:
    """The forms in the words of one language."""

    def __init__(self, words: dict[str, str]) -> None:
        self._noun = re.compile(rf"(?<!\w)(?:{words['noun']})(?!\w)")
        self._numbers = [re.compile(one) for one in words["numbers"].split()]
        self._ordinals = [re.compile(one) for one in words["ordinals"].split()]
        self._tens = words["tens"].split()
        self._both = re.compile(words["both"])
        slots = self._slots(words)
        self._forms = [
            (re.compile(_fill(form, slots)), reading)
            for form, reading in _FORMS
            if all(slots[name] for name in _SLOT.findall(form))
        ]

    def _slots(self, words: dict[str, str]) -> dict[str, str]:
        tens = "|".join(self._tens)
        before = rf"(?:(?:{tens})[ -])?" if tens else ""
        digits = rf"[0-9]{{1,6}}(?:{words['marks']})"
        ordinal = rf"{digits}|{before}(?:{_join(words['ordinals'])})"
        number = rf"[0-9]{{1,6}}(?!(?:{words['marks']})\b)|{before}(?:{_join(words['numbers'])})"
        number += f"|{tens}" if tens else ""
        plain = {name: said.replace(" ", r"[\s-]+") for name, said in words.items()}
        return plain | {
            "link": rf"(?P<link>{words['link']}|{words['both']}|[-\u2013\u2014])(?: the)?",
            "ordinal_a": f"(?P<a>{ordinal})",
            "ordinal_b": f"(?P<b>{ordinal})",
            "number_a": f"(?P<a>{number})",
            "number_b": f"(?P<b>{number})",
        }

    def read(self, low: str) -> AskedSessions | None:
        if not self._noun.search(low):
            return None
        for form, reading in self._forms:
            if found := form.search(low):
                return self._make(found, reading)
        return None

    def _make(self, found: re.Match[str], reading: _Reading) -> AskedSessions:
        parts = found.groupdict()
        first = self._count(parts.get("a"))
        last = self._count(parts.get("b")) or first
        both = self._both.fullmatch(parts.get("link") or "") is not None
        label = parts["a"] if parts.get("a") and not parts.get("b") and _is_named(found) else None
        ranges = reading(first, last, both) if max(first, last) < MOST else ()
        return AskedSessions(start=found.start(), end=found.end(), ranges=ranges, label=label)

    def _count(self, said: str | None) -> int:
        """The number that digits or words say; 0 for none."""
        if not said:
            return 0
        if digits := re.match(r"[0-9]+", said):
            return int(digits[0])
        *tens, last = re.split(r"[ -]", said)
        if last in self._tens and not tens:
            return (self._tens.index(last) + 2) * 10
        more = (self._tens.index(tens[0]) + 2) * 10 if tens else 0
        return more + next(self._places(last), 0)

    def _places(self, word: str) -> Iterator[int]:
        for known in (self._ordinals, self._numbers):
            yield from (at for at, one in enumerate(known, 1) if one.fullmatch(word))


def _is_named(found: re.Match[str]) -> bool:
    """Is it "session 7", which may be a session of that name, and not "the 7th session"?"""
    return found.start("a") > found.start() and found.end("a") == found.end() and found["a"].isdecimal()


def _join(words: str) -> str:
    return "|".join(f"(?:{one})" for one in words.split())


def _fill(form: str, slots: dict[str, str]) -> str:
    spaced = form.replace(" ?", r"[\s-]*").replace(" ", r"[\s-]+")
    filled = _SLOT.sub(lambda slot: f"(?:{slots[slot[1]]})", spaced)
    verb = _NOT_A_VERB if form.startswith(("{ordinal_a}", "{last}")) else ""
    return rf"(?<!\w){verb}{filled}(?!\w|[-.:/]\w)"


@cache
def _grammar(language: str) -> _Grammar:
    return _Grammar(session_words(language))
