"""Days that stand beside other days, or are a part of them."""

from __future__ import annotations

from .days import Days, clip_day, day, span, week_at, weekday_after, weekday_before, weekend_at
from .durations import Count, offset
from .english_words import ALL_WEEKDAYS


def of_week(word: str, anchor: Days) -> Days | None:
    if anchor.last - anchor.first > 7:
        return None
    if word == "week":
        return week_at(anchor.first)
    return weekend_at(anchor.first)


def beside(word: str, anchor: Days, sign: int) -> Days | None:
    """The day, week, weekend, weekday, month or year just before or after a time."""
    if sign < 0:
        edge = anchor.first
    else:
        edge = anchor.last
    if word in ALL_WEEKDAYS:
        if sign < 0:
            pick = weekday_before
        else:
            pick = weekday_after
        return day(pick(edge, ALL_WEEKDAYS[word]), 0.9)
    if word in ("day", "night", "morning", "evening"):
        return day(edge + sign, 0.95)
    if word == "weekend":
        if sign < 0:
            saturday = weekday_before(edge - 1, 5)
        else:
            saturday = weekday_after(edge, 5)
        return Days(clip_day(saturday), clip_day(saturday + 1), "weekend", 0.9)
    if word == "week":
        return span(edge + sign, edge + 7 * sign, 0.85, "week")
    if word in ("month", "year"):
        far = offset(edge, Count(1, 1, 0), word, sign, exact=True)
        return span(edge + sign, far.first, 0.75, word)
    return None


def slice_of(days: Days, part: str, edge: bool) -> Days:
    """A third of an interval, or less of a long one at its very beginning or end."""
    length = days.last - days.first + 1
    if length < 3:
        return days
    third = max(length // (6 if edge and length > 60 else 3), 1)
    first = {"early": days.first, "mid": days.first + (length - third) // 2, "late": days.last - third + 1}[
        part
    ]
    return span(first, first + third - 1, days.confidence * 0.9)._replace(yearless=days.yearless)


def nth_of(whole: Days, unit: str, number: int) -> Days | None:
    if unit == "half" and number in (1, 2):
        middle = (whole.first + whole.last) // 2
        first, last = (whole.first, middle) if number == 1 else (middle + 1, whole.last)
        return span(first, last, whole.confidence)
    size = {"day": 1, "week": 7}.get(unit)
    if size:
        if number > 0:
            first = whole.first + size * (number - 1)
        else:
            first = whole.last - size + 1
        days = Days(
            first, min(first + size - 1, whole.last), "week" if size == 7 else "day", whole.confidence * 0.95
        )
    else:
        weekday = 5
        if unit != "weekend":
            weekday = ALL_WEEKDAYS.get(unit, 0)
        first = weekday_after(whole.first - 1, weekday) + 7 * (number - 1)
        if number < 0:
            first = weekday_before(whole.last + 1, weekday)
        days = span(
            first,
            first + (unit == "weekend"),
            whole.confidence * 0.95,
            "weekend" if unit == "weekend" else "day",
        )
    if days.first <= whole.last:
        return days
    return None
