"""Counted stretches of time ("two or three weeks"), moving by them, and days beside or within others."""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple

from .days import (
    Days,
    around,
    clip_day,
    day,
    months_later,
    move_day,
    span,
    week_at,
    weekday_after,
    weekday_before,
    weekend_at,
    year_of,
)
from .english_words import ALL_WEEKDAYS, NUMBERS, TENS, VAGUE

_NUMBER = re.compile(r"[0-9]{1,4}")
_RANGE = re.compile(r"([0-9]{1,3})[-\u2013]([0-9]{1,3})")
_REACH = {"week": 3, "month": 15}
_WHOLE = {"fortnight": ("week", 2), "decade": ("year", 10)}


class Count(NamedTuple):
    """A range of counts, and the position after the words that state it."""

    low: int
    high: int
    after: int
    vague: bool = False


def parse_count(words: list[str], at: int) -> Count | None:
    """Two · 12 · 2-3 · a · a couple of · a few · several · two or three · twenty-five."""
    if match := _RANGE.fullmatch(words[at]):
        low, high = sorted((int(match[1]), int(match[2])))
        return Count(low, high, at + 1, True)
    if words[at] in ("a", "an", "the") and words[at + 1] in ("couple", "few", "dozen"):
        at += 1
    if words[at] in VAGUE and not (at and words[at - 1] == "how"):
        low, high = VAGUE[words[at]]
        return Count(low, high, at + 1 + (words[at + 1] == "of"), True)
    if words[at] == "dozen":
        return Count(12, 12, at + 1, True)
    one = _number(words, at)
    if one and words[one[1]] in ("or", "to") and (two := _number(words, one[1] + 1)) and two[0] > one[0]:
        return Count(one[0], two[0], two[1], True)
    if one:
        return Count(one[0], one[0], one[1])
    return None


def _number(words: list[str], at: int) -> tuple[int, int] | None:
    """A number and the place after it."""
    word = words[at]
    if word in ("a", "an"):
        return 1, at + 1
    if word in NUMBERS:
        return NUMBERS[word], at + 1
    if word in TENS:
        ones = at + 1 + (words[at + 1] == "-")
        more = NUMBERS.get(words[ones], 10)
        if more < 10:
            return TENS[word] + more, ones + 1
        return TENS[word], at + 1
    if _NUMBER.fullmatch(word):
        return int(word), at + 1
    return None


def offset(base: int, count: Count, unit: str, sign: int, *, exact: bool = False) -> Days:
    """Counts units back (-1) or on (1) from a day: that day, or the time around it that the unit allows.

    `exact` asks for the day itself.
    """
    if unit in _WHOLE:
        unit, times = _WHOLE[unit]
        count = count._replace(low=count.low * times, high=count.high * times)
    low, high = move_day(base, sign * count.low, unit), move_day(base, sign * count.high, unit)
    if exact:
        return day(high)
    if count.low != count.high:
        return _stretch_over(low, high, unit)
    return _point_at(low, count, unit)


def _stretch_over(low: int, high: int, unit: str) -> Days:
    if unit == "year":
        first, last = sorted((date.fromordinal(low).year, date.fromordinal(high).year))
        return span(year_of(first).first, year_of(last).last, 0.5)
    return span(low, high, 0.55)


def _point_at(at: int, count: Count, unit: str) -> Days:
    sure = 0.7 if count.vague or (count.low % 10 == 0 and count.low) else 0.85
    if unit == "day":
        loose = count.vague or count.low >= 20
        if loose:
            return around(at, 1, "span", 0.65)
        return day(at, 0.95)
    if unit == "year":
        return year_of(date.fromordinal(at).year, sure - 0.05)
    return around(at, _REACH[unit] * (2 if count.vague else 1), unit, sure - 0.05 * (unit == "month"))


def and_a_half(base: int, unit: str, count: Count, sign: int) -> Days | None:
    """A year and a half before or after a day."""
    if unit not in ("year", "month"):
        return None
    if unit == "year":
        at = months_later(base, sign * (12 * count.high + 6))
        return around(at, 45, "span", 0.7)
    return around(clip_day(move_day(base, sign * count.high, "month") + sign * 15), 10, "span", 0.7)


def half_a_year(base: int, sign: int) -> Days:
    return around(months_later(base, sign * 6), 30, "span", 0.7)


def of_week(word: str, anchor: Days) -> Days | None:
    if anchor.last - anchor.first > 7:
        return None
    return week_at(anchor.first) if word == "week" else weekend_at(anchor.first)


def beside(word: str, anchor: Days, sign: int) -> Days | None:
    """The day, week, weekend, weekday, month or year just before or after a time."""
    edge = anchor.first if sign < 0 else anchor.last
    if word in ALL_WEEKDAYS:
        pick = weekday_before if sign < 0 else weekday_after
        return day(pick(edge, ALL_WEEKDAYS[word]), 0.9)
    if word in ("day", "night", "morning", "evening"):
        return day(edge + sign, 0.95)
    if word == "weekend":
        saturday = weekday_before(edge - 1, 5) if sign < 0 else weekday_after(edge, 5)
        return Days(clip_day(saturday), clip_day(saturday + 1), "weekend", 0.9)
    if word == "week":
        return span(edge + sign, edge + 7 * sign, 0.85, "week")
    if word in ("month", "year"):
        far = offset(edge, Count(1, 1, 0), word, sign, exact=True)
        return span(edge + sign, far.first, 0.75, word)
    return None


def slice_of(days: Days, part: str, edge: bool) -> Days:
    """Cuts a third out of an interval, or less of a long one at its very beginning or end."""
    length = days.last - days.first + 1
    if length < 3:
        return days
    third = max(length // (6 if edge and length > 60 else 3), 1)
    first = {"early": days.first, "mid": days.first + (length - third) // 2, "late": days.last - third + 1}[
        part
    ]
    return span(first, first + third - 1, days.confidence * 0.9)._replace(yearless=days.yearless)


def nth_of(whole: Days, unit: str, number: int) -> Days | None:
    if unit == "half" and number in (1, 2):
        middle = (whole.first + whole.last) // 2
        first, last = (whole.first, middle) if number == 1 else (middle + 1, whole.last)
        return span(first, last, whole.confidence)
    size = {"day": 1, "week": 7}.get(unit)
    if size:
        first = whole.first + size * (number - 1) if number > 0 else whole.last - size + 1
        days = Days(
            first, min(first + size - 1, whole.last), "week" if size == 7 else "day", whole.confidence * 0.95
        )
    else:
        weekday = ALL_WEEKDAYS.get(unit, 0) if unit != "weekend" else 5
        first = weekday_after(whole.first - 1, weekday) + 7 * (number - 1)
        if number < 0:
            first = weekday_before(whole.last + 1, weekday)
        days = span(
            first,
            first + (unit == "weekend"),
            whole.confidence * 0.95,
            "weekend" if unit == "weekend" else "day",
        )
    if days.first <= whole.last:
        return days
    return None
