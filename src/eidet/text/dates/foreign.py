"""Time expressions of languages other than English, found by the words of their locale."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import chain

from .days import (
    Days,
    choose_year,
    day,
    day_of,
    month_of,
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
from .durations import Count, offset
from .locales import NUMBER, Locale, locale_of
from .numeric import find_written_out, months_and_days, read_number

Found = tuple[int, int, Days]
_NUMERIC = re.compile(r"(?<![\w./:$€£#-])[0-9][0-9a-z]*(?:[-/.:\u2013](?=[0-9])[0-9a-z]+)*")
_WORD = re.compile(r"[^\W\d_]+")
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
_YEAR = r"(?:1[5-9]|20)[0-9]{2}"
_BARE_YEAR = re.compile(_YEAR)
_DAY = r"[0-3]?[0-9]"
_UNTIL = r"(?:[-\u2013]|bis(?: zum)?|au|al|alla|a|à|até|hasta(?: el)?|fino a[dl]?|tot(?: en met)?|по|до)"


@dataclass(frozen=True, slots=True)
class _Now:
    """The day, and the leaning of what has no year."""

    today: int
    lean: int

    def sure(self, best: float) -> float:
        return best if self.lean else best - 0.15


Reader = Callable[[re.Match[str], _Now], Days | None]
Readers = dict[str, Reader]


@dataclass(frozen=True, slots=True)
class _Grammar:
    """What a language's expressions look like, and the words without which there is none."""

    locale: Locale
    pattern: re.Pattern[str]
    readers: Readers
    vocabulary: frozenset[str]

    def may_be_in(self, low: str) -> bool:
        if not self.locale.spaced or _BARE_YEAR.search(low):
            return True
        return not self.vocabulary.isdisjoint([word[:3] for word in _WORD.findall(low)])


def find_foreign(low: str, now: datetime, language: str, past: bool) -> list[Found]:
    """The expressions of a folded text in order, those in digits included; the longer of two that overlap."""
    grammar = _grammar_of(language)
    here = _Now(now.toordinal(), -1 if past else 0)
    found = [*_in_digits(low, grammar), *find_written_out(low)]
    if grammar and grammar.may_be_in(low):
        found += [*_in_words(low, grammar, here), *_in_characters(low, here)]
    return list(_apart(found))


def _apart(found: list[Found]) -> Iterator[Found]:
    end = 0
    for one in sorted(found, key=lambda one: (one[0], -one[1])):
        if one[0] >= end:
            yield one
            end = one[1]


def _in_digits(low: str, grammar: _Grammar | None) -> Iterator[Found]:
    month_first = grammar.locale.month_first if grammar else None
    for match in _NUMERIC.finditer(low):
        if days := read_number(match[0], "", month_first):
            yield match.start(), match.end(), days


def _in_characters(low: str, now: _Now) -> Iterator[Found]:
    for start, end, month, number in months_and_days(low):
        if days := _date_in(month, number, None, None, now):
            yield start, end, days


def _in_words(low: str, grammar: _Grammar, now: _Now) -> Iterator[Found]:
    for match in grammar.pattern.finditer(low):
        if match.lastgroup and (days := grammar.readers[match.lastgroup](match, now)):
            yield match.start(), match.end(), days


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


@cache
def _grammar_of(language: str) -> _Grammar | None:
    locale = locale_of(language)
    if locale is None or not locale.months:
        return None
    readers: Readers = {}
    parts = [
        *_dates(locale, readers),
        *_count_patterns(locale, readers),
        *_relative(locale, readers),
        *_which(locale, readers),
    ]
    parts += [*_weekdays(locale, readers), *_years(locale, readers)]
    edges = (r"(?<!\w)", r"(?!\w)") if locale.spaced else ("", "")
    pattern = re.compile(f"{edges[0]}(?:{'|'.join(parts)}){edges[1]}")
    return _Grammar(locale, pattern, readers, _vocabulary(locale))


def _any(words: Iterable[str]) -> str:
    """The words as one pattern, the longest first; single spaces stand for any."""
    ordered = sorted({re.escape(word).replace(r"\ ", r"\s{1,3}") for word in words}, key=len, reverse=True)
    return "|".join(ordered)


def _vocabulary(locale: Locale) -> frozenset[str]:
    """Beginnings of words, one of which every expression has: of its longest word."""
    phrases = [
        *locale.months,
        *locale.weekdays,
        *locale.relative,
        *chain.from_iterable(locale.counted.values()),
    ]
    words = [max(_WORD.findall(phrase), key=len, default="") for phrase in phrases]
    nouns = "|".join(locale.more.nouns.values()).split("|") if locale.more else []
    return frozenset(word[:3] for word in [*words, *nouns] if word)


def _dates(locale: Locale, readers: Readers) -> Iterator[str]:
    names, short = _any(locale.months), _abbreviations(locale.months)
    of = r"(?:(?:de|di|del|of|d')\s{1,3})?"
    year = rf"(?:[.,]?\s{{1,3}}(?:(?:de|del|do|του)\s{{1,3}})?({_YEAR})(?!\d))?"
    gap = r"\s{1,3}" if locale.spaced else r"\s?"

    def read(match: re.Match[str], now: _Now) -> Days | None:
        got = inner.fullmatch(match[0])
        if not got:
            return None
        first, last, name, written = got.groups()
        if first is written is None and _single_spaces(name) in short:
            return None
        return _date_in(locale.months[_single_spaces(name)], first, last, written, now)

    until = rf"(?:\s?{_UNTIL}\s?({_DAY})(?:\.|er|º)?)?"
    text = rf"(?:({_DAY})(?:\.|er|º|°|ª|-?го)?{until}{gap}{of})?({names}){year}"
    inner = re.compile(text)
    readers["dates"] = read
    yield from _year_first(locale, readers, names)
    yield rf"(?P<dates>{_silence_groups(text)})"


def _abbreviations(names: dict[str, int]) -> set[str]:
    """Abbreviations, which are other words where no day or year stands by them (French "sept" is seven)."""
    longest: dict[int, int] = {}
    for name, number in names.items():
        longest[number] = max(longest.get(number, 0), len(name))
    return {name for name, number in names.items() if longest[number] - len(name) > 2}


def _year_first(locale: Locale, readers: Readers, names: str) -> Iterator[str]:
    """2023. május 8."""
    text = rf"({_YEAR})\.?\s{{1,3}}({names})\s{{1,3}}({_DAY})"
    inner = re.compile(text)

    def read(match: re.Match[str], _now: _Now) -> Days | None:
        got = inner.fullmatch(match[0])
        if got:
            return day_of(int(got[1]), locale.months[_single_spaces(got[2])], int(got[3]))
        return None

    readers["year_first"] = read
    yield rf"(?P<year_first>{_silence_groups(text)})"


def _single_spaces(name: str) -> str:
    return " ".join(name.split())


def _silence_groups(text: str) -> str:
    """A pattern with its numbered groups made silent, to stand inside another."""
    return re.sub(r"\((?!\?)", "(?:", text)


def _count_patterns(locale: Locale, readers: Readers) -> Iterator[str]:
    words = "|".join(sorted(locale.numbers, key=len, reverse=True))
    number = re.compile(rf"(?<!\w)(?:([0-9]{{1,4}})|{words or '(?!)'})" if locale.spaced else r"([0-9]{1,4})")
    for place, ((sign, unit), phrases) in enumerate(locale.counted.items()):
        if not phrases:
            continue
        name = f"counted{place}"
        readers[name] = _counter(locale, number, sign, unit)
        slot = f"(?:[0-9]{{1,4}}|{_silence_groups(words)})" if words else "[0-9]{1,4}"
        choices = "|".join(_any([phrase]).replace(re.escape(NUMBER), slot) for phrase in phrases)
        yield f"(?P<{name}>{choices})"


def _counter(locale: Locale, number: re.Pattern[str], sign: int, unit: str) -> Reader:
    def read(match: re.Match[str], now: _Now) -> Days | None:
        for got in number.finditer(match[0]):
            count = int(got[1]) if got[1] else _value(locale, got[0])
            if count is not None:
                return offset(now.today, Count(count, count, 0), unit, sign)
        return None

    return read


def _value(locale: Locale, word: str) -> int | None:
    return next((value for pattern, value in locale.numbers.items() if re.fullmatch(pattern, word)), None)


def _relative(locale: Locale, readers: Readers) -> Iterator[str]:
    def read(match: re.Match[str], now: _Now) -> Days | None:
        shift, unit = locale.relative[_single_spaces(match[0])]
        return unit_away(now.today, unit, shift)

    if locale.relative:
        readers["relative"] = read
        yield f"(?P<relative>{_any(locale.relative)})"


def _which(locale: Locale, readers: Readers) -> Iterator[str]:
    more = locale.more
    if not more:
        return
    nouns = "|".join(more.nouns.values()) + "|" + _any(locale.weekdays) + "|" + _any(locale.months)
    shifts = ((-1, re.compile(more.last)), (1, re.compile(more.next)), (0, re.compile(more.this)))
    noun = re.compile(rf"(?<!\w)(?:{nouns})(?!\w)")

    def read(match: re.Match[str], now: _Now) -> Days | None:
        shift = next(shift for shift, word in shifts if word.search(match[0]))
        named = noun.search(match[0])
        if named:
            return _which_one(locale, named[0], shift, now)
        return None

    readers["which"] = read
    before = f"(?:{more.last}|{more.next}|{more.this})\\s{{1,3}}(?:{nouns})"
    yield rf"(?P<which>{before}|(?:{nouns})\s{{1,3}}(?:{more.last}|{more.next}))"


def _which_one(locale: Locale, noun: str, shift: int, now: _Now) -> Days | None:
    assert locale.more
    if noun in locale.weekdays:
        weekday = locale.weekdays[noun]
        if shift < 0:
            return day(weekday_before(now.today, weekday), 0.85)
        return day(weekday_after(now.today - (shift == 0), weekday), 0.8)
    if noun in locale.months:
        return year_away(lambda y: month_of(y, locale.months[noun], 0.85), now.today, shift)
    unit = next(unit for unit, pattern in locale.more.nouns.items() if re.fullmatch(pattern, noun))
    if unit in _SEASONS:
        return year_away(lambda y: season_of(y, _SEASONS[unit], 0.85), now.today, shift)
    return unit_away(now.today, unit, shift)


def _weekdays(locale: Locale, readers: Readers) -> Iterator[str]:
    """A weekday, or from one to the next such day after it."""

    def read(match: re.Match[str], now: _Now) -> Days | None:
        first, *last = (locale.weekdays[_single_spaces(name)] for name in names.findall(match[0]))
        monday = now.today - (now.today - 1) % 7
        near = [day(monday + first + shift) for shift in (-7, 0, 7)]
        days = choose_year(near, now.today, now.lean)
        if days and last:
            days = span(days.first, days.first + (last[0] - first) % 7, 1.0)
        return days and days._replace(confidence=now.sure(0.65))

    if locale.weekdays:
        readers["weekdays"], some = read, _any(locale.weekdays)
        names = re.compile(rf"(?<!\w)(?:{some})(?!\w)" if locale.spaced else some)
        until = rf"(?:\s{{0,3}}{_UNTIL}\s{{0,3}}(?:{some}))?" if locale.spaced else ""
        yield f"(?P<weekdays>(?:{some}){until})"


def _years(locale: Locale, readers: Readers) -> Iterator[str]:
    if locale.more:
        readers["years"] = lambda match, _now: year_of(int(match[0][-4:]), 0.85)
        yield rf"(?P<years>(?:{locale.more.years})\s{{1,3}}{_YEAR}(?![\d.,]\d))"
