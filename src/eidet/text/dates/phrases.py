"""Parses English time expressions: readers by first word, times relative to other times, and spans.

A reader takes the tokens and a place, and returns the days and the place after them, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date

from .days import (
    FAR,
    Count,
    Days,
    Read,
    day,
    move_day,
    nth_of,
    offset,
    placed,
    slice_of,
    span,
    unit_away,
    weekday_after,
    weekday_before,
)
from .months import (
    RANGE_LINKS,
    day_number,
    ordinal_number,
    parse_day_first,
    parse_day_of_month,
    parse_month,
    parse_numeric,
    parse_weekday,
    year_after,
)
from .relative import (
    DAY_WORDS,
    parse_code,
    parse_day_word,
    parse_feast,
    parse_hours,
    parse_quarter,
    parse_season,
    parse_the_weekend,
    parse_vague,
    parse_which,
    parse_year,
)
from .scanner import (
    ALL_MONTHS,
    ALL_WEEKDAYS,
    FEAST_STARTS,
    NUMBERS,
    ORDINALS,
    PARTS,
    SEASONS,
    TENS,
    UNITS,
    VAGUE,
    WHICH,
    Tokens,
    parse_count,
)

_OPENERS = frozenset({"since", "before", "after", "until", "till", "between", "from"})
_LINKS = {"before": -1, "prior": -1, "after": 1, "following": 1}  # followed by the anchor
_WHOLE = frozenset({"week", "month", "year", "quarter", "decade"})
_DEEPEST = 3  # nested times: "the day before the week before the ..."
_NTH = frozenset(["day", "week", "weekend"]) | ALL_WEEKDAYS.keys()
_AFTER_THE = WHICH | SEASONS.keys() | {"fourth", "weekend", "early", "mid", "late"}


def expression(tokens: Tokens, at: int) -> Read:
    """Parses the longest time expression that begins at a word."""
    if tokens.words[at] in _OPENERS and (found := _parse_opened(tokens, at)):
        return found
    return _parse_range(tokens, at)


# --- spans


def _parse_opened(tokens: Tokens, at: int) -> Read:
    """Parses a span that begins with "since", "before", "after", "until", "between" or "from"."""
    word = tokens.words[at]
    if word in ("between", "from"):
        return _between(tokens, at)
    inner = _parse_range(replace(tokens, past=True) if word == "since" else tokens, at + 1)
    if not inner or (word in ("after", "before") and inner[0].confidence < 0.4):
        return None
    return _open(tokens, word, inner[0]), inner[1]


def _open(tokens: Tokens, word: str, days: Days) -> Days:
    """Makes an interval open at one end, capped at ten years or at today."""
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
    """Parses "between A and B", "from A to B" or "from A on"; None without the second part."""
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
    """Parses "between 3 and 7 May", "from the 3rd to the 7th of May": the second gives the month."""
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
    """Parses a point, or a range of two: "March to May 2023", "Monday - Friday"."""
    one = point(tokens, at)
    if one and tokens.words[one[1]] in RANGE_LINKS:
        return _join_points(tokens, at, one, one[1] + 1) or one
    return one


def _join_points(tokens: Tokens, at: int, one: tuple[Days, int], other_at: int) -> Read:
    """Joins two points to a span; the first takes the year of the second if it has none."""
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
    """Moves the second point after the first: "November to February", "Friday to Sunday"."""
    if not end.yearless:
        if start.first - end.last < 7:
            return end._replace(first=end.first + 7, last=end.last + 7)
        return end
    year = date.fromordinal(start.first).year
    later = point(replace(tokens, year=year), at)
    if later and later[0].last < start.first:
        later = point(replace(tokens, year=year + 1), at)
    return later[0]._replace(yearless=True) if later else end


# --- one time


def point(tokens: Tokens, at: int) -> Read:
    """Parses one time, not a span between two."""
    readers = READERS.get(tokens.words[at])
    if readers is None:
        return _digits(tokens, at) if tokens.words[at][:1].isdecimal() else None
    for reader in readers:
        if found := reader(tokens, at):
            return found
    return None


def _inner(tokens: Tokens, at: int) -> Read:
    """Parses a time inside another one, down to a limited depth."""
    return point(replace(tokens, depth=tokens.depth + 1), at) if tokens.depth < _DEEPEST else None


def _digits(tokens: Tokens, at: int) -> Read:
    return (
        parse_numeric(tokens, at)
        or parse_day_first(tokens, at)
        or _parse_counted(tokens, at)
        or parse_year(tokens, at)
    )


def _parse_counted(tokens: Tokens, at: int) -> Read:
    """Parses counted times: two weeks ago · two days before Christmas · a week from now · in two weeks."""
    if tokens.words[at] == "in":
        return _ahead(tokens, at)
    count = parse_count(tokens.words, at)
    return (_ago(tokens, count) or _parse_counted_from(tokens, count)) if count else None


def _exactly(tokens: Tokens, at: int) -> Read:
    """Exactly two weeks ago: that very day, not the days around it."""
    count = parse_count(tokens.words, at + 1)
    return _ago(tokens, count, exact=True) if count else None


def _ago(tokens: Tokens, count: Count, *, exact: bool = False) -> Read:
    """Parses "two weeks ago", "a week or two ago" or "a few weeks back"."""
    words, end = tokens.words, count.after + 1
    if words[end] not in ("ago", "back"):
        return None
    if unit := UNITS.get(words[count.after]):
        return offset(tokens.today, count, unit, -1, exact=exact), end + 1
    return placed(parse_hours(tokens, count, -1), end + 1)


def _ahead(tokens: Tokens, at: int) -> Read:
    """Parses "in two weeks", with less confidence, as it may also be a duration."""
    words = tokens.words
    count = parse_count(words, at + 1)
    unit = UNITS.get(words[count.after]) if count else None
    if not count or not unit or words[count.after + 1] in ("ago", "back", "'", "now", "from", *_LINKS):
        return None
    if tokens.tense(at) < 0:
        return None
    days = offset(tokens.today, count, unit, 1)
    return days._replace(confidence=days.confidence * (0.5 if tokens.past else 0.75)), count.after + 1


def _parse_counted_from(tokens: Tokens, count: Count) -> Read:
    """Parses "two days before Christmas", "a week from 8 May" or "three weeks from now"."""
    words, link = tokens.words, count.after + 1
    unit, sign = UNITS.get(words[count.after]), 1 if words[link] == "from" else _LINKS.get(words[link])
    if unit is None:
        return None
    if words[link : link + 2] == ["from", "now"]:
        return offset(tokens.today, count, unit, 1), link + 2
    anchor = _inner(tokens, link + 1 + (words[link + 1] == "to")) if sign else None
    if sign is None or not anchor:
        return None
    base = anchor[0].first if sign < 0 else anchor[0].last
    days = offset(base, count, unit, sign)
    sure = days.confidence * anchor[0].confidence
    return days._replace(confidence=sure, yearless=anchor[0].yearless), anchor[1]


def _parse_beside(tokens: Tokens, at: int) -> Read:
    """Parses "(the) day before yesterday", "week after Christmas" or "weekend before last"."""
    words, unit = tokens.words, tokens.words[at]
    sign = _LINKS.get(words[at + 1])
    if sign is None:
        return None
    anchor = _inner(tokens, at + 2)
    if anchor is None:
        if words[at + 2] not in ("last", "next"):
            return None
        return placed(unit_away(tokens.today, UNITS.get(unit, unit), 2 * sign), at + 3)
    base = anchor[0].first if sign < 0 else anchor[0].last
    if unit in ALL_WEEKDAYS:
        days = day((weekday_before if sign < 0 else weekday_after)(base, ALL_WEEKDAYS[unit]))
    elif unit in UNITS:
        days = span(base + sign, move_day(base, sign, UNITS[unit]), 1.0, unit)
    else:
        return None
    return days._replace(confidence=min(0.85, anchor[0].confidence), yearless=anchor[0].yearless), anchor[1]


def _the(tokens: Tokens, at: int) -> Read:
    """Parses times with "the": the week before last, the end of June, the 8th of May, the 90s."""
    words, named = tokens.words, at + 1
    if words[named] == "other" and words[named + 1] in ("day", "night", "week", "weekend", "month"):
        days = {"day": 7, "night": 7, "week": 21, "weekend": 21, "month": 90}[words[named + 1]]
        return span(tokens.today - days, tokens.today - 1, 0.4), named + 2
    found = (
        _parse_beside(tokens, named)
        or _part(tokens, named)
        or _nth(tokens, named)
        or parse_day_first(tokens, named)
    )
    if found:
        return found
    if words[named][:1].isdecimal():
        return parse_day_of_month(tokens, named) or parse_year(tokens, named)
    return _inner(tokens, named) if words[named] in _AFTER_THE else None


def _part(tokens: Tokens, at: int) -> Read:
    """Parses a part of a time: early May · mid-May · the end of June · late last year."""
    words, word = tokens.words, tokens.words[at]
    if word not in PARTS:
        return None
    inner = at + 1 + (words[at + 1] in ("of", "-", "in"))
    if word in ("beginning", "start", "end", "middle") and words[at + 1] not in ("of", "-"):
        return None
    whole = _this_unit(tokens, inner) or _inner(tokens, inner)
    if not whole:
        return None
    return slice_of(whole[0], PARTS[word], word in ("beginning", "start", "end")), whole[1]


def _this_unit(tokens: Tokens, at: int) -> Read:
    """Parses "the month" in "the end of the month" as the present one."""
    if tokens.words[at] != "the" or tokens.words[at + 1] not in _WHOLE:
        return None
    return placed(unit_away(tokens.today, tokens.words[at + 1], 0), at + 2)


def _nth(tokens: Tokens, at: int) -> Read:
    """Parses "(the) first week of June", "last Friday of May" or "second quarter of 2024"."""
    words, number = tokens.words, ordinal_number(tokens.words[at])
    if number is None:
        return None
    unit, link = words[at + 1], words[at + 2]
    if unit == "quarter" and 1 <= number <= 4:
        return parse_quarter(tokens, at, number, at + 2) if year_after(tokens, at + 2) else None
    if link not in ("of", "in") or unit not in _NTH:
        return None
    whole = _this_unit(tokens, at + 3) or _inner(tokens, at + 3)
    if not whole or whole[0].grain not in ("month", "year", "season"):
        return None
    days = nth_of(whole[0], unit, ALL_WEEKDAYS.get(unit, 5), number)
    return (days._replace(yearless=whole[0].yearless), whole[1]) if days else None


READERS: dict[str, tuple[Callable[[Tokens, int], Read], ...]] = {}


def _start(words: Iterable[str], *readers: Callable[[Tokens, int], Read]) -> None:
    """Registers the readers for these words, after those registered before."""
    for word in words:
        READERS[word] = (*READERS.get(word, ()), *readers)


_start(["the"], _the)
_start(ORDINALS, _nth, parse_day_first)
_start(TENS, parse_day_first)
_start(FEAST_STARTS | {"cinco", "st", "saint"}, parse_feast)
_start(ALL_MONTHS, parse_month)
_start([*UNITS, *ALL_WEEKDAYS, "weekend"], _parse_beside)
_start(ALL_WEEKDAYS, parse_weekday)
_start(SEASONS, parse_season)
_start(["weekend"], parse_the_weekend)
_start(WHICH, parse_which)
_start(PARTS, _part)
_start(DAY_WORDS, parse_day_word)
_start(["recently", "lately"], parse_vague)
_start([*NUMBERS, *TENS, *VAGUE, "a", "an", "in", "dozen"], _parse_counted)
_start(["exactly", "precisely"], _exactly)
_start(["q1", "q2", "q3", "q4", "h1", "h2"], parse_code)
STARTS = READERS.keys() | _OPENERS
