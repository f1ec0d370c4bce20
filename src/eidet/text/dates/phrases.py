"""English time expressions: a time, an interval open on one side, or a span between two times."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from .days import FAR, Days, Read, span
from .months import RANGE_LINKS, day_number, parse_day_first
from .points import READERS, point
from .scanner import Tokens

_OPENERS = frozenset({"since", "before", "after", "until", "till", "between", "from"})
STARTS = READERS.keys() | _OPENERS


def expression(tokens: Tokens, at: int) -> Read:
    """Parses the longest time expression that begins at a word."""
    if tokens.words[at] in _OPENERS and (found := _parse_opened(tokens, at)):
        return found
    return _parse_range(tokens, at)


def _parse_opened(tokens: Tokens, at: int) -> Read:
    """Since, before, after, until a time; between and from one time to another."""
    word = tokens.words[at]
    if word in ("between", "from"):
        return _between(tokens, at)
    inner = _parse_range(replace(tokens, past=True) if word == "since" else tokens, at + 1)
    if not inner or (word in ("after", "before") and inner[0].confidence < 0.4):
        return None
    return _open(tokens, word, inner[0]), inner[1]


def _open(tokens: Tokens, word: str, days: Days) -> Days:
    """An interval without one end, capped at ten years or at today."""
    today, sure = tokens.today, days.confidence * 0.85
    if word == "since":
        first, last = days.first, max(today, days.last)
    elif word == "after":
        first = days.last + 1
        last = today if tokens.past and days.last < today else first + FAR
    elif word == "before":
        first, last = days.first - 1 - FAR, days.first - 1
    else:
        first = today if days.last >= today and not tokens.past else days.first - FAR
        last = days.last
    return span(first, max(first, last), sure)._replace(yearless=days.yearless)


def _between(tokens: Tokens, at: int) -> Read:
    """Between A and B; from A to B; from A on; else only what follows "from"."""
    one = _parse_counted_days(tokens, at + 1) or point(tokens, at + 1)
    if not one:
        return None
    link, word = tokens.words[one[1]], tokens.words[at]
    if link == "and" if word == "between" else link in RANGE_LINKS:
        joined = _join_points(tokens, at + 1, one, one[1] + 1)
        if joined:
            return joined
    if word == "from" and link in ("on", "onward", "onwards", "forward"):
        return _open(tokens, "since", one[0]), one[1] + 1
    return None


def _parse_counted_days(tokens: Tokens, at: int) -> Read:
    """ "Between 3 and 7 May", "from the 3rd to the 7th of May": the second says that the first is a day."""
    words = tokens.words
    number = day_number(words, at + (words[at] == "the"))
    if not number or (words[number[1]] != "and" and words[number[1]] not in RANGE_LINKS):
        return None
    link = number[1]
    other = parse_day_first(tokens, link + 1 + (words[link + 1] == "the"))
    if not other or other[0].grain != "day":
        return None
    back = other[0].first - date.fromordinal(other[0].first).day + number[0]
    if back < other[0].first:
        return other[0]._replace(first=back, last=back), link
    return None


def _parse_range(tokens: Tokens, at: int) -> Read:
    """A point, or from one to another: "March to May 2023", "Monday - Friday"."""
    one = point(tokens, at)
    if one and tokens.words[one[1]] in RANGE_LINKS:
        return _join_points(tokens, at, one, one[1] + 1) or one
    return one


def _join_points(tokens: Tokens, at: int, one: tuple[Days, int], other_at: int) -> Read:
    """Joins two points to a span; the year and order of the second hold for the first."""
    two = point(tokens, other_at)
    if not two:
        return None
    start, end = one[0], two[0]
    if start.yearless and not end.yearless:
        start = _in_year_of(tokens, at, start, end)
    elif end.first < start.first and (end.yearless or end.grain == "day"):
        end = _later(tokens, other_at, start, end)
    if end.last < start.first or (start.grain == "year") != (end.grain == "year"):
        return None
    yearless = start.yearless and end.yearless
    return span(start.first, end.last, min(start.confidence, end.confidence))._replace(
        yearless=yearless
    ), two[1]


def _in_year_of(tokens: Tokens, at: int, start: Days, end: Days) -> Days:
    year = date.fromordinal(end.last).year
    here = point(replace(tokens, year=year), at)
    if here and here[0].first > end.last:
        here = point(replace(tokens, year=year - 1), at)
    return here[0]._replace(confidence=0.9, yearless=False) if here else start


def _later(tokens: Tokens, at: int, start: Days, end: Days) -> Days:
    """ "November to February", "Friday to Sunday": the second comes after the first."""
    if not end.yearless:
        if start.first - end.last < 7:
            return end._replace(first=end.first + 7, last=end.last + 7)
        return end
    year = date.fromordinal(start.first).year
    later = point(replace(tokens, year=year), at)
    if later and later[0].last < start.first:
        later = point(replace(tokens, year=year + 1), at)
    return later[0]._replace(yearless=True) if later else end
