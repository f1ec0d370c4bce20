"""English weekdays, alone or before a date, and days of the month without one."""

from __future__ import annotations

from datetime import date

from .days import Days, choose_year, day, day_of
from .english_words import ALL_MONTHS, ALL_WEEKDAYS, BEFORE_TIMES, ORDINALS, PARTS_OF_DAY, WEEKDAYS, words_of
from .months import DAY, DAY_BEFORE, RANGE_LINKS, Read, rate_guess, read_day_first, read_month
from .numeric import read_number
from .scanner import Tokens

_WEEKS = {"last": -1, "this": 0, "next": 1}
_SOFT_ENDS = words_of(
    ", . ! ? ; : ) of at and in to for with we i it was is so but or because when from after before "
    "that the my this until our he she they you by as then there while where"
) | {""}


def read_weekday(tokens: Tokens, at: int) -> Read:
    """Friday · Friday night · Friday, May 8."""
    words, weekday = tokens.words, ALL_WEEKDAYS[tokens.words[at]]
    after = at + 1 + (words[at + 1] == "." and words[at] not in WEEKDAYS)
    if dated := _read_date(tokens, after + (words[after] == ",")):
        return _of_weekday(tokens, dated, weekday)
    if not _is_weekday(tokens, at):
        return None
    if words[at + 1] in PARTS_OF_DAY:
        after = at + 2
    else:
        after = at + 1
    if placed := _read_week(tokens, after, weekday):
        return placed
    lean = tokens.lean(at)
    days = choose_year(_weekdays(tokens.today, weekday), tokens.today, lean)
    days = rate_guess(tokens, days, lean, 0.7)
    if days:
        return days, after
    return None


def _read_week(tokens: Tokens, at: int, weekday: int) -> Read:
    """Which week's day it is: (Friday) last week · (Friday) of this week · (Friday) the week before last."""
    words = tokens.words
    at += words[at] in ("of", "in")
    shift = _WEEKS.get(words[at])
    after = at + 2
    if words[at : at + 4] == ["the", "week", "before", "last"]:
        shift, after = -2, at + 4
    elif words[at + 1] != "week":
        return None
    if shift is None:
        return None
    monday = tokens.today - (tokens.today - 1) % 7
    return day(monday + 7 * shift + weekday, 0.9), after


def _weekdays(today: int, weekday: int) -> list[Days]:
    at = today - (today - 1) % 7 + weekday
    return [day(at + shift) for shift in (-7, 0, 7)]


def _read_date(tokens: Tokens, at: int) -> Read:
    word = tokens.words[at + (tokens.words[at] == "the")]
    if word in ALL_MONTHS:
        days = read_month(tokens, at)
        if days and days[0].grain == "day":
            return days
        return None
    if word[:1].isdecimal():
        number = read_number(word, "", True)
        if number:
            return number, at + 1
        return read_day_first(tokens, at + (tokens.words[at] == "the"))
    return None


def _of_weekday(tokens: Tokens, dated: tuple[Days, int], weekday: int) -> Read:
    """The weekday tells the year of a yearless date, and casts doubt on one that it does not fit."""
    days, after = dated
    if (days.first - 1) % 7 == weekday or not days.yearless:
        fits = (days.first - 1) % 7 == weekday
        return days._replace(confidence=min(1.0, days.confidence + 0.15) if fits else 0.6), after
    at = date.fromordinal(days.first)
    near = [
        day_of(at.year + shift, at.month, at.day) for shift in range(-6, 7) if 1 <= at.year + shift <= 9999
    ]
    fitting = [one for one in near if one and (one.first - 1) % 7 == weekday]
    found = choose_year(fitting, tokens.today, -1 if tokens.past else 0)
    if found:
        return found._replace(confidence=0.8, yearless=True), after
    return dated


def _is_weekday(tokens: Tokens, at: int) -> bool:
    word = tokens.words[at]
    if _is_end_of_range(tokens, at):
        return True
    if word in WEEKDAYS:
        return (
            tokens.before(at) not in ("every", "each", "a", "one", "any")
            and not _is_tied(tokens, at)
            and not _is_name(tokens, at)
        )
    return tokens.before(at) in ("on", "last", "next", "this", "since", "until", "by", "from") and (
        tokens.capital(at) or word not in ("sun", "sat", "wed", "mon")
    )


def _is_end_of_range(tokens: Tokens, at: int) -> bool:
    """Monday to Friday · Mon-Wed."""
    words = tokens.words
    from_here = words[at + 1] in RANGE_LINKS and words[at + 2] in ALL_WEEKDAYS
    return from_here or (at > 1 and words[at - 1] in RANGE_LINKS and words[at - 2] in ALL_WEEKDAYS)


def _is_tied(tokens: Tokens, at: int) -> bool:
    """A part of "Monday.com" or "Friday-night-lights"."""
    mark, after = tokens.words[at + 1], tokens.words[at + 2]
    return mark in (".", "-", "_") and after.isalpha() and tokens.start(at + 2) == tokens.end(at) + 1


def _is_name(tokens: Tokens, at: int) -> bool:
    """Sunday Riley, Tip Tuesday: a capital beside a capital, and no preposition."""
    if tokens.before(at) in BEFORE_TIMES or not tokens.capital(at):
        return False
    after = at + 1
    follows = tokens.words[after].isalpha() and tokens.words[after] != "i" and tokens.capital(after)
    leads = not tokens.opens(at) and tokens.before(at).isalpha() and tokens.capital(at - 1)
    return (follows and not tokens.opens(at)) or (leads and not tokens.opens(at - 1))


def read_day_of_month(tokens: Tokens, at: int) -> Read:
    """(on) the 8th, without a month; "the 8th floor" is no date."""
    match = DAY.fullmatch(tokens.words[at])
    if not match or not match[2] or not 1 <= int(match[1]) <= 31 or tokens.words[at + 1] not in _SOFT_ENDS:
        return None
    if tokens.before(at - 1) not in DAY_BEFORE or tokens.words[at + 1] == "of":
        return None
    lean, here = tokens.lean(at), tokens.now.year * 12 + tokens.now.month - 1
    places = [divmod(here + shift, 12) for shift in (-2, -1, 0, 1, 2)]
    near = [day_of(y, m + 1, int(match[1])) for y, m in places if 1 <= y <= 9999]
    days = rate_guess(tokens, choose_year(near, tokens.today, lean), lean, 0.55)
    if days:
        return days, at + 1
    return None


def ordinal_number(word: str) -> int | None:
    """First, 1st, last (-1)."""
    match = DAY.fullmatch(word)
    if match and match[2]:
        return int(match[1])
    return ORDINALS.get(word)
