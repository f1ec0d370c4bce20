"""Statements of set phrases: "got a job at Acme", "reach me at …", "can't stand", "want to learn"."""

from __future__ import annotations

import re
from typing import Final

from .moods import read_mood
from .sentence_reading import SentenceReading
from .statement import VALUE, Mention, Nature, Reference
from .valid_times import Validity
from .whose import SPEAKER
from .word_tables import PRESENT, PROGRESSIVE

_REACHED_AT: Final = re.compile(
    r"(?:(?P<email>[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4})|(?P<phone>\+?\(?\d[\d ().\-/]{5,20}\d))"
)
_LONGEST_AIM: Final = 10  # words
_AIM_SURENESS: Final = 0.6
_OBJECTIVE: Final = {"him": "he", "her": "she", "them": "they", "it": "it"}


def read_phrase(reading: SentenceReading, at: int) -> None:
    """The statement of a set phrase whose telling word stands here."""
    word = reading.words.low[at]
    for words, rule in _RULES:
        if word in words:
            rule(reading, at)


def _read_job(reading: SentenceReading, at: int) -> None:
    """… quit my job at Acme · … got a new position with Acme."""
    low, tables = reading.words.low, reading.tables
    if low[at + 1] not in ("at", "with", "bei"):
        return
    names, _ = reading.mentions.objects(at + 2, "org")
    for verb in range(at - 1, max(at - 6, 0), -1):
        outcome = tables.job_verbs.get(low[verb])
        if outcome and names:
            mood = read_mood(reading.words, verb, tables, PRESENT)
            subjects = reading.subjects_before(mood.subject_end)
            if not {"unreal", "not", "will", "none", "planned", "may"} & mood.effects:
                _say_job(reading, subjects, names[:1], outcome == "ended")
            return


def _say_job(reading: SentenceReading, subjects: list[Mention], names: list[Mention], ended: bool) -> None:
    when = reading.span(1, 0)
    span = Validity(since=when.since)
    if ended:
        span = Validity(until=when.since)
    reading.add(subjects, "works_at", names, span=span, ended=ended, confidence=reading.confidence_at(1))


def _read_reach(reading: SentenceReading, at: int) -> None:
    """… reach me at +44 … · … text me on …"""
    low, words = reading.words.low, reading.words
    if low[at + 1] != "me" or low[at + 2] not in ("at", "on", "under", "via") or at + 3 > words.last:
        return
    found = _REACHED_AT.match(words.text, words.starts[at + 3])
    if found and found.lastgroup:
        reading.add([SPEAKER], found.lastgroup, [Mention(name=found[0].strip(), kind=VALUE)])


def _read_call(reading: SentenceReading, at: int) -> None:
    """Call me Dan · everyone calls him Red."""
    low = reading.words.low
    target = _OBJECTIVE.get(low[at + 1])
    if low[at + 1] != "me" and target is None:
        return
    if low[at] in ("called", "named") and low[at - 1] in reading.tables.speaker:
        return
    names, _ = reading.mentions.objects(at + 2, "name")
    who = SPEAKER
    if target:
        who = Mention(reference=Reference(target))
    for name in names[:1]:
        reading.add([who], "nickname", [Mention(name=name.name, kind=VALUE)])


def _read_stand(reading: SentenceReading, at: int) -> None:
    """… can't stand loud music."""
    low = reading.words.low
    denied = low[at - 1] in ("n't", "not") and low[at - 2] in ("ca", "can", "could")
    if not denied and low[at - 1] != "cannot":
        return
    mood = read_mood(reading.words, at, reading.tables, PRESENT)
    objects, _ = reading.mentions.objects(at + 1, "activity")
    subjects = reading.subjects_before(mood.subject_end)
    reading.add(subjects, "dislikes", objects, nature=Nature.PREFERENCE)


def _read_allergy(reading: SentenceReading, at: int) -> None:
    """I have a nut allergy · an allergy to nuts."""
    low, tables = reading.words.low, reading.tables
    for verb in range(at - 1, max(at - 6, 0), -1):
        if low[verb] not in tables.having:
            continue
        mood = read_mood(reading.words, verb, tables, PRESENT)
        objects: list[Mention] = []
        if low[at + 1] == "to":
            objects, _ = reading.mentions.objects(at + 2, "thing")
        elif low[at - 1] not in tables.articles and at - 1 > verb:
            objects = [Mention(name=reading.words.raw(at - 1), kind="thing")]
        if not {"unreal", "not", "none"} & mood.effects:
            reading.add(reading.subjects_before(mood.subject_end), "allergic_to", objects)
        return


def _read_aim(reading: SentenceReading, at: int) -> None:
    """I want to learn Italian · we're planning to open a café · she hopes to become a pilot."""
    words, tables = reading.words, reading.tables
    begin, relation = at + 2, tables.aiming.get(words.low[at], "")
    doing = words.low[at + 1] == "on" and words.low[begin].endswith("ing")
    if not relation or not (doing or (words.low[at + 1] == "to" and words.low[begin] in tables.aims)):
        return
    mood = read_mood(words, at, tables, PROGRESSIVE)
    if {"not", "past", "unreal", "was", "ended"} & mood.effects:
        return
    subjects = reading.subjects_before(mood.subject_end)
    after = _aim_end(reading, begin)
    sure = min(_AIM_SURENESS, reading.confidence_at(at))
    if subjects and after > begin + 1:
        plan = Mention(name=words.cut(begin, after), kind=VALUE)
        reading.add(subjects, relation, [plan], span=reading.span(at, 0), confidence=sure)


def _aim_end(reading: SentenceReading, begin: int) -> int:
    words, tables = reading.words, reading.tables
    at = begin + 1
    while at <= words.last and at < begin + _LONGEST_AIM and words.starts[at] not in reading.mentions.times:
        word = words.low[at]
        if not word[0].isalnum() or (word in tables.stops and word not in ("my", "this")):
            break
        at += 1
    while at > begin + 1 and words.low[at - 1] in tables.ties:
        at -= 1
    return at


def _read_rather(reading: SentenceReading, at: int) -> None:
    """I'd rather take the train."""
    if reading.words.low[at - 1] not in ("'d", "would"):
        return
    objects, _ = reading.mentions.objects(at + 1, "activity")
    reading.add(reading.subjects_before(at - 2), "prefers", objects[:1], nature=Nature.PREFERENCE)


def _read_comfortable(reading: SentenceReading, at: int) -> None:
    """I'm more comfortable with Python."""
    low = reading.words.low
    if low[at + 1] not in ("with", "using") or low[at - 1] not in ("more", "most"):
        return
    mood = read_mood(reading.words, at - 1, reading.tables, PRESENT)
    objects, _ = reading.mentions.objects(at + 2, "activity")
    subjects = reading.subjects_before(mood.subject_end)
    reading.add(subjects, "prefers", objects, nature=Nature.PREFERENCE)


_RULES: Final = (
    (frozenset({"job", "position", "role", "internship", "stelle"}), _read_job),
    (frozenset({"reach", "text", "call", "email", "contact"}), _read_reach),
    (frozenset({"call", "calls"}), _read_call),
    (frozenset({"stand"}), _read_stand),
    (frozenset({"allergy", "allergies"}), _read_allergy),
    (
        frozenset({"want", "wants", "plan", "plans", "planning", "hope", "hopes", "hoping", "aim", "aims"}),
        _read_aim,
    ),
    (frozenset({"dream", "intend", "intends", "dreaming"}), _read_aim),
    (frozenset({"rather"}), _read_rather),
    (frozenset({"comfortable"}), _read_comfortable),
)
PHRASE_WORDS: Final = frozenset().union(*[words for words, _ in _RULES])
