"""Clauses of languages that put words where English has none: "seit März wohne ich nicht mehr in Köln".

The subject may follow the verb, negation and times stand between verb and object, and a participle ends the
clause, with its object before it: "Ann ist nach Porto gezogen".
"""

from __future__ import annotations

from typing import NamedTuple

from .moods import Mood
from .sentence_reading import SentenceReading
from .statement import Mention
from .word_tables import PAST

_REACH = 8  # words between an auxiliary and its participle


class InvertedClause(NamedTuple):
    """Who it is about, what was said on the way, and where the object begins."""

    subjects: list[Mention]
    mood: Mood
    begin: int


def read_inverted(reading: SentenceReading, verb: int, form: str) -> InvertedClause:
    at = verb
    if form == PAST:
        at = _find_auxiliary(reading, verb) or verb
    subjects: list[Mention] = []
    if not _is_in_time(reading, at - 1):  # "im März zog Ann …"
        subjects = reading.subjects_before(at - 1)
    begin = at + 1
    if not subjects and begin <= reading.words.last:
        found = _subject_after(reading, begin)
        if found:
            subjects, begin = [found], begin + 1
            reading.subject = subjects
    effects, begin = _skip_middle(reading, begin)
    return InvertedClause(subjects, Mood(effects, 1.0, at - 1), begin)


def _is_in_time(reading: SentenceReading, at: int) -> bool:
    """Whether a word is part of a time expression."""
    place = reading.words.starts[at]
    return any(start <= place < end for start, end in reading.mentions.times.items())


def _find_auxiliary(reading: SentenceReading, verb: int) -> int:
    for at in range(verb - 1, max(verb - _REACH, 0), -1):
        if reading.tables.effects.get(reading.words.low[at]) in ("have", "be"):
            return at
    return 0


def _subject_after(reading: SentenceReading, at: int) -> Mention | None:
    """… wohne ich · … wohnt Anna."""
    subjects, first = reading.mentions.subjects(at)
    if len(subjects) == 1 and first == at:
        return subjects[0]
    return None


def _skip_middle(reading: SentenceReading, at: int) -> tuple[frozenset[str], int]:
    """Past adverbs, times and negation, and what they do."""
    words, tables, effects = reading.words, reading.tables, set[str]()
    while at <= words.last:
        word = words.low[at]
        if end := reading.mentions.times.get(words.starts[at]):
            while at <= words.last and words.starts[at] < end:
                at += 1
            continue
        if word in tables.ties and at < words.last and words.starts[at + 1] in reading.mentions.times:
            pass  # im März, vor 2023
        elif tables.effects.get(word) == "not":
            effects.add("not")
        elif word == "mehr" and "not" in effects:
            effects = {"ended"}
        elif word not in tables.adverbs:
            break
        at += 1
    return frozenset(effects), at
