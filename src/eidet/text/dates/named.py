"""English names of longer or festive times: years, decades, seasons, quarters, holidays."""

from __future__ import annotations

from .days import Days, Read, day, months, ordinal_of, placed, season_of, year_of
from .months import guess_year, year_after
from .numeric import DECADE, YEAR, parse_years
from .scanner import BEFORE_TIMES, COUNTED, FEAST_THINGS, FEASTS, PARTS, SEASONS, Tokens, words_of

_YEAR_AFTER = words_of(
    "in since of by until till from to before after during year early mid late around circa about "
    "between and or through spring summer autumn fall winter christmas"
)
_BEFORE_SEASONS = words_of("in during over since until by early mid late through")
_SEASONAL = words_of(
    "of intern interns internship camp house break flavors flavours drinks dresses clothes colors colours"
)
_LIKE_VERBS = words_of("was is has as his this 's us perhaps always besides towards")


def parse_year(tokens: Tokens, at: int) -> Read:
    """2019, where a preposition says that it is a year; 2019-2021; 90s and 1990s."""
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
    if not YEAR.fullmatch(word) or (after.endswith("s") and after not in _LIKE_VERBS):
        return None
    if before not in ("in", "since", "year", "during") and not 1900 <= int(word) <= 2099:
        return None
    return year_of(int(word), 0.95 if before in ("in", "since", "year", "during") else 0.85), at + 1


def _decade(tokens: Tokens, at: int, first: int) -> Read:
    """The nineties; of two-digit ones the latest that has begun."""
    if first < 100:
        if tokens.before(at) not in ("the", "'", "early", "mid", "late", "-"):
            return None
        first += tokens.now.year // 100 * 100
        first -= 100 if first > tokens.now.year else 0
    return months(first, 1, 120, "span", 0.9), at + 1


def _is_titled(tokens: Tokens, at: int, after: int) -> bool:
    """Spring Fling, Halloween Horror Nights: the beginning of a name."""
    word = tokens.words[after]
    return word.isalpha() and word != "i" and tokens.capital(at) and tokens.capital(after)


def parse_season(tokens: Tokens, at: int) -> Read:
    """Summer 2022 · summer of 2022 · in (the) summer."""
    first = SEASONS[tokens.words[at]]
    if known := year_after(tokens, at + 1):
        return season_of(known[0], first, 0.65 if first == 12 else 0.9), known[1]
    if not _is_season(tokens, at):
        return None
    return placed(guess_year(tokens, at, lambda y: season_of(y, first), 0.6), at + 1)


def _is_season(tokens: Tokens, at: int) -> bool:
    """Is it a time, not a fall, a spring, or what goes with a season ("summer camp", "fall flavors")?"""
    if _is_titled(tokens, at, at + 1) or tokens.words[at + 1] in _SEASONAL:
        return False
    named = tokens.before(at) == "the"
    before = tokens.before(at - 1) if named else tokens.before(at)
    if before == "of":
        return tokens.before(at - 1 - named) in PARTS
    return before in _BEFORE_SEASONS or (named and before == "for")


def parse_quarter(tokens: Tokens, at: int, number: int, after: int, length: int = 3) -> Read:
    """Parses a quarter or half of the year that follows, or of the likely one."""
    first = (number - 1) * length + 1
    if known := year_after(tokens, after):
        return months(known[0], first, length, "span", 0.95), known[1]
    return placed(guess_year(tokens, at, lambda y: months(y, first, length, "span"), 0.65), after)


def parse_code(tokens: Tokens, at: int) -> Read:
    """Q3 2024 · H1 2024."""
    word = tokens.words[at]
    if word[0] == "h" and not year_after(tokens, at + 1):
        return None
    return parse_quarter(tokens, at, int(word[1]), at + 1, 3 if word[0] == "q" else 6)


def feast_name(words: list[str], at: int) -> tuple[str, int] | None:
    """Finds the longest holiday name that begins here, and the place after it."""
    for count in (4, 3, 2, 1):
        name = " ".join(words[at : at + count]).replace(" '", "'").replace("st . ", "st ")
        if name in FEASTS and words[at + count - 1]:
            return name, at + count
    return None


def parse_feast(tokens: Tokens, at: int) -> Read:
    """Christmas · Christmas 2022 · New Year's Eve."""
    named = feast_name(tokens.words, at)
    if not named or (named[0] == "new year" and tokens.before(at) in ("a", "the", "happy")):
        return None
    name, after = named
    if known := year_after(tokens, after):
        return feast(name, known[0]), known[1]
    if tokens.year is not None:
        return feast(name, tokens.year), after
    if (
        _is_titled(tokens, at, after)
        or tokens.words[after] in FEAST_THINGS
        or tokens.before(at) in ("merry", "happy", "a", "every", "each")
    ):
        return None
    best = 0.65 if tokens.before(at) in BEFORE_TIMES else 0.45
    return placed(guess_year(tokens, at, lambda y: feast(name, y), best), after)


def _find_easter(year: int) -> int:
    """Western Easter Sunday: the Sunday after the full moon that the Gregorian tables give."""
    golden, century = year % 19, year // 100
    moon = (century - century // 4 - (8 * century + 13) // 25 + 19 * golden + 15) % 30
    moon -= (moon // 28) * (1 - (29 // (moon + 1)) * ((21 - golden) // 11))
    weekday = (year + year // 4 + moon + 2 - century + century // 4) % 7
    offset = moon - weekday
    return ordinal_of(year, 3, 1) + offset + 27


def _find_weekday(year: int, month: int, weekday: int, which: int) -> int:
    """The which-th such weekday of a month, the last one for -1."""
    if which < 0:
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    first = ordinal_of(year, month, 1)
    return first + (weekday - first + 1) % 7 + 7 * (which if which < 0 else which - 1)


def feast(name: str, year: int) -> Days:
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
