"""Statements of what happens when: "I have a dentist appointment on Friday", "the demo is next Tuesday"."""

from __future__ import annotations

from ..dates.english_words import WEEKDAYS
from .moods import read_mood
from .sentence_reading import SentenceReading
from .statement import Mention
from .valid_times import Validity
from .whose import SPEAKER
from .word_tables import PRESENT

_DAY = 86_400
_WEEK = 7 * _DAY
_WITH = frozenset({"with", "to", "for", "at", "mit", "nach", "of"})


def read_event(reading: SentenceReading, at: int) -> None:
    """An event with its date; one without a date, or in the past, is passed over."""
    low, tables = reading.words.low, reading.tables
    if not reading.dated or low[at + 1] in tables.events or _is_unreal(reading, at):
        return
    span = _next_weekday(reading, reading.span(1, 0))
    first = _begin(reading, at)
    if first is None or not span.point or not _is_ahead(reading, span):
        return
    owner = _owner(reading, first)
    if owner is not None:
        event = Mention(name=reading.words.cut(first + 1, _end(reading, at)), kind="event")
        sure = reading.confidence_at(at)
        reading.add([owner], tables.events[low[at]], [event], span=_days(span), confidence=sure)


def _next_weekday(reading: SentenceReading, span: Validity) -> Validity:
    """An event "on Friday" is the next one, though the last Friday may be nearer."""
    now = reading.said.timestamp()
    if span.since is None or span.until is None or not now - _WEEK < span.until <= now:
        return span
    day = reading.dated[0].text.lower()
    if day not in WEEKDAYS or len(reading.dated) != 1:
        return span
    return Validity(since=span.since + _WEEK, until=span.until + _WEEK, point=True)


def _is_ahead(reading: SentenceReading, span: Validity) -> bool:
    """Whether an event is still to come: "recently" reaches into today, and is none."""
    now = reading.said.timestamp()
    if span.since is None or span.until is None or span.until <= now:
        return False
    return span.since >= now - _DAY or span.until > now + _DAY


def _days(span: Validity) -> Validity:
    return Validity(since=span.since, until=span.until)


def _is_unreal(reading: SentenceReading, at: int) -> bool:
    for place in range(1, at):
        if reading.words.low[place] in ("would", "could", "should", "cancelled", "canceled"):
            return True
    return False


def _begin(reading: SentenceReading, at: int) -> int | None:
    """The article or possessive that the event's phrase begins with."""
    low, tables = reading.words.low, reading.tables
    for first in range(at, max(at - 5, 0), -1):
        if (
            low[first - 1] in tables.articles
            or low[first - 1] in tables.possessives
            or low[first - 1] == "'s"
        ):
            return first - 1
        if low[first - 1] in tables.stops or not low[first - 1].isalnum():
            return None
    return None


def _end(reading: SentenceReading, at: int) -> int:
    """After the event, with whom or where to it is if that follows: "trip to Rome", "meeting with Bob"."""
    words = reading.words
    if words.low[at + 1] in _WITH:
        objects, after = reading.mentions.objects(at + 2, "org")
        if objects:
            return after
    return at + 1


def _has_verb(reading: SentenceReading, first: int) -> bool:
    """Whether the event itself is what the clause is about: "my exam is on Monday"."""
    low = reading.words.low
    for at in range(first + 1, min(first + 8, reading.words.last + 1)):
        if low[at] in reading.tables.copulas or low[at] in ("leaves", "starts", "begins", "departs", "ends"):
            return low[first - 1] not in reading.tables.ties
    return low[first - 1] in reading.tables.having


def _owner(reading: SentenceReading, first: int) -> Mention | None:
    """Whose event it is: its possessive, who has it, or the speaker."""
    low, tables = reading.words.low, reading.tables
    if low[first] in tables.possessives and not tables.possessives[low[first]]:
        return SPEAKER if _has_verb(reading, first) else None
    if low[first] == "'s":
        subjects, _ = reading.mentions.subjects(first - 1)
        return subjects[0] if subjects else None
    if low[first - 1] in tables.having or low[first - 1] in ("booked", "scheduled", "planned", "got"):
        mood = read_mood(reading.words, first - 1, tables, PRESENT)
        subjects = reading.subjects_before(mood.subject_end)
        return subjects[0] if subjects else None
    if low[first] == "the" or low[first] == "our":
        return SPEAKER
    return None
