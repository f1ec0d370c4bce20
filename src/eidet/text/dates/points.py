"""One English time: which reader begins at which word, and times that are told by another time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from .days import Read, day, placed, span
from .durations import (
    Count,
    and_a_half,
    beside,
    half_a_year,
    nth_of,
    of_week,
    offset,
    parse_count,
    slice_of,
)
from .english_words import (
    ALL_MONTHS,
    ALL_WEEKDAYS,
    DECADES,
    FEAST_STARTS,
    HOURS,
    NUMBERS,
    ORDINALS,
    PARTS,
    SEASONS,
    TENS,
    UNITS,
    VAGUE,
    WHICH,
    words_of,
)
from .months import (
    ordinal_number,
    parse_day_first,
    parse_day_of_month,
    parse_month,
    parse_numeric,
    parse_weekday,
    year_after,
)
from .named import parse_code, parse_decade_word, parse_feast, parse_quarter, parse_season, parse_year
from .relative import (
    DAY_WORDS,
    calendar_unit,
    days_repeated_ago,
    parse_day_word,
    parse_hours,
    parse_the_weekend,
    parse_vague,
    parse_which,
)
from .scanner import Tokens

_NOT_AHEAD = frozenset({"ago", "back", "'", "before", "after", "from", "now"})
_WHOLE = frozenset({"week", "month", "year", "quarter", "decade"})
_DEEPEST = 3  # "the day before the week before the ..." is read so far
_ANCHORED = words_of(
    "day week weekend month year night morning evening summer spring winter fall autumn"
) | set(ALL_WEEKDAYS)
_NTH = frozenset(["day", "week", "weekend", "half"]) | set(ALL_WEEKDAYS)
_AFTER_THE = WHICH | set(DECADES) | set(SEASONS) | {"fourth", "weekend", "early", "mid", "late"}


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
    """A time inside of another one."""
    if tokens.depth < _DEEPEST:
        return point(replace(tokens, depth=tokens.depth + 1), at)
    return None


def _digits(tokens: Tokens, at: int) -> Read:
    return (
        parse_numeric(tokens, at)
        or parse_day_first(tokens, at)
        or _parse_counted(tokens, at)
        or parse_year(tokens, at)
    )


def _parse_counted(tokens: Tokens, at: int) -> Read:
    """Two weeks ago · two Tuesdays ago · two days before Christmas · a week from Friday · in two weeks."""
    words = tokens.words
    if words[at] == "half" and words[at + 1] == "a" and words[at + 2] == "year":
        if words[at + 3] == "ago":
            return half_a_year(tokens.today, -1), at + 4
        return None
    if words[at] == "in":
        return _ahead(tokens, at)
    if words[at : at + 3] == ["a", "while", "ago"] or words[at : at + 3] == ["a", "while", "back"]:
        return span(tokens.today - 365, tokens.today - 7, 0.25), at + 3
    count = parse_count(words, at)
    if not count or not words[count.after].isalpha():
        return None
    return _ago(tokens, count) or _until_now(tokens, count) or _from_point(tokens, count)


def _exactly(tokens: Tokens, at: int) -> Read:
    """Exactly two weeks ago: that very day, not the days around it."""
    count = parse_count(tokens.words, at + 1)
    if not count:
        return None
    unit = UNITS.get(tokens.words[count.after])
    if unit is None or tokens.words[count.after + 1] != "ago":
        return None
    return offset(tokens.today, count, unit, -1, exact=True), count.after + 2


def _ago(tokens: Tokens, count: Count) -> Read:
    """Two weeks ago · a week or two ago · a year and a half ago · two Tuesdays ago · a few weeks back."""
    words, named = tokens.words, count.after
    half = words[named + 1 : named + 4] == ["and", "a", "half"]
    end = named + (4 if half else 1)
    if words[end] == "or" and words[end + 1] in ("two", "three", "so"):
        high = count.high if words[end + 1] == "so" else NUMBERS[words[end + 1]]
        count, end = Count(count.low, max(count.low, high), named, True), end + 2
    if words[end] not in ("ago", "back") or (
        words[end] == "back" and words[end + 1] in ("to", "in", "at", "from", "and")
    ):
        return None
    unit = UNITS.get(words[named])
    if half:
        days = and_a_half(tokens.today, unit or "", count, -1)
    elif unit:
        days = offset(tokens.today, count, unit, -1)
    elif words[named] in HOURS:
        days = parse_hours(tokens, count, -1)
    else:
        days = days_repeated_ago(tokens, words[named], count)
    return placed(days, end + 1)


def _until_now(tokens: Tokens, count: Count) -> Read:
    """(For) three years now: from then to today."""
    unit = UNITS.get(tokens.words[count.after])
    if unit is None or tokens.words[count.after + 1] != "now":
        return None
    begun = offset(tokens.today, count, unit, -1, exact=True)
    return span(begun.first, tokens.today, 0.6), count.after + 2


def _ahead(tokens: Tokens, at: int) -> Read:
    """In two weeks; it may also say how long something took, so it is not sure."""
    words = tokens.words
    count = parse_count(words, at + 1)
    unit = UNITS.get(words[count.after]) if count else None
    if not count or not unit or words[count.after + 1] in _NOT_AHEAD:
        return None
    if tokens.tense(at) < 0:
        return None
    days = offset(tokens.today, count, unit, 1)
    return days._replace(confidence=days.confidence * (0.5 if tokens.past else 0.75)), count.after + 1


def _from_point(tokens: Tokens, count: Count) -> Read:
    """Two days before Christmas · a week from Friday · three weeks from now."""
    words, link = tokens.words, count.after + 1
    unit = UNITS.get(words[count.after])
    if unit is None or words[link] not in ("before", "after", "from", "prior", "following"):
        return None
    if words[link] == "from" and words[link + 1] == "now":
        return offset(tokens.today, count, unit, 1), link + 2
    anchor = _inner(tokens, link + 1 + (words[link + 1] == "to"))
    if not anchor or (anchor[0].grain in ("year", "season") and unit != "year"):
        return None
    if words[link] == "from":
        base = anchor[0].last + (
            7 if anchor[0].last < tokens.today and words[link + 1] in ALL_WEEKDAYS else 0
        )
        return offset(base, count, unit, 1, exact=True)._replace(confidence=0.8), anchor[1]
    sign = -1 if words[link] in ("before", "prior") else 1
    base = anchor[0].first if sign < 0 else anchor[0].last
    days = offset(base, count, unit, sign)
    sure = days.confidence * anchor[0].confidence
    return days._replace(confidence=sure, yearless=anchor[0].yearless), anchor[1]


def _the(tokens: Tokens, at: int) -> Read:
    """What "the" begins: the week before last, the end of June, the 8th of May, the past year, the 90s."""
    words, named = tokens.words, at + 1
    if words[named] == "other" and words[named + 1] in ("day", "night", "week", "weekend", "month"):
        days = {"day": 7, "night": 7, "week": 21, "weekend": 21, "month": 90}[words[named + 1]]
        return span(tokens.today - days, tokens.today - 1, 0.4), named + 2
    if words[named] == "year" and words[named + 1][:1].isdecimal():
        return parse_year(tokens, named + 1)
    found = (
        _parse_anchored(tokens, named)
        or _part(tokens, named)
        or _nth(tokens, named)
        or parse_day_first(tokens, named)
    )
    if found:
        return found
    if words[named][:1].isdecimal():
        return parse_day_of_month(tokens, named) or parse_year(tokens, named)
    if words[named] == "'" and words[named + 1][:1].isdecimal():
        return parse_year(tokens, named + 1)
    if words[named] in _AFTER_THE:
        return _inner(tokens, named)
    return None


def _parse_anchored(tokens: Tokens, at: int) -> Read:
    """(The) week before last · day before yesterday · weekend after 8 May · week of May 8."""
    words, link = tokens.words, tokens.words[at + 1]
    if words[at] not in _ANCHORED or link not in ("before", "after", "of", "following"):
        return None
    sign = -1 if link == "before" else 1
    if words[at + 2] in ("last", "next") and not _is_time(words[at + 3]):
        return _before_last(tokens, at, words[at + 2])
    anchor = _inner(tokens, at + 2 + (words[at + 2] == "the" and words[at + 3][:1].isdecimal()))
    if not anchor or (link == "of" and (words[at] != "week" and words[at] != "weekend")):
        return None
    days = of_week(words[at], anchor[0]) if link == "of" else beside(words[at], anchor[0], sign)
    if not days:
        return None
    sure = min(days.confidence, anchor[0].confidence)
    return days._replace(confidence=sure, yearless=anchor[0].yearless), anchor[1]


def _is_time(word: str) -> bool:
    return word in UNITS or word in ALL_WEEKDAYS or word in SEASONS or word in ALL_MONTHS or word == "weekend"


def _parse_last_anchored(tokens: Tokens, at: int) -> Read:
    """Last weekend before 10 April: the one just before it, not the one before today."""
    if tokens.words[at + 2] == "before":
        return _parse_anchored(tokens, at + 1)
    return None


def _before_last(tokens: Tokens, at: int, which: str) -> Read:
    """The summer before last; the week after next."""
    word, back = tokens.words[at], which == "last"
    if UNITS.get(word) == "day":
        return day(tokens.today + (-2 if back else 2), 0.95), at + 3
    if back and (days := days_repeated_ago(tokens, word, Count(2, 2, at))):
        return days, at + 3
    whole = calendar_unit(tokens, at, word, -2 if back else 2)
    return placed(whole, at + 3)


def _part(tokens: Tokens, at: int) -> Read:
    """Early May · mid-May · the end of June · late last year · earlier this month."""
    words, word = tokens.words, tokens.words[at]
    if word in ("earlier", "later"):
        return _so_far(tokens, at)
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
    """(The end of) the month: the present one."""
    if tokens.words[at] != "the" or tokens.words[at + 1] not in _WHOLE:
        return None
    days = calendar_unit(tokens, at, tokens.words[at + 1], 0)
    return placed(days, at + 2)


def _so_far(tokens: Tokens, at: int) -> Read:
    """Earlier this month: up to today; later this week: from today on."""
    words = tokens.words
    inner = at + 1 + (words[at + 1] == "in")
    whole = _this_unit(tokens, inner) or _inner(tokens, inner)
    if not whole or not whole[0].first <= tokens.today <= whole[0].last:
        return None
    days = whole[0]
    if words[at] == "earlier":
        return days._replace(last=tokens.today, confidence=days.confidence * 0.9), whole[1]
    return days._replace(first=tokens.today, confidence=days.confidence * 0.9), whole[1]


def _nth(tokens: Tokens, at: int) -> Read:
    """(The) first week of June · last Friday of May · second quarter of 2024 · second half of May."""
    words, number = tokens.words, ordinal_number(tokens.words[at])
    if number is None:
        return None
    unit, link = words[at + 1], words[at + 2]
    if unit == "quarter" and 1 <= number <= 4:
        if year_after(tokens, at + 2):
            return parse_quarter(tokens, at, number, at + 2)
        return None
    if link not in ("of", "in") or unit not in _NTH:
        return None
    whole = _this_unit(tokens, at + 3) or _inner(tokens, at + 3)
    if not whole or whole[0].grain not in ("month", "year", "season"):
        return None
    days = nth_of(whole[0], unit, number)
    if days:
        return days._replace(yearless=whole[0].yearless), whole[1]
    return None


READERS: dict[str, tuple[Callable[[Tokens, int], Read], ...]] = {}


def _start(words: Iterable[str], *readers: Callable[[Tokens, int], Read]) -> None:
    """Registers the readers for these words, after those registered before."""
    for word in words:
        READERS[word] = (*READERS.get(word, ()), *readers)


_start(["the"], _the)
_start(["last", "final"], _parse_last_anchored)
_start(ORDINALS, _nth, parse_day_first)
_start(TENS, parse_day_first)
_start(FEAST_STARTS | {"cinco", "st", "saint"}, parse_feast)
_start(ALL_MONTHS, parse_month)
_start(_ANCHORED, _parse_anchored)
_start(ALL_WEEKDAYS, parse_weekday)
_start(SEASONS, parse_season)
_start(DECADES, parse_decade_word)
_start(["weekend"], parse_the_weekend)
_start(WHICH, parse_which)
_start(PARTS, _part)
_start(["earlier", "later"], _part)
_start(DAY_WORDS, parse_day_word)
_start(["recently", "lately"], parse_vague)
_start([*NUMBERS, *TENS, *VAGUE, "a", "an", "half", "in", "dozen"], _parse_counted)
_start(["exactly", "precisely"], _exactly)
_start(["q1", "q2", "q3", "q4", "h1", "h2"], parse_code)
