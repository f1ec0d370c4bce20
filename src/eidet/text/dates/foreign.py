"""Time expressions of languages other than English, by rules made from tables of words.

`locales.json` has words from the tables of dateparser (`train/dates/locales.py` writes it), `words.json` more
of seven languages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from .days import (
    Count,
    Days,
    choose_year,
    day,
    day_of,
    find_written_out,
    month_of,
    offset,
    parse_number,
    run_of_days,
    season_of,
    span,
    unit_away,
    weekday_after,
    weekday_before,
    year_away,
    year_of,
    yearly,
)
from .scanner import SEASONS, TABLE

_NUMERIC = re.compile(r"(?<![\w./:$€£#-])[0-9][0-9a-z]*(?:[-/.:\u2013](?=[0-9])[0-9a-z]+)*")
_WORD = re.compile(r"[^\W\d_]+")
_YEAR = r"(?:1[5-9]|20)[0-9]{2}"
_BARE_YEAR = re.compile(_YEAR)
_DAY = r"[0-3]?[0-9]"
_UNTIL = r"(?:[-\u2013]|bis(?: zum)?|au|al|alla|a|à|até|hasta(?: el)?|fino a[dl]?|tot(?: en met)?|по|до)"
_MONTH_AND_DAY = re.compile(r"([0-9]{1,2})\s?[月월]\s?([0-9]{1,2})\s?[日일号]")
_NUMBER = "#"  # stands for the number in a phrase

Found = tuple[int, int, Days]


@dataclass(frozen=True, slots=True)
class _Now:
    """The present day, and the lean of times without a year."""

    today: int
    lean: int

    def sure(self, best: float) -> float:
        return best if self.lean else best - 0.15


_Rule = tuple[re.Pattern[str], Callable[[re.Match[str], _Now], Days | None]]


@dataclass(frozen=True, slots=True)
class _Language:
    """The rules of a language, and beginnings of words, one of which every expression contains."""

    month_first: bool
    spaced: bool
    rules: list[_Rule]
    beginnings: frozenset[str]

    def may_be_in(self, low: str) -> bool:
        if not self.spaced or _BARE_YEAR.search(low):
            return True
        return not self.beginnings.isdisjoint([word[:3] for word in _WORD.findall(low)])


def find_foreign(low: str, now: datetime, code: str, past: bool) -> Iterator[Found]:
    """Finds the expressions of a folded text in order, also in digits; the longer of two that overlap."""
    language = _load_language(code)
    here, end = _Now(now.toordinal(), -1 if past else 0), 0
    found = [*_find_digits(low, language), *find_written_out(low)]
    if language and language.may_be_in(low):
        found += _find_words(low, language.rules, here)
    for one in sorted(found, key=lambda one: (one[0], -one[1])):
        if one[0] >= end:
            yield one
            end = one[1]


def _find_digits(low: str, language: _Language | None) -> Iterator[Found]:
    month_first = language.month_first if language else None
    for match in _NUMERIC.finditer(low):
        if days := parse_number(match[0], "", month_first):
            yield match.start(), match.end(), days


def _find_words(low: str, rules: Iterable[_Rule], now: _Now) -> Iterator[Found]:
    for pattern, parse in rules:
        for match in pattern.finditer(low):
            if days := parse(match, now):
                yield match.start(), match.end(), days


@cache
def _load_language(code: str) -> _Language | None:
    """Loads a language's table, once per process; None if there is none."""
    info = _load_tables().get(code)
    if info is None:
        return None
    more: dict[str, Any] = TABLE["locales"].get(code, {})
    words = _Words(spaced=info["spaced"], months=info["months"], weekdays=info["weekdays"])
    relative: dict[str, tuple[int, str]] = info["relative"]
    rules = [*_date_rules(words), *_count_rules(words, info["counted"], info["numbers"])]
    rules += [*_relative_rules(words, relative), *_which_rules(words, more), *_weekday_rules(words)]
    if years := more.get("years"):
        in_year = words.compile(rf"(?:{years})\s{{1,3}}({_YEAR})(?![\d.,]\d)")
        rules.append((in_year, lambda match, _: year_of(int(match[1]), 0.85)))
    rules.append((_MONTH_AND_DAY, _parse_month_and_day))
    phrases = [*words.months, *words.weekdays, *relative]
    phrases += [phrase for _, _, counted in info["counted"] for phrase in counted]
    telling = [max(_WORD.findall(phrase), key=len, default="") for phrase in phrases]
    telling += "|".join(more.get("nouns", {}).values()).split("|")
    beginnings = frozenset(word[:3] for word in telling if word)
    return _Language(info["month_first"], words.spaced, rules, beginnings)


@cache
def _load_tables() -> dict[str, dict[str, Any]]:
    tables: dict[str, dict[str, Any]] = json.loads(
        Path(__file__).with_name("locales.json").read_text(encoding="utf-8")
    )
    return tables


# --- rules


@dataclass(frozen=True, slots=True)
class _Words:
    """The names of months and weekdays, and whether words have spaces between them."""

    spaced: bool
    months: dict[str, int]
    weekdays: dict[str, int]

    def compile(self, pattern: str) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)" if self.spaced else pattern)


def _any(words: Iterable[str]) -> str:
    """Joins words into one pattern, the longest first; a space matches up to three white-space characters."""
    ordered = sorted({re.escape(word).replace(r"\ ", r"\s{1,3}") for word in words}, key=len, reverse=True)
    return "|".join(ordered)


def _single_spaces(name: str) -> str:
    return " ".join(name.split())


def _date_rules(words: _Words) -> Iterator[_Rule]:
    """Yields rules for dates: 8. Mai 2023 · du 3 au 7 mai · en mars · 2023. május 8."""
    names = _any(words.months)
    of = r"(?:(?:de|di|del|of|d')\s{1,3})?"
    year = rf"(?:[.,]?\s{{1,3}}(?:(?:de|del|do|του)\s{{1,3}})?({_YEAR})(?!\d))?"
    until = rf"(?:\s?{_UNTIL}\s?({_DAY})(?:\.|er|º)?)?"
    gap = r"\s{1,3}" if words.spaced else r"\s?"
    first = rf"(?:({_DAY})(?:\.|er|º|°|ª|-?го)?{until}{gap}{of})?"
    longest: dict[int, int] = {}
    for name, number in words.months.items():
        longest[number] = max(longest.get(number, 0), len(name))

    def parse(match: re.Match[str], now: _Now) -> Days | None:
        month = words.months[name := _single_spaces(match[3])]
        if match[1] is match[4] is None and longest[month] - len(name) > 2:
            return None  # an abbreviation alone is another word: French "sept" is seven
        return _date_in(month, match[1], match[2], match[4], now)

    def parse_year_first(match: re.Match[str], _now: _Now) -> Days | None:
        return day_of(int(match[1]), words.months[_single_spaces(match[2])], int(match[3]))

    yield words.compile(rf"{first}({names}){year}"), parse
    yield words.compile(rf"({_YEAR})\.?\s{{1,3}}({names})\s{{1,3}}({_DAY})"), parse_year_first


def _date_in(month: int, first: str | None, last: str | None, written: str | None, now: _Now) -> Days | None:
    if first is None:
        if written:
            return month_of(int(written), month)
        days = yearly(lambda y: month_of(y, month), now.today, now.lean)
        return days and days._replace(confidence=now.sure(0.6))
    low, high = int(first), int(last or first)
    if written:
        return run_of_days(int(written), month, low, high)
    reach = 8 if (month, high) == (2, 29) else 2
    days = yearly(lambda y: run_of_days(y, month, low, high), now.today, now.lean, reach)
    return days and days._replace(confidence=now.sure(0.75))


def _parse_month_and_day(match: re.Match[str], now: _Now) -> Days | None:
    month = int(match[1])
    return _date_in(month, match[2], None, None, now) if 1 <= month <= 12 else None


def _count_rules(
    words: _Words, counted: list[tuple[int, str, list[str]]], numbers: dict[str, int]
) -> Iterator[_Rule]:
    """Yields rules for counted times: vor zwei Wochen · il y a 3 jours."""
    slot = f"({'|'.join(['[0-9]{1,4}', *sorted(numbers, key=len, reverse=True)])})"

    def parse(match: re.Match[str], now: _Now, sign: int, unit: str) -> Days | None:
        word = next(filter(None, match.groups()))
        fitting = (value for pattern, value in numbers.items() if re.fullmatch(pattern, word))
        count = int(word) if word.isdecimal() else next(fitting)
        return offset(now.today, Count(count, count, 0), unit, sign)

    for sign, unit, phrases in counted:
        choices = "|".join(_any([phrase]).replace(re.escape(_NUMBER), slot) for phrase in phrases)
        yield words.compile(choices), partial(parse, sign=sign, unit=unit)


def _relative_rules(words: _Words, relative: dict[str, tuple[int, str]]) -> Iterator[_Rule]:
    def parse(match: re.Match[str], now: _Now) -> Days | None:
        shift, unit = relative[_single_spaces(match[0])]
        return unit_away(now.today, unit, shift)

    if relative:
        yield words.compile(_any(relative)), parse


def _which_rules(words: _Words, more: dict[str, Any]) -> Iterator[_Rule]:
    """Yields rules for named times: letzte Woche · el verano pasado · diesen Freitag."""
    if not more:
        return
    nouns: dict[str, str] = more["nouns"]
    noun = f"({'|'.join(nouns.values())}|{_any(words.weekdays)}|{_any(words.months)})"

    def parse(match: re.Match[str], now: _Now, shift: int) -> Days | None:
        name = match[1]
        if weekday := words.weekdays.get(name, -1) + 1:
            if shift < 0:
                return day(weekday_before(now.today, weekday - 1), 0.85)
            return day(weekday_after(now.today - (shift == 0), weekday - 1), 0.8)
        if month := words.months.get(name):
            return year_away(lambda y: month_of(y, month, 0.85), now.today, shift)
        unit = next(unit for unit, pattern in nouns.items() if re.fullmatch(pattern, name))
        if first := SEASONS.get(unit):
            return year_away(lambda y: season_of(y, first, 0.85), now.today, shift)
        return unit_away(now.today, unit, shift)

    for shift, which in ((-1, more["last"]), (1, more["next"]), (0, more["this"])):
        yield words.compile(rf"(?:{which})\s{{1,3}}{noun}"), partial(parse, shift=shift)
        if shift:
            yield words.compile(rf"{noun}\s{{1,3}}(?:{which})"), partial(parse, shift=shift)


def _weekday_rules(words: _Words) -> Iterator[_Rule]:
    """Yields rules for a weekday, or a range from one weekday to another."""

    def parse(match: re.Match[str], now: _Now) -> Days | None:
        first = words.weekdays[_single_spaces(match[1])]
        monday = now.today - (now.today - 1) % 7
        near = [day(monday + first + shift) for shift in (-7, 0, 7)]
        days = choose_year(near, now.today, now.lean)
        if days and words.spaced and match[2]:
            last = words.weekdays[_single_spaces(match[2])]
            days = span(days.first, days.first + (last - first) % 7, 1.0)
        return days and days._replace(confidence=now.sure(0.65))

    if words.weekdays:
        some = _any(words.weekdays)
        until = rf"(?:\s{{0,3}}{_UNTIL}\s{{0,3}}({some}))?" if words.spaced else ""
        yield words.compile(f"({some}){until}"), parse
