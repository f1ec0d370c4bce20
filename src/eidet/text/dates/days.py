"""Intervals of calendar days, their arithmetic, and dates in digits; all results lie in years 1-9999.

Days are ordinals. An ordinal minus one, modulo seven, is the weekday (Monday is 0). Winter begins in
December of its year.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable
from datetime import date
from typing import NamedTuple

_LAST_DAY = date.max.toordinal()
FAR = 3652  # days, ten years: how far an open interval reaches
_UNIT_DAYS = {"day": 1, "week": 7}
_REACH = {"week": 3, "month": 15}  # days around a time that is counted
_LONGER = {"fortnight": ("week", 2), "decade": ("year", 10)}


class Days(NamedTuple):
    """An interval with the attributes of `Dated`; both ends are included."""

    first: int
    last: int
    grain: str
    confidence: float
    yearless: bool = False


Read = tuple[Days, int] | None  # the result of a reader: the days, and the place after their words


def placed(days: Days | None, after: int) -> Read:
    return None if days is None else (days, after)


def clip_day(ordinal: int) -> int:
    return min(max(ordinal, 1), _LAST_DAY)


def ordinal_of(year: int, month: int, day: int) -> int:
    """Returns the ordinal of an existing day; clipped to the calendar if the year is beyond it."""
    if year < 1:
        return 1
    return date(year, month, day).toordinal() if year <= 9999 else _LAST_DAY


def day(ordinal: int, confidence: float = 1.0) -> Days:
    return Days(clip_day(ordinal), clip_day(ordinal), "day", confidence)


def day_of(year: int, month: int, number: int, confidence: float = 1.0) -> Days | None:
    """Makes a day; None if the month has no such day."""
    if not (1 <= month <= 12 and 1 <= number <= monthrange(year, month)[1]):
        return None
    return day(ordinal_of(year, month, number), confidence)


def run_of_days(year: int, month: int, first: int, last: int) -> Days | None:
    """Makes a run of days of a month; None if it has no such days."""
    start, end = day_of(year, month, first), day_of(year, month, last)
    if start is None or end is None or first > last:
        return None
    return start if first == last else span(start.first, end.first, 1.0)


def months(year: int, month: int, count: int, grain: str, confidence: float = 1.0) -> Days:
    """Makes `count` whole months from a month; 13 is January of the next year."""
    start, end = year * 12 + month - 1, year * 12 + month - 2 + count
    last_year, last_month = end // 12, end % 12 + 1
    last = ordinal_of(last_year, last_month, monthrange(last_year, last_month)[1])
    return Days(ordinal_of(start // 12, start % 12 + 1, 1), last, grain, confidence)


def month_of(year: int, month: int, confidence: float = 1.0) -> Days:
    return months(year, month, 1, "month", confidence)


def year_of(year: int, confidence: float = 1.0) -> Days:
    return months(year, 1, 12, "year", confidence)


def season_of(year: int, first_month: int, confidence: float = 0.9) -> Days:
    return months(year, first_month, 3, "season", confidence)


def week_at(ordinal: int, confidence: float = 0.9) -> Days:
    """Returns the week from Monday to Sunday around a day."""
    monday = ordinal - (ordinal - 1) % 7
    return span(monday, monday + 6, confidence, "week")


def weekend_at(ordinal: int, confidence: float = 0.9) -> Days:
    """Returns Saturday and Sunday of the week around a day."""
    saturday = ordinal - (ordinal - 1) % 7 + 5
    return span(saturday, saturday + 1, confidence, "weekend")


def span(first: int, last: int, confidence: float, grain: str = "span") -> Days:
    """Makes the interval from the earlier to the later of two days."""
    low, high = sorted((clip_day(first), clip_day(last)))
    return Days(low, high, grain, confidence)


def weekday_before(ordinal: int, weekday: int) -> int:
    """Returns the last such weekday strictly before a day."""
    return ordinal - 1 - (ordinal - 2 - weekday) % 7


def weekday_after(ordinal: int, weekday: int) -> int:
    """Returns the first such weekday strictly after a day."""
    return ordinal + 1 + (weekday - ordinal) % 7


def months_later(ordinal: int, count: int) -> int:
    """Returns the same day of the month `count` months later, or that month's last day."""
    at = date.fromordinal(clip_day(ordinal))
    index = at.year * 12 + at.month - 1 + count
    year, month = index // 12, index % 12 + 1
    return ordinal_of(year, month, min(at.day, monthrange(year, month)[1]))


def move_day(ordinal: int, count: int, unit: str) -> int:
    """Moves a day by `count` days, weeks, months or years."""
    if unit in ("month", "year"):
        return months_later(ordinal, count * (12 if unit == "year" else 1))
    return clip_day(ordinal + count * _UNIT_DAYS[unit])


def unit_away(today: int, unit: str, shift: int) -> Days | None:
    """Returns the day, week, weekend, month, quarter, year or decade `shift` units from the present one."""
    at = date.fromordinal(clip_day(today))
    match unit:
        case "day":
            return day(today + shift, 0.95)
        case "week":
            return week_at(today + 7 * shift)
        case "weekend":
            return weekend_at(today + 7 * shift)
        case "month":
            return month_of(at.year, at.month + shift, 0.95)
        case "quarter":
            return months(at.year, (at.month - 1) // 3 * 3 + 1 + 3 * shift, 3, "span", 0.9)
        case "year":
            return year_of(at.year + shift, 0.95)
        case "decade":
            return months(at.year // 10 * 10 + 10 * shift, 1, 120, "span", 0.7)
    return None


def distance(days: Days, ordinal: int) -> int:
    return max(days.first - ordinal, ordinal - days.last, 0)


def choose_year(candidates: Iterable[Days | None], today: int, lean: int) -> Days | None:
    """Chooses among the same expression in several years.

    With `lean` -1 returns the latest that has begun, with 1 the earliest that has not ended, and with 0
    the nearest, the earlier of two as near.
    """
    there = [days for days in candidates if days is not None]
    if lean < 0:
        return max((days for days in there if days.first <= today), default=None)
    if lean > 0:
        return min((days for days in there if days.last >= today), default=None)
    return min(there, key=lambda days: (distance(days, today), days.first), default=None)


def yearly(of_year: Callable[[int], Days | None], today: int, lean: int, reach: int = 2) -> Days | None:
    """Chooses the year of a yearly time, and marks it as guessed."""
    year = date.fromordinal(clip_day(today)).year
    candidates = (of_year(year + shift) for shift in range(-reach, reach + 1))
    days = choose_year(candidates, today, lean)
    return days and days._replace(yearless=True)


def year_away(of_year: Callable[[int], Days], today: int, shift: int) -> Days | None:
    """Returns the last of a yearly time that has ended (-1), the next to begin (1), or this year's (0)."""
    year = date.fromordinal(clip_day(today)).year
    near = [of_year(y) for y in range(max(year - 2, 1), min(year + 2, 9999) + 1)]
    if shift < 0:
        return max((days for days in near if days.last < today), default=None)
    if shift > 0:
        return min((days for days in near if days.first > today), default=None)
    return next((days for days in near if days.first <= today <= days.last), of_year(year))


# --- counted times, and parts of others


class Count(NamedTuple):
    """A range of counts, and the position after the words that state it."""

    low: int
    high: int
    after: int
    vague: bool = False


def offset(base: int, count: Count, unit: str, sign: int, *, exact: bool = False) -> Days:
    """Counts units back (-1) or on (1) from a day; returns the time around the result, as wide as the unit.

    With `exact`, returns the day itself.
    """
    if unit in _LONGER:
        unit, times = _LONGER[unit]
        count = count._replace(low=count.low * times, high=count.high * times)
    low, high = move_day(base, sign * count.low, unit), move_day(base, sign * count.high, unit)
    if exact:
        return day(high)
    return _stretch_over(low, high, unit) if count.low != count.high else _point_at(low, count, unit)


def _stretch_over(low: int, high: int, unit: str) -> Days:
    if unit == "year":
        first, last = sorted((date.fromordinal(low).year, date.fromordinal(high).year))
        return span(year_of(first).first, year_of(last).last, 0.5)
    return span(low, high, 0.55)


def _point_at(at: int, count: Count, unit: str) -> Days:
    sure = 0.7 if count.vague or (count.low % 10 == 0 and count.low) else 0.85
    if unit == "day":
        loose = count.vague or count.low >= 20
        return span(at - 1, at + 1, 0.65) if loose else day(at, 0.95)
    if unit == "year":
        return year_of(date.fromordinal(at).year, sure - 0.05)
    reach = _REACH[unit] * (2 if count.vague else 1)
    return span(at - reach, at + reach, sure - 0.05 * (unit == "month"), unit)


def slice_of(days: Days, part: str, edge: bool) -> Days:
    """Cuts a third out of an interval, or a sixth of a long one for its very beginning or end."""
    length = days.last - days.first + 1
    if length < 3:
        return days
    third = max(length // (6 if edge and length > 60 else 3), 1)
    first = {"early": days.first, "mid": days.first + (length - third) // 2, "late": days.last - third + 1}[
        part
    ]
    return span(first, first + third - 1, days.confidence * 0.9)._replace(yearless=days.yearless)


def nth_of(whole: Days, unit: str, weekday: int, number: int) -> Days | None:
    """Returns the nth (-1 is the last) day, week, weekend or weekday of a time; None if there is none."""
    sure = whole.confidence * 0.95
    size = {"day": 1, "week": 7}.get(unit)
    if size:
        first = whole.first + size * (number - 1) if number > 0 else whole.last - size + 1
        days = Days(first, min(first + size - 1, whole.last), unit, sure)
    else:
        first = weekday_after(whole.first - 1, weekday) + 7 * (number - 1)
        if number < 0:
            first = weekday_before(whole.last + 1, weekday)
        is_weekend = unit == "weekend"
        days = span(first, first + is_weekend, sure, "weekend" if is_weekend else "day")
    return days if days.first <= whole.last else None


# --- dates in digits, in all languages

_CLOCK = r"(?:[t][0-9:.]+z?)?"
_ISO = re.compile(rf"([12][0-9]{{3}})([-/.])([0-9]{{1,2}})\2([0-9]{{1,2}}){_CLOCK}")
_SHORT = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([12][0-9]{3}|[0-9]{2})")
_ISO_MONTH = re.compile(r"((?:19|20)[0-9]{2})-([01][0-9])")
_YEARS = re.compile(r"((?:1[5-9]|20)[0-9]{2})[-\u2013/]((?:1[5-9]|20)?[0-9]{2})")
YEAR = re.compile(r"(?:1[5-9]|2[01])[0-9]{2}")
DECADE = re.compile(r"((?:1[5-9]|20)?[0-9]0)s")
MAYBE = re.compile(
    r"[0-9][-/.][0-9]{1,2}[-/.][0-9]|[0-9]/[0-9]|(?:1[5-9]|2[01])[0-9]{2}|[0-9]0s|[0-9](?:st|nd|rd|th)\b|\b[qQ][1-4]\b|\b[hH][12]\b"
)
_WRITTEN_OUT = re.compile(
    r"([12][0-9]{3})\s?[年년]\s?(?:([0-9]{1,2})\s?[月월]\s?(?:([0-9]{1,2})\s?[日일号])?)?"
)
_MONEY = frozenset("$€£¥₹#@")


def parse_number(number: str, before: str, month_first: bool | None) -> Days | None:
    """Parses one number as a date; `month_first` is None if both orders are in use."""
    if len(number) < 6 or before in _MONEY:
        return None
    if match := _ISO.fullmatch(number):
        return day_of(int(match[1]), int(match[3]), int(match[4]))
    if match := _SHORT.fullmatch(number):
        return _short(match, month_first)
    if match := _ISO_MONTH.fullmatch(number):
        return month_of(int(match[1]), int(match[2])) if 1 <= int(match[2]) <= 12 else None
    return None


def parse_other_way(number: str) -> Days | None:
    """Parses 4/6/2026 with day and month the other way round; None where only one way is a date."""
    match = _SHORT.fullmatch(number)
    if not match or match[2] == "." or match[1] == match[3] or len(match[4]) != 4:
        return None
    one, two = int(match[1]), int(match[3])
    return None if one > 12 or two > 12 else day_of(int(match[4]), two, one, 0.6)


def parse_years(number: str) -> Days | None:
    """ "2019-2021" and "2019/20"."""
    match = _YEARS.fullmatch(number)
    if not match:
        return None
    first = int(match[1])
    last = int(match[2]) if len(match[2]) == 4 else first // 100 * 100 + int(match[2])
    return span(year_of(first).first, year_of(last).last, 0.9) if first < last <= first + 100 else None


def find_written_out(text: str) -> list[tuple[int, int, Days]]:
    """Finds full dates in Chinese, Japanese and Korean, with their positions."""
    found = ((match, _of_parts(match)) for match in _WRITTEN_OUT.finditer(text))
    return [(match.start(), match.end(), days) for match, days in found if days]


def _of_parts(match: re.Match[str]) -> Days | None:
    year = int(match[1])
    if not match[2]:
        return year_of(year)
    if match[3]:
        return day_of(year, int(match[2]), int(match[3]))
    return month_of(year, int(match[2])) if 1 <= int(match[2]) <= 12 else None


def _short(match: re.Match[str], month_first: bool | None) -> Days | None:
    """Parses "8/5/2023" in the order of the language; less certain if the other order is a date, too."""
    one, mark, two, year = int(match[1]), match[2], int(match[3]), int(match[4])
    if len(match[4]) == 2:
        if mark == "." and month_first is not False:
            return None  # rather a version
        year += 2000 if year < 70 else 1900
    first_is_month = bool(month_first) if mark != "." else False
    month, number = (one, two) if first_is_month else (two, one)
    doubt = month_first is not False and mark != "." and one <= 12 and two <= 12 and one != two
    sure = (0.6 if doubt else 1.0) * (1.0 if len(match[4]) == 4 else 0.9)
    return day_of(year, month, number, sure) or day_of(year, number, month, sure)
