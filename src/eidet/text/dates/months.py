"""Parses English dates by months, weekdays or digits.

A reader takes the tokens and a place, and returns the days and the place after them, or None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date

from .. import words_in
from .days import (
    YEAR,
    Days,
    Read,
    choose_year,
    day,
    day_of,
    distance,
    month_of,
    parse_number,
    placed,
    run_of_days,
    yearly,
)
from .scanner import (
    ALL_MONTHS,
    ALL_WEEKDAYS,
    BEFORE_TIMES,
    COUNTED,
    DOUBTFUL,
    MONTHS,
    ORDINALS,
    PARTS_OF_DAY,
    TENS,
    WEEKDAYS,
    Tokens,
)

_DAY = re.compile(r"([0-9]{1,2})(st|nd|rd|th)?")
_DAYS = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)?[-\u2013]([0-9]{1,2})(?:st|nd|rd|th)?")
_SLASHED = re.compile(r"([0-9]{1,2})/([0-9]{1,2})")
_DAY_BEFORE = frozenset({"on", "by", "since", "until", "from", "before", "after"})
RANGE_LINKS = frozenset({"to", "-", "\u2013", "\u2014", "through", "thru", "until", "till"})


def guess_year(
    tokens: Tokens, at: int, of_year: Callable[[int], Days | None], best: float = 0.7, reach: int = 2
) -> Days | None:
    """Chooses the year of a yearly time, and rates the confidence."""
    lean = tokens.lean(at)
    return _rate(tokens, yearly(of_year, tokens.today, lean, reach), lean, best)


def in_year(tokens: Tokens, at: int, after: int, of_year: Callable[[int], Days], best: float) -> Read:
    """Puts a yearly time into the year that follows it, else into the likely one."""
    if known := year_after(tokens, after):
        return of_year(known[0]), known[1]
    return placed(guess_year(tokens, at, of_year, best), after)


def guess_near(tokens: Tokens, at: int, near: Iterable[Days | None], best: float) -> Days | None:
    """Chooses among several days, weeks or months around today, and rates the confidence."""
    lean = tokens.lean(at)
    return _rate(tokens, choose_year(near, tokens.today, lean), lean, best)


def _rate(tokens: Tokens, days: Days | None, lean: int, best: float) -> Days | None:
    """Rates the confidence: lower in a message if the tense is unclear, or if the time is far off.

    A time far off would rather have been given with its year.
    """
    if days is None:
        return None
    sure = best
    if not tokens.past:
        sure += 0.05 if lean else -0.15
        sure -= 0.15 if distance(days, tokens.today) > 200 else 0.0
    return days._replace(confidence=sure)


def parse_month(tokens: Tokens, at: int) -> Read:
    """Parses "May 8th, 2023", "May 3-7", "May 2023" or "May"."""
    words, month = tokens.words, ALL_MONTHS[tokens.words[at]]
    after = at + 1
    if words[after] == "." and words[at] not in MONTHS:
        after += 1
    first = after + (words[after] == "the")
    pair = _day_numbers(words, first)
    if pair and (words[first][0].isdecimal() or _is_named(tokens, at)):
        return _parse_dates(tokens, at, month, pair)
    if known := year_after(tokens, after):
        return month_of(known[0], month), known[1]
    if not _is_month(tokens, at):
        return None
    if tokens.year is not None:
        return month_of(tokens.year, month, 0.9), at + 1
    guessed = guess_year(tokens, at, lambda y: month_of(y, month))
    return guessed or month_of(tokens.now.year, month, 0.5), at + 1


def parse_day_first(tokens: Tokens, at: int) -> Read:
    """Parses "8 May 2023", "the 8th of May", "3 to 7 May" or "the twenty-first of May"."""
    words = tokens.words
    pair = _day_numbers(words, at)
    if not pair or not (words[at][0].isdecimal() or words[pair[2]] == "of"):
        return None
    after = pair[2]
    named = after + (words[after] == "of")
    month = ALL_MONTHS.get(words[named])
    return _parse_dates(tokens, at, month, (pair[0], pair[1], named + 1)) if month else None


def _parse_dates(tokens: Tokens, at: int, month: int, pair: tuple[int, int, int]) -> Read:
    """Parses a day or a run of days of a month, with the year that follows or the likely one."""
    first, last, after = pair
    year = tokens.year
    known = year_after(tokens, after)
    if known:
        year, after = known
    if year is not None:
        return placed(run_of_days(year, month, first, last), after)
    reach = 8 if month == 2 and last == 29 else 2
    return placed(guess_year(tokens, at, lambda y: run_of_days(y, month, first, last), 0.75, reach), after)


def _day_numbers(words: list[str], at: int) -> tuple[int, int, int] | None:
    """Parses the first and last day of "8", "8th", "eighth", "3-7" or "3 to 7", and the place after."""
    if words[at][:1].isdecimal() and (match := _DAYS.fullmatch(words[at])):
        return int(match[1]), int(match[2]), at + 1
    one = day_number(words, at)
    if one is None:
        return None
    first, after = one
    if words[after] in RANGE_LINKS:
        other = day_number(words, after + 1 + (words[after + 1] == "the"))
        if other and first < other[0]:
            return first, other[0], other[1]
    return first, first, after


def day_number(words: list[str], at: int) -> tuple[int, int] | None:
    """Parses "8", "8th", "eighth" or "twenty-first" as a day of a month, and the place after it."""
    number, after = ORDINALS.get(words[at], 0), at + 1
    if words[at][:1].isdecimal():
        number = int(match[1]) if (match := _DAY.fullmatch(words[at])) else 0
    elif words[at] in TENS:
        ones = at + 1 + (words[at + 1] == "-")
        number, after = TENS[words[at]] + ORDINALS.get(words[ones], 99), ones + 1
    return (number, after) if 1 <= number <= 31 else None


def _is_named(tokens: Tokens, at: int) -> bool:
    """Returns whether the word is a month: "May first" is a day, "you may first ask" is not."""
    return tokens.words[at] not in DOUBTFUL or tokens.capital(at) or tokens.before(at) in BEFORE_TIMES


def _is_month(tokens: Tokens, at: int) -> bool:
    """Returns whether a month's name alone is a month here, not a verb, a given name or a surname."""
    word, before = tokens.words[at], tokens.before(at)
    if before in BEFORE_TIMES:
        return _after_preposition(tokens, at, word, before)
    if word not in MONTHS or not tokens.capital(at):
        return False
    if word in DOUBTFUL:  # "in February and March"
        return before in ("and", "or", ",") and tokens.words[at - 2] in MONTHS.keys() - DOUBTFUL
    return not (at and tokens.capital(at - 1)) or tokens.opens(at)


def _after_preposition(tokens: Tokens, at: int, word: str, before: str) -> bool:
    if word in DOUBTFUL and not tokens.capital(at):
        return before in ("in", "since", "last", "next", "during", "early", "mid", "late", "until")
    return word not in DOUBTFUL or before not in ("is", "was", "'s", "for", "to", "like", "about", "at")


def year_after(tokens: Tokens, at: int) -> tuple[int, int] | None:
    """Parses the year after a month, a season or a holiday: 2023 · , 2023 · of 2023 · '23 · last year."""
    words = tokens.words
    if words[at] == "'" and len(words[at + 1]) == 2 and words[at + 1].isdecimal():
        return 2000 + int(words[at + 1]) - (100 if int(words[at + 1]) >= 70 else 0), at + 2
    at += words[at] in (",", "of", "in")
    if YEAR.fullmatch(words[at]) and words[at + 1] not in COUNTED:
        return int(words[at]), at + 1
    shift = {"last": -1, "this": 0, "next": 1}.get(words[at])
    if shift is None or words[at + 1] != "year" or words[at + 2] == "'s":
        return None
    return tokens.now.year + shift, at + 2


def parse_numeric(tokens: Tokens, at: int) -> Read:
    """Parses "2023-05-08", "8/5/2023" or "(on) 5/8"."""
    if match := _SLASHED.fullmatch(tokens.words[at]):
        return _parse_slashed(tokens, at, int(match[1]), int(match[2]))
    return placed(parse_number(tokens.words[at], tokens.before(at), True), at + 1)


def _parse_slashed(tokens: Tokens, at: int, one: int, two: int) -> Read:
    """Month and day where a preposition says so: "3/4" is rather a fraction, "10/10" a praise."""
    if tokens.before(at) not in _DAY_BEFORE or one == two or tokens.words[at + 1] in COUNTED:
        return None
    month, number = (one, two) if one <= 12 else (two, one)
    if month > 12 or month < 1:
        return None
    return _parse_dates(tokens, at, month, (number, number, at + 1))


# --- weekdays, alone or before a date, and days of the month without one

_WEEKS = {"last": -1, "this": 0, "next": 1}
_SOFT_ENDS = words_in(
    ", . ! ? ; : ) of at and in to for with we i it was is so but or because when from after before "
    "that the my this until our he she they you by as then there while where"
) | {""}


def parse_weekday(tokens: Tokens, at: int) -> Read:
    """Parses "Friday", "Friday night" or "Friday, May 8"."""
    words, weekday = tokens.words, ALL_WEEKDAYS[tokens.words[at]]
    after = at + 1
    if dated := _parse_date(tokens, after + (words[after] == ",")):
        return _of_weekday(tokens, dated, weekday)
    if not _is_weekday_name(tokens, at):
        return None
    after = at + 2 if words[at + 1] in PARTS_OF_DAY else at + 1
    if found := _parse_week(tokens, after, weekday):
        return found
    here = tokens.today - (tokens.today - 1) % 7 + weekday
    return placed(guess_near(tokens, at, [day(here + shift) for shift in (-7, 0, 7)], 0.7), after)


def _parse_week(tokens: Tokens, at: int, weekday: int) -> Read:
    """Parses the week of a weekday: (Friday) last week · (Friday) of this week."""
    words = tokens.words
    at += words[at] in ("of", "in")
    shift = _WEEKS.get(words[at])
    if shift is None or words[at + 1] != "week":
        return None
    monday = tokens.today - (tokens.today - 1) % 7
    return day(monday + 7 * shift + weekday, 0.9), at + 2


def _parse_date(tokens: Tokens, at: int) -> Read:
    word = tokens.words[at + (tokens.words[at] == "the")]
    if word in ALL_MONTHS:
        days = parse_month(tokens, at)
        return days if days and days[0].grain == "day" else None
    if word[:1].isdecimal():
        number = parse_number(word, "", True)
        if number:
            return number, at + 1
        return parse_day_first(tokens, at + (tokens.words[at] == "the"))
    return None


def _of_weekday(tokens: Tokens, dated: tuple[Days, int], weekday: int) -> Read:
    """Uses the weekday to find a yearless date's year, and doubts a date that it does not fit."""
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
    return (found._replace(confidence=0.8, yearless=True), after) if found else dated


def _is_weekday_name(tokens: Tokens, at: int) -> bool:
    if _is_end_of_range(tokens, at):
        return True
    if tokens.words[at] in WEEKDAYS:
        return tokens.before(at) not in ("every", "each", "a", "one", "any") and not _is_name(tokens, at)
    return tokens.before(at) in ("on", "last", "next", "this", "since", "until", "by", "from")


def _is_end_of_range(tokens: Tokens, at: int) -> bool:
    """Returns whether the weekday is an end of a range: "Monday to Friday", "Mon-Wed"."""
    words = tokens.words
    from_here = words[at + 1] in RANGE_LINKS and words[at + 2] in ALL_WEEKDAYS
    return from_here or (at > 1 and words[at - 1] in RANGE_LINKS and words[at - 2] in ALL_WEEKDAYS)


def _is_name(tokens: Tokens, at: int) -> bool:
    """Returns whether a weekday begins a name: "Sunday Riley", "The Sunday Times"."""
    after = tokens.words[at + 1]
    follows = after.isalpha() and after != "i" and tokens.capital(at) and tokens.capital(at + 1)
    return follows and tokens.before(at) not in BEFORE_TIMES and not tokens.opens(at)


def parse_day_of_month(tokens: Tokens, at: int) -> Read:
    """Parses "(on) the 8th" without a month; "the 8th floor" is no date."""
    match = _DAY.fullmatch(tokens.words[at])
    if not match or not match[2] or not 1 <= int(match[1]) <= 31 or tokens.words[at + 1] not in _SOFT_ENDS:
        return None
    if tokens.before(at - 1) not in _DAY_BEFORE or tokens.words[at + 1] == "of":
        return None
    here = tokens.now.year * 12 + tokens.now.month - 1
    places = [divmod(here + shift, 12) for shift in (-2, -1, 0, 1, 2)]
    near = [day_of(y, m + 1, int(match[1])) for y, m in places if 1 <= y <= 9999]
    return placed(guess_near(tokens, at, near, 0.55), at + 1)


def ordinal_number(word: str) -> int | None:
    """Returns the number of "first", "1st" or "last" (-1); None for other words."""
    match = _DAY.fullmatch(word)
    return int(match[1]) if match and match[2] else ORDINALS.get(word)
