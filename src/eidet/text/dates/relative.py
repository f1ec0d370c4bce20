"""English times that count from today: yesterday, last week, next Friday, the past month."""

from __future__ import annotations

from datetime import timedelta

from .days import (
    Days,
    Read,
    day,
    month_of,
    move_day,
    placed,
    season_of,
    span,
    unit_away,
    weekday_after,
    weekday_before,
    weekend_at,
    year_away,
)
from .durations import Count, offset, parse_count
from .english_words import ALL_MONTHS, ALL_WEEKDAYS, BACK, HOURS, ON, PARTS_OF_DAY, SEASONS, UNITS, words_of
from .months import guess_near
from .named import feast, feast_name
from .scanner import Tokens

DAY_WORDS = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
_ALONE = frozenset({"week", "month", "year", "decade"})
_BEFORE_WEEKEND = words_of("over at on during for since until")
_ROLLING = words_of("in over during within for throughout across")


def parse_day_word(tokens: Tokens, at: int) -> Read:
    """Today · yesterday evening."""
    after = at + 2 if tokens.words[at + 1] in PARTS_OF_DAY else at + 1
    return day(tokens.today + DAY_WORDS[tokens.words[at]], 0.98), after


def parse_vague(tokens: Tokens, at: int) -> Read:
    """Recently · lately."""
    return span(tokens.today - 30, tokens.today, 0.3), at + 1


def parse_which(tokens: Tokens, at: int) -> Read:
    """Last week · this past Friday · next summer · the last three months."""
    word, named = tokens.words[at], at + 1
    if word == "this" and tokens.words[named] in ("past", "coming", "last", "next"):
        word, named = tokens.words[named], named + 1
    if word == "past":
        return _just_past(tokens, at, named) or _stretch(tokens, at, named, -1)
    if word in BACK:
        shift = -1
    elif word in ON:
        shift = 1
    else:
        shift = 0
    return _parse_named(tokens, at, named, shift) or _stretch(tokens, at, named, shift)


def _stretch(tokens: Tokens, at: int, named: int, sign: int) -> Read:
    """The last three weeks, the past month: up to today, or on from it."""
    words = tokens.words
    count = parse_count(words, named)
    if not count and words[named] in _ALONE and (words[named - 1] == "past" or _is_rolling(tokens, at)):
        count = Count(1, 1, named)
    if count is None or not sign:
        return None
    unit = UNITS.get(words[count.after])
    if unit is None:
        return _hours_long(tokens, count, sign)
    far = offset(tokens.today, count._replace(low=count.high), unit, sign, exact=True)
    return span(far.first, tokens.today, 0.6 if count.vague else 0.8), count.after + 1


def _hours_long(tokens: Tokens, count: Count, sign: int) -> Read:
    """The last 48 hours."""
    far = parse_hours(tokens, count, sign) if tokens.words[count.after] in HOURS else None
    if far:
        return span(far.first, tokens.today, 0.8), count.after + 1
    return None


def _just_past(tokens: Tokens, at: int, named: int) -> Read:
    """This past Friday, weekend or summer: as with "last"; but "half past" is an hour."""
    word = tokens.words[named]
    known = word in ALL_WEEKDAYS or word in SEASONS or word in ALL_MONTHS or word in ("weekend", "christmas")
    if known and tokens.before(at) not in ("half", "quarter"):
        return _parse_named(tokens, at, named, -1)
    return None


def _parse_named(tokens: Tokens, at: int, named: int, shift: int) -> Read:
    """Last, this or next week, Friday, March, summer, Christmas, night."""
    word = tokens.words[named]
    if _is_weekday(tokens, named):
        after = named + 1 + (tokens.words[named + 1] in PARTS_OF_DAY)
        return _weekday(tokens, at, ALL_WEEKDAYS[word], shift), after
    if word in PARTS_OF_DAY:
        if shift < 1:
            return day(tokens.today + shift, 0.95), named + 1
        return None
    if word in ALL_MONTHS or word in SEASONS:
        return _parse_once_a_year(tokens, named, shift)
    if name := feast_name(tokens.words, named):
        days = year_away(lambda y: feast(name[0], y), tokens.today, shift)
        if days:
            return days._replace(confidence=0.85), name[1]
        return None
    if shift == -1 and word in ("week", "month", "year") and _is_rolling(tokens, at):
        return None
    days = calendar_unit(tokens, at, word, shift)
    if days:
        return _parse_day_of_week(tokens, named, days) or (days, named + 1)
    return None


def _parse_day_of_week(tokens: Tokens, named: int, week: Days) -> Read:
    """(Last week) on Friday · (last week)'s Friday: a day of that week."""
    words = tokens.words
    at = named + 1 + (words[named + 1] in ("on", "'s"))
    if words[named] != "week" or not _is_weekday(tokens, at) or at == named + 1:
        return None
    return day(week.first + ALL_WEEKDAYS[words[at]], 0.9), at + 1


def _is_weekday(tokens: Tokens, at: int) -> bool:
    word = tokens.words[at]
    if word not in ALL_WEEKDAYS:
        return False
    return len(word) > 4 or tokens.capital(at) or word not in ("sun", "sat", "wed", "mon")


def _parse_once_a_year(tokens: Tokens, named: int, shift: int) -> Read:
    word = tokens.words[named]
    if shift == 0 and word in ("may", "march") and not tokens.capital(named):
        return None  # "this may help"
    days = _once_a_year(tokens, word, shift)
    return placed(days, named + 1)


def _is_rolling(tokens: Tokens, at: int) -> bool:
    """Over the last month: thirty days back, not the calendar month."""
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


def _once_a_year(tokens: Tokens, word: str, shift: int) -> Days | None:
    month = ALL_MONTHS.get(word)
    if month:
        days = year_away(lambda y: month_of(y, month), tokens.today, shift)
    else:
        days = year_away(lambda y: season_of(y, SEASONS[word]), tokens.today, shift)
    return days and days._replace(confidence=0.85)


def calendar_unit(tokens: Tokens, at: int, word: str, shift: int) -> Days | None:
    """Finds the whole week, weekend, month, quarter, year or decade so many away from the present one."""
    if word == "weekend":
        return _weekend(tokens, at, shift)
    return unit_away(tokens.today, word, shift) if word != "day" else None


def _weekend(tokens: Tokens, at: int, shift: int) -> Days:
    """This weekend is the running or coming one, the one just over when the talk is of the past."""
    if shift == 0 and (tokens.today - 1) % 7 < 5 and tokens.tense(at) < 0:
        return weekend_at(tokens.today - 7, 0.75)
    return weekend_at(tokens.today + 7 * shift)


def parse_the_weekend(tokens: Tokens, at: int) -> Read:
    """(over, at, on) the weekend."""
    if tokens.before(at) != "the" or tokens.before(at - 1) not in _BEFORE_WEEKEND:
        return None
    near = [weekend_at(tokens.today + 7 * shift) for shift in (-1, 0, 1)]
    return placed(guess_near(tokens, at, near, 0.7), at + 1)


def parse_hours(tokens: Tokens, count: Count, sign: int) -> Days | None:
    """Finds the day that some hours ago or on fall on."""
    seconds = HOURS[tokens.words[count.after]] * count.high
    try:
        return day((tokens.now + timedelta(seconds=sign * seconds)).toordinal(), 0.9)
    except OverflowError:
        return None


def days_repeated_ago(tokens: Tokens, word: str, count: Count) -> Days | None:
    """Two Tuesdays, weekends, summers or Christmases ago."""
    back = count.high - 1
    single = word if word in ALL_WEEKDAYS or word in SEASONS else word.removesuffix("s")
    if single in ALL_WEEKDAYS:
        return day(weekday_before(tokens.today, ALL_WEEKDAYS[single]) - 7 * back, 0.85)
    if single == "weekend":
        return _weekends(tokens.today, count)
    if single in SEASONS:
        last = year_away(lambda y: season_of(y, SEASONS[single]), tokens.today, -1)
        return last and _yearly_back(last, back)
    return None


def _weekends(today: int, count: Count) -> Days:
    first, last = weekend_at(today - 7 * count.high), weekend_at(today - 7 * count.low)
    return first if first == last else span(first.first, last.last, 0.5)


def _yearly_back(days: Days, years: int) -> Days:
    """The same season some years before."""
    first = move_day(days.first, -years, "year")
    last = move_day(days.last + 1, -years, "year") - 1
    return Days(first, max(first, last), days.grain, 0.8)
