"""Holidays whose day is fixed or follows from a rule; those of lunar calendars are left out."""

from __future__ import annotations

from collections.abc import Callable

from .days import Days, day, ordinal_of

_BY_DATE = {
    "christmas": (12, 25),
    "xmas": (12, 25),
    "christmas day": (12, 25),
    "christmas eve": (12, 24),
    "boxing day": (12, 26),
    "new year": (1, 1),
    "new years": (1, 1),
    "new year's": (1, 1),
    "new year's day": (1, 1),
    "new years day": (1, 1),
    "new year's eve": (12, 31),
    "new years eve": (12, 31),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
    "valentines day": (2, 14),
    "valentine's": (2, 14),
    "valentine day": (2, 14),
    "independence day": (7, 4),
    "fourth of july": (7, 4),
    "veterans day": (11, 11),
    "earth day": (4, 22),
    "groundhog day": (2, 2),
    "april fools day": (4, 1),
    "april fool's day": (4, 1),
    "april fools": (4, 1),
    "st patrick's day": (3, 17),
    "saint patrick's day": (3, 17),
    "cinco de mayo": (5, 5),
    "juneteenth": (6, 19),
    "bastille day": (7, 14),
    "epiphany": (1, 6),
}
# month, weekday, which one of the month (-1: the last), days after it
_BY_RULE = {
    "thanksgiving": (11, 3, 4, 0),
    "thanksgiving day": (11, 3, 4, 0),
    "black friday": (11, 3, 4, 1),
    "cyber monday": (11, 3, 4, 4),
    "labor day": (9, 0, 1, 0),
    "memorial day": (5, 0, -1, 0),
    "mother's day": (5, 6, 2, 0),
    "mothers day": (5, 6, 2, 0),
    "father's day": (6, 6, 3, 0),
    "fathers day": (6, 6, 3, 0),
    "mlk day": (1, 0, 3, 0),
    "columbus day": (10, 0, 2, 0),
}
_BY_EASTER = {
    "easter": 0,
    "easter sunday": 0,
    "easter monday": 1,
    "good friday": -2,
    "palm sunday": -7,
    "ash wednesday": -46,
    "pentecost": 49,
    "whitsun": 49,
    "mardi gras": -47,
}


def easter(year: int) -> int:
    """Western Easter Sunday: the Sunday after the full moon that the Gregorian tables give."""
    golden, century = year % 19, year // 100
    moon = (century - century // 4 - (8 * century + 13) // 25 + 19 * golden + 15) % 30
    moon -= (moon // 28) * (1 - (29 // (moon + 1)) * ((21 - golden) // 11))
    weekday = (year + year // 4 + moon + 2 - century + century // 4) % 7
    offset = moon - weekday
    return ordinal_of(year, 3, 1) + offset + 27


def nth_weekday(year: int, month: int, weekday: int, which: int) -> int:
    """The which-th such weekday of a month, the last one for -1."""
    if which < 0:
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    first = ordinal_of(year, month, 1)
    return first + (weekday - first + 1) % 7 + 7 * (which if which < 0 else which - 1)


def _day_by_date(name: str) -> Callable[[int], int]:
    month, number = _BY_DATE[name]
    return lambda year: ordinal_of(year, month, number)


def _day_by_rule(name: str) -> Callable[[int], int]:
    month, weekday, which, after = _BY_RULE[name]
    return lambda year: nth_weekday(year, month, weekday, which) + after


def _moving(name: str) -> Callable[[int], int]:
    after = _BY_EASTER[name]
    return lambda year: easter(year) + after


FEASTS: dict[str, Callable[[int], int]] = {
    **{name: _day_by_date(name) for name in _BY_DATE},
    **{name: _day_by_rule(name) for name in _BY_RULE},
    **{name: _moving(name) for name in _BY_EASTER},
}


def feast(name: str, year: int) -> Days:
    return day(FEASTS[name](min(max(year, 1), 9999)), 0.95)
