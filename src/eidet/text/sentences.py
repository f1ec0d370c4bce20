"""Splits text into sentences by rules, without a model, and long texts into units of some eighty words.

A unit is what is searched, so that the part that answers is found. No text is lost.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Final

from . import words_in

# abbreviations that nearly never end a sentence
_TITLES = words_in("""
    mr mrs ms mx dr prof st sr jr rev capt lt sgt sen gov mme mlle hr
    e.g i.e eg ie cf vs viz ca approx resp incl excl z.b d.h u.a bzw bspw ggf evtl ph.d
    """)
# abbreviations that end a sentence only if the next word has a capital
_OPEN = words_in("""
    etc al inc ltd co corp dept univ est a.m p.m am pm u.s u.k u.n usw
    jan feb mar apr jun jul aug sep sept oct nov dec
    """)
# words that end a sentence unless a number follows: "No. 5", but "I said no."
_NUMBERED = words_in("no nos nr vol fig figs eq sec ch art par p pp")
_END = re.compile(
    r"""
      (?<![.!?\u2026]) [.!?\u2026]+ ["'\u201d\u2019\u00bb)\]*_]* (?=\s)  # marks, closed, before white space
    | [\u3002\uff01\uff1f]+ [\u300d\u300f\u201d\uff09]*                   # full-width ones need no space
    | (?= [\n\r\u2028\u2029] )                                            # the end of a line
    """,
    re.VERBOSE,
)
_INK = re.compile(r"\S")
_LAST_WORD = re.compile(r"[^\s(\[\"'\u201c\u2018]*\Z")
_LOOK_BACK = 20  # characters, longer than any abbreviation, so that the search for the last word is bounded


def sentences(text: str) -> list[str]:
    """Returns the sentences in order, stripped; only white space is lost.

    A line break always ends a sentence. Abbreviations, initials, decimals and the numbers of a list
    do not; the rules know those of English and a few of German and French.
    """
    found, start = [], 0
    for end in _END.finditer(text):
        if _ends(text, start, end):
            found.append(text[start : end.end()].strip())
            start = end.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def _ends(text: str, start: int, end: re.Match[str]) -> bool:
    mark = end[0]
    if mark == ".":
        return not _abbreviates(text, start, end)
    return mark not in {"..", "...", "\u2026"} or not _next(text, end).islower()


def _abbreviates(text: str, start: int, end: re.Match[str]) -> bool:
    """Returns whether the full stop belongs to the word before it."""
    last = _LAST_WORD.search(text, max(start, end.start() - _LOOK_BACK), end.start())
    word = last[0] if last else ""
    known = word.lower()
    if known in _TITLES or (len(word) == 1 and word.isupper() and word != "I"):
        return True
    if known in _OPEN:
        return not _next(text, end).isupper()
    if known in _NUMBERED:
        return _next(text, end).isdecimal()
    return word.isdecimal() and not _INK.search(text, start, end.start() - len(word))


def _next(text: str, end: re.Match[str]) -> str:
    """Returns the first character after the white space; "" at the end of the text."""
    after = _INK.search(text, end.end())
    return after[0] if after else ""


# --- units of long texts

UNIT_CHARS: Final = 480  # some eighty words
WHOLE_CHARS: Final = 720  # characters up to which a text is one unit
MOST_UNITS: Final = 64  # units at most; in longer texts they are larger

_SPACE: Final = re.compile(r"\s")


def units_of(text: str) -> list[str]:
    """Cuts a text into units in order, between sentences if possible; a short text is one unit.

    Only white space between units is lost.
    """
    if len(text) <= WHOLE_CHARS:
        return [text]
    whole = sentences(text)
    size = max(UNIT_CHARS, -(-len(text) // MOST_UNITS) + UNIT_CHARS // 4)
    while len(units := _cut(whole, size)) > MOST_UNITS:
        size += size // 4  # sentences did not fill the units
    return units or [text]


def _cut(whole: list[str], size: int) -> list[str]:
    """Joins sentences into units of about a size."""
    units: list[list[str]] = []
    length = size
    for piece in chain.from_iterable(_pieces(sentence, size) for sentence in whole):
        if length + len(piece) < size:
            units[-1].append(piece)
            length += 1 + len(piece)
        else:
            units.append([piece])
            length = len(piece)
    return _join_short_tail([" ".join(unit) for unit in units], size)


def _pieces(sentence: str, size: int) -> list[str]:
    """Cuts an overlong sentence at white space or, failing that, anywhere."""
    pieces = []
    while len(sentence) > size * 3 // 2:
        cut = size
        if space := next(_SPACE.finditer(sentence, size, size * 3 // 2), None):
            cut = space.start()
        pieces.append(sentence[:cut].strip())
        sentence = sentence[cut:].strip()
    return [*pieces, sentence] if sentence else pieces


def _join_short_tail(units: list[str], size: int) -> list[str]:
    """Joins a short last unit to the one before."""
    if len(units) > 1 and len(units[-1]) < size // 4:
        units[-2:] = [f"{units[-2]} {units[-1]}"]
    return units
