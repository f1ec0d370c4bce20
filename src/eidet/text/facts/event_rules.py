"""Statements of what happens when: "I have a dentist appointment on Friday", "the demo is next Tuesday"."""

from __future__ import annotations

from .moods import read_mood
from .sentence_reading import SPEAKER, SentenceReading
from .statement import Mention
from .valid_times import Validity
from .word_tables import PRESENT

_WITH = frozenset({"with", "to", "for", "at", "mit", "nach", "of"})


def read_event(reading: SentenceReading, at: int) -> None:
    """An event with its date; without a date that is still to come or exact it is none."""
    if not reading.dated or _is_unreal(reading, at):
        return
    span = reading.span(1, 0)
    if span.since is None or not span.point or span.since < reading.said.timestamp() - 2 * 86_400:
        return
    first = _begin(reading, at)
    if first is None:
        return
    after = _end(reading, at)
    owner = _owner(reading, first)
    if owner is None:
        return
    words = reading.words
    begin = first + (
        words.low[first] in reading.tables.articles or words.low[first] in reading.tables.possessives
    )
    event = Mention(name=words.cut(begin, after), kind="event")
    reading.add(
        [owner],
        reading.tables.events[words.low[at]],
        [event],
        span=_days(span),
        confidence=reading.confidence_at(at),
    )


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
        if low[first - 1] in tables.articles or low[first - 1] in tables.possessives:
            return first - 1
        if low[first - 1] in tables.stops or not low[first - 1].isalnum():
            return None
    return None


def _end(reading: SentenceReading, at: int) -> int:
    """After the event, with whom or where to it is if that follows: "trip to Rome", "meeting with Bob"."""
    words = reading.words
    if words.low[at + 1] in _WITH:
        objects, after = reading.mentions.objects(at + 2, "name")
        if objects:
            return after
    return at + 1


def _owner(reading: SentenceReading, first: int) -> Mention | None:
    """Whose event it is: its possessive, who has it, or the speaker."""
    low, tables = reading.words.low, reading.tables
    if low[first] in tables.possessives and not tables.possessives[low[first]]:
        return SPEAKER
    if low[first - 1] in tables.having or low[first - 1] in ("booked", "scheduled", "planned", "got"):
        mood = read_mood(reading.words, first - 1, tables, PRESENT)
        subjects = reading.subjects_before(mood.subject_end)
        return subjects[0] if subjects else None
    if low[first] == "the" or low[first] == "our":
        return SPEAKER
    return None
