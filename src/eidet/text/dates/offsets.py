"""What the parts of an expression mean from today, in any language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from .days import (
    Days,
    choose_year,
    day,
    day_of,
    month_of,
    span,
    week_at,
    weekday_after,
    weekday_before,
    weekend_at,
    year_of,
    yearly,
)


@dataclass(frozen=True, slots=True)
class Now:
    """The time, its day, and the leaning of what has no year."""

    at: datetime
    today: int
    lean: int

    def sure(self, best: float) -> float:
        if self.lean:
            return best
        return best - 0.15


def date_in(month: int, first: str | None, last: str | None, written: str | None, now: Now) -> Days | None:
    if first is None:
        if written:
            return month_of(int(written), month)
        days = yearly(lambda y: month_of(y, month), now.today, now.lean)
        return days and days._replace(confidence=now.sure(0.6))
    low, high = int(first), int(last or first)

    def run(year: int) -> Days | None:
        start, end = day_of(year, month, low), day_of(year, month, high)
        if not start or not end or low > high:
            return None
        if low == high:
            return start
        return span(start.first, end.first, 1.0)

    if written:
        return run(int(written))
    days = yearly(run, now.today, now.lean, 8 if (month, high) == (2, 29) else 2)
    return days and days._replace(confidence=now.sure(0.75))


def unit_away(now: Now, unit: str, shift: int) -> Days | None:
    """The day, week, weekend, month or year so many away; a season by the year."""
    if unit == "day":
        return day(now.today + shift, 0.95)
    if unit == "week":
        return week_at(now.today + 7 * shift)
    if unit == "weekend":
        return weekend_at(now.today + 7 * shift)
    if unit == "month":
        return month_of(now.at.year, now.at.month + shift, 0.95)
    return year_of(now.at.year + shift, 0.95)


def weekday_away(weekday: int, shift: int, now: Now) -> Days:
    if shift < 0:
        return day(weekday_before(now.today, weekday), 0.85)
    return day(weekday_after(now.today - (shift == 0), weekday), 0.8)


def year_away(of_year: Callable[[int], Days], shift: int, now: Now) -> Days | None:
    near = [of_year(now.at.year + n) for n in (-2, -1, 0, 1, 2)]
    if shift < 0:
        return max((days for days in near if days.last < now.today), default=None)
    if shift > 0:
        return min((days for days in near if days.first > now.today), default=None)
    return choose_year(near, now.today, 0)
