"""Parses dates in digits, for all languages."""

from __future__ import annotations

import re

from .days import Days, day_of, month_of, span, year_of

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
