"""Parses English times by name (years, decades, seasons, holidays) and relative to today ("last week")."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from .. import words_in
from .days import (
    DECADE,
    YEAR,
    Count,
    Days,
    Read,
    day,
    month_of,
    months,
    offset,
    ordinal_of,
    parse_years,
    placed,
    season_of,
    span,
    unit_away,
    weekday_after,
    weekday_before,
    weekend_at,
    year_away,
    year_of,
)
from .months import guess_near, in_year, year_after
from .scanner import (
    ALL_MONTHS,
    ALL_WEEKDAYS,
    BACK,
    BEFORE_TIMES,
    COUNTED,
    FEAST_THINGS,
    FEASTS,
    HOURS,
    ON,
    PARTS,
    PARTS_OF_DAY,
    SEASONS,
    UNITS,
    Tokens,
    parse_count,
)

_YEAR_AFTER = words_in(
    "in since of by until till from to before after during year early mid late around circa about "
    "between and or through spring summer autumn fall winter christmas"
)
_BEFORE_SEASONS = words_in("in during over since until by early mid late through")
_SEASONAL = words_in(
    "of intern interns internship camp house break flavors flavours drinks dresses clothes colors colours"
)


def parse_year(tokens: Tokens, at: int) -> Read:
    """Parses "2019" or "2019-2021" after a preposition or in brackets, "90s" or "1990s"."""
    word = tokens.words[at]
    if match := DECADE.fullmatch(word):
        return _decade(tokens, at, int(match[1]))
    before, after = tokens.before(at), tokens.words[at + 1]
    if before == "(" and after == ")":
        years = year_of(int(word), 0.7) if YEAR.fullmatch(word) else parse_years(word)
        return placed(years, at + 1)
    if before not in _YEAR_AFTER or after in COUNTED:
        return None
    if len(word) > 4:
        years = parse_years(word)
        return placed(years, at + 1)
    if not YEAR.fullmatch(word):
        return None
    return year_of(int(word), 0.95 if before in ("in", "since", "year", "during") else 0.85), at + 1


def _decade(tokens: Tokens, at: int, first: int) -> Read:
    """Parses a decade; for two digits, the latest that has begun."""
    if first < 100:
        if tokens.before(at) not in ("the", "'", "early", "mid", "late", "-"):
            return None
        first += tokens.now.year // 100 * 100
        first -= 100 if first > tokens.now.year else 0
    return months(first, 1, 120, "span", 0.9), at + 1


def parse_season(tokens: Tokens, at: int) -> Read:
    """Parses "summer 2022", "summer of 2022" or "in (the) summer"."""
    first = SEASONS[tokens.words[at]]
    if not year_after(tokens, at + 1) and not _is_season(tokens, at):
        return None
    sure = 0.65 if first == 12 else 0.9
    return in_year(tokens, at, at + 1, lambda y: season_of(y, first, sure), 0.6)


def _is_season(tokens: Tokens, at: int) -> bool:
    """Returns whether a season is a time here, not another sense or part of a term ("summer camp")."""
    if tokens.words[at + 1] in _SEASONAL:
        return False
    named = tokens.before(at) == "the"
    before = tokens.before(at - 1) if named else tokens.before(at)
    if before == "of":
        return tokens.before(at - 1 - named) in PARTS
    return before in _BEFORE_SEASONS or (named and before == "for")


def parse_quarter(tokens: Tokens, at: int, number: int, after: int, length: int = 3) -> Read:
    """Parses a quarter or half of the year that follows, or of the likely one."""
    first = (number - 1) * length + 1
    return in_year(tokens, at, after, lambda y: months(y, first, length, "span", 0.95), 0.65)


def parse_code(tokens: Tokens, at: int) -> Read:
    """Parses "Q3 2024" or "H1 2024"."""
    word = tokens.words[at]
    if word[0] == "h" and not year_after(tokens, at + 1):
        return None
    return parse_quarter(tokens, at, int(word[1]), at + 1, 3 if word[0] == "q" else 6)


def _feast_name(words: list[str], at: int) -> tuple[str, int] | None:
    """Finds the longest holiday name that begins here, and the place after it."""
    for count in (4, 3, 2, 1):
        name = " ".join(words[at : at + count]).replace(" '", "'").replace("st . ", "st ")
        if name in FEASTS and words[at + count - 1]:
            return name, at + count
    return None


def parse_feast(tokens: Tokens, at: int) -> Read:
    """Parses "Christmas", "Christmas 2022" or "New Year's Eve"."""
    named = _feast_name(tokens.words, at)
    if not named:
        return None
    (name, after), before = named, tokens.before(at)
    if not year_after(tokens, after):
        if tokens.year is not None:
            return _feast(name, tokens.year), after
        if tokens.words[after] in FEAST_THINGS or before in ("merry", "happy", "a", "every", "each"):
            return None
    best = 0.65 if before in BEFORE_TIMES else 0.45
    return in_year(tokens, at, after, lambda y: _feast(name, y), best)


def _find_easter(year: int) -> int:
    """Computes Western Easter Sunday: the Sunday after the full moon of the Gregorian tables."""
    golden, century = year % 19, year // 100
    moon = (century - century // 4 - (8 * century + 13) // 25 + 19 * golden + 15) % 30
    moon -= (moon // 28) * (1 - (29 // (moon + 1)) * ((21 - golden) // 11))
    weekday = (year + year // 4 + moon + 2 - century + century // 4) % 7
    offset = moon - weekday
    return ordinal_of(year, 3, 1) + offset + 27


def _find_weekday(year: int, month: int, weekday: int, which: int) -> int:
    """Returns the which-th such weekday of a month; -1 is the last."""
    if which < 0:
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    first = ordinal_of(year, month, 1)
    return first + (weekday - first + 1) % 7 + 7 * (which if which < 0 else which - 1)


def _feast(name: str, year: int) -> Days:
    """Computes the day of a holiday in a year; those of lunar calendars are left out."""
    year = min(max(year, 1), 9999)
    rule, numbers = FEASTS[name]
    if rule == "by_date":
        ordinal = ordinal_of(year, *numbers)
    elif rule == "by_rule":
        month, weekday, which, after = numbers
        ordinal = _find_weekday(year, month, weekday, which) + after
    else:
        ordinal = _find_easter(year) + numbers[0]
    return day(ordinal, 0.95)


DAY_WORDS = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
_ALONE = frozenset({"week", "month", "year", "decade"})
_BEFORE_WEEKEND = words_in("over at on during for since until")
_ROLLING = words_in("in over during within for throughout across")


def parse_day_word(tokens: Tokens, at: int) -> Read:
    """Parses "today" or "yesterday evening"."""
    after = at + 2 if tokens.words[at + 1] in PARTS_OF_DAY else at + 1
    return day(tokens.today + DAY_WORDS[tokens.words[at]], 0.98), after


def parse_vague(tokens: Tokens, at: int) -> Read:
    """Parses "recently" or "lately" as the last thirty days."""
    return span(tokens.today - 30, tokens.today, 0.3), at + 1


def parse_which(tokens: Tokens, at: int) -> Read:
    """Parses "last week", "this past Friday", "next summer" or "the last three months"."""
    word, named = tokens.words[at], at + 1
    if word == "this" and tokens.words[named] in ("past", "coming", "last", "next"):
        word, named = tokens.words[named], named + 1
    if word == "past":
        return _stretch(tokens, at, named, -1) or _parse_named(tokens, at, named, -1)
    shift = -1 if word in BACK else int(word in ON)
    return _parse_named(tokens, at, named, shift) or _stretch(tokens, at, named, shift)


def _stretch(tokens: Tokens, at: int, named: int, sign: int) -> Read:
    """Parses "the last three weeks" or "the past month" as a span up to today, or on from it."""
    words = tokens.words
    count = parse_count(words, named)
    if not count and words[named] in _ALONE and (words[named - 1] == "past" or _is_rolling(tokens, at)):
        count = Count(1, 1, named)
    if count is None or not sign:
        return None
    if unit := UNITS.get(words[count.after]):
        far: Days | None = offset(tokens.today, count._replace(low=count.high), unit, sign, exact=True)
    else:
        far = parse_hours(tokens, count, sign)
    return far and (span(far.first, tokens.today, 0.6 if count.vague else 0.8), count.after + 1)


def _parse_named(tokens: Tokens, at: int, named: int, shift: int) -> Read:
    """Parses last, this or next week, Friday, March, summer, Christmas or night."""
    word = tokens.words[named]
    if word in ALL_WEEKDAYS:
        after = named + 1 + (tokens.words[named + 1] in PARTS_OF_DAY)
        return _weekday(tokens, at, ALL_WEEKDAYS[word], shift), after
    if word in PARTS_OF_DAY:
        return (day(tokens.today + shift, 0.95), named + 1) if shift < 1 else None
    if yearly := _find_yearly(tokens.words, named):
        if shift == 0 and word in ("may", "march") and not tokens.capital(named):
            return None  # "this may help"
        days = year_away(yearly[0], tokens.today, shift)
        return days and (days._replace(confidence=0.85), yearly[1])
    if shift == -1 and word in ("week", "month", "year") and _is_rolling(tokens, at):
        return None
    if word == "weekend" and not shift and (tokens.today - 1) % 7 < 5 and tokens.tense(at) < 0:
        shift = -1  # "we went hiking this weekend"
    return placed(unit_away(tokens.today, word, shift) if word != "day" else None, named + 1)


def _find_yearly(words: list[str], at: int) -> tuple[Callable[[int], Days], int] | None:
    """Finds the month, season or holiday that begins at a word, by its year, and the place after it."""
    word = words[at]
    if month := ALL_MONTHS.get(word):
        return lambda y: month_of(y, month), at + 1
    if first := SEASONS.get(word):
        return lambda y: season_of(y, first), at + 1
    named = _feast_name(words, at)
    return named and (lambda y: _feast(named[0], y), named[1])


def _is_rolling(tokens: Tokens, at: int) -> bool:
    """Returns whether "over the last month" means thirty days back, not the calendar month."""
    return tokens.before(at) == "the" and tokens.before(at - 1) in _ROLLING


def _weekday(tokens: Tokens, at: int, weekday: int, shift: int) -> Days:
    today = tokens.today
    if shift < 0:
        return day(weekday_before(today, weekday), 0.85)
    if shift > 0:
        coming = weekday_after(today, weekday)
        return day(coming, 0.6 if (coming - 1) // 7 == (today - 1) // 7 else 0.85)
    here = today - (today - 1) % 7 + weekday
    tense = tokens.tense(at)
    if tense > 0 or (tense == 0 and not tokens.past):
        return day(here if here >= today else here + 7, 0.85)
    return day(here if here <= today or (tokens.past and tense == 0) else here - 7, 0.75)


def parse_the_weekend(tokens: Tokens, at: int) -> Read:
    """Parses "(over, at, on) the weekend"."""
    if tokens.before(at) != "the" or tokens.before(at - 1) not in _BEFORE_WEEKEND:
        return None
    near = [weekend_at(tokens.today + 7 * shift) for shift in (-1, 0, 1)]
    return placed(guess_near(tokens, at, near, 0.7), at + 1)


def parse_hours(tokens: Tokens, count: Count, sign: int) -> Days | None:
    """Returns the day some hours ago (-1) or ahead (1); None for other units."""
    seconds = HOURS.get(tokens.words[count.after], 0) * count.high
    try:
        return day((tokens.now + timedelta(seconds=sign * seconds)).toordinal(), 0.9) if seconds else None
    except OverflowError:
        return None
