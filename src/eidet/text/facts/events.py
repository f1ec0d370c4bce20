"""What happens when: "I have a dentist appointment on Friday", "the demo is next Tuesday"."""

from __future__ import annotations

from typing import Final

from ..dates.english_words import WEEKDAYS
from .clauses import SentenceReading
from .moods import detect_mood
from .statement import Mention
from .subject_phrases import ARTICLES, OWNERS, SPEAKER
from .valid_times import Validity
from .vocabulary import PRESENT

_DAY: Final = 86_400
_WEEK: Final = 7 * _DAY
_WITH: Final = frozenset(("with", "to", "for", "at", "of"))
_UNREAL: Final = frozenset(("would", "could", "should", "cancelled", "canceled"))
_HAVING: Final = frozenset(("have", "has", "had", "'ve", "got", "booked", "scheduled", "planned"))
_VERBS: Final = frozenset(("is", "are", "was", "were", "'s", "leaves", "starts", "begins", "departs", "ends"))


def read_event(reading: SentenceReading, at: int) -> None:
    """An event with its date; one without a date, or in the past, is passed over."""
    low, known = reading.low, reading.known
    if not reading.dated or low[at + 1] in known.events or not _UNREAL.isdisjoint(low[1:at]):
        return
    span, first = _next_weekday(reading), _find_begin(reading, at)
    if first is None or not span.point or not _is_ahead(reading, span):
        return
    owner = _find_owner(reading, first)
    if owner is None or (owner is SPEAKER and reading.is_quoted(at)):
        return
    event = Mention(name=reading.words.cut(first + 1, _find_end(reading, at)), kind="event")
    when, sure = Validity(since=span.since, until=span.until), reading.confidence_at(at)
    reading.add([owner], known.events[low[at]], [event], span=when, confidence=sure)


def _next_weekday(reading: SentenceReading) -> Validity:
    """An event "on Friday" is the next one, though the last Friday may be nearer."""
    span, now = reading.span, reading.said.timestamp()
    if span.since is None or span.until is None or not now - _WEEK < span.until <= now:
        return span
    if len(reading.dated) != 1 or reading.dated[0].text.lower() not in WEEKDAYS:
        return span
    return Validity(since=span.since + _WEEK, until=span.until + _WEEK, point=True)


def _is_ahead(reading: SentenceReading, span: Validity) -> bool:
    """Whether an event is still to come: "recently" reaches into today, and is none."""
    now = reading.said.timestamp()
    if span.since is None or span.until is None or span.until <= now:
        return False
    return span.since >= now - _DAY or span.until > now + _DAY


def _find_begin(reading: SentenceReading, at: int) -> int | None:
    """The article or possessive that the event's phrase begins with."""
    low = reading.low
    for first in range(at - 1, max(at - 6, 0), -1):
        if low[first] in ARTICLES or low[first] in OWNERS or low[first] == "'s":
            return first
        if low[first] in reading.known.stops or not low[first].isalnum():
            return None
    return None


def _find_end(reading: SentenceReading, at: int) -> int:
    """After the event, with whom or where to it is if that follows: "trip to Rome", "meeting with Bob"."""
    if reading.low[at + 1] in _WITH:
        objects, after = reading.after.objects(at + 2, "org")
        if objects:
            return after
    return at + 1


def _find_owner(reading: SentenceReading, first: int) -> Mention | None:
    """Whose event it is: its possessive, who has it, or the speaker."""
    low = reading.low
    if OWNERS.get(low[first]) == "":
        return SPEAKER if _is_topic(reading, first) else None
    if low[first] == "'s":
        subjects, _ = reading.before.subjects(first - 1)
        return subjects[0] if subjects else None
    if low[first - 1] in _HAVING:
        mood = detect_mood(reading.words, first - 1, reading.known, PRESENT)
        subjects = reading.subjects_before(mood.subject_end)
        return subjects[0] if subjects else None
    return SPEAKER if low[first] == "the" else None


def _is_topic(reading: SentenceReading, first: int) -> bool:
    """Whether the event itself is what the clause is about: "my exam is on Monday"."""
    if _VERBS.isdisjoint(reading.low[first + 1 : first + 8]):
        return reading.low[first - 1] in _HAVING
    return reading.low[first - 1] not in reading.known.ties
