"""Splits text into sentences by rules: no model, and no text lost."""

from __future__ import annotations

import re

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
    if mark in {"..", "...", "\u2026"}:
        return not _next(text, end).islower()
    return True


def _abbreviates(text: str, start: int, end: re.Match[str]) -> bool:
    """Returns whether the full stop belongs to the word before it."""
    last = _LAST_WORD.search(text, max(start, end.start() - _LOOK_BACK), end.start())
    word = ""
    if last:
        word = last[0]
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
