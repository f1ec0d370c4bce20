"""English times that count from today: yesterday, last week, next Friday, the past month."""

from __future__ import annotations

from datetime import timedelta

from .days import (
    Count,
    Days,
    Read,
    day,
    month_of,
    offset,
    placed,
    season_of,
    span,
    unit_away,
    weekday_after,
    weekday_before,
    weekend_at,
    year_away,
)
from .months import guess_near
from .named import feast, feast_name
from .scanner import (
    ALL_MONTHS,
    ALL_WEEKDAYS,
    BACK,
    HOURS,
    ON,
    PARTS_OF_DAY,
    SEASONS,
    UNITS,
    Tokens,
    parse_count,
    words_of,
)

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
        return _stretch(tokens, at, named, -1) or _parse_named(tokens, at, named, -1)
    shift = -1 if word in BACK else int(word in ON)
    return _parse_named(tokens, at, named, shift) or _stretch(tokens, at, named, shift)


def _stretch(tokens: Tokens, at: int, named: int, sign: int) -> Read:
    """The last three weeks, the past month: up to today, or on from it."""
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
    """Last, this or next week, Friday, March, summer, Christmas, night."""
    word = tokens.words[named]
    if _is_weekday(tokens, named):
        after = named + 1 + (tokens.words[named + 1] in PARTS_OF_DAY)
        return _weekday(tokens, at, ALL_WEEKDAYS[word], shift), after
    if word in PARTS_OF_DAY:
        return (day(tokens.today + shift, 0.95), named + 1) if shift < 1 else None
    if word in ALL_MONTHS or word in SEASONS:
        return _parse_once_a_year(tokens, named, shift)
    if name := feast_name(tokens.words, named):
        days = year_away(lambda y: feast(name[0], y), tokens.today, shift)
        return days and (days._replace(confidence=0.85), name[1])
    if shift == -1 and word in ("week", "month", "year") and _is_rolling(tokens, at):
        return None
    return placed(_calendar_unit(tokens, at, word, shift), named + 1)


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


def _calendar_unit(tokens: Tokens, at: int, word: str, shift: int) -> Days | None:
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
    """Finds the day that some hours ago or on fall on; None for other units."""
    seconds = HOURS.get(tokens.words[count.after], 0) * count.high
    try:
        return day((tokens.now + timedelta(seconds=sign * seconds)).toordinal(), 0.9) if seconds else None
    except OverflowError:
        return None
