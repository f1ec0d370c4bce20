"""Statements of verbs: "Ann lives in Porto", "we used to work at Acme", "I sold my car last week"."""

from __future__ import annotations

from typing import Final, NamedTuple

from .inverted_order import read_inverted
from .moods import COMES, ENDED, HOLDS, NEGATED, NOTHING_SAID, PLANNED, Mood, judge, read_mood, says_no_more
from .sentence_reading import SentenceReading
from .statement import VALUE, Mention, Nature, Reference
from .valid_times import NO_TIME, Validity
from .whose import SPEAKER
from .word_tables import PAST, PRESENT, Frame

_PLANNED_SURENESS: Final = 0.6
_COMING_SURENESS: Final = 0.9
_OMITTED_SURENESS: Final = 0.7
_OF_THINGS: Final = frozenset({"thing", "only_thing"})
_PEOPLE: Final = frozenset({Reference.SPEAKER, Reference.HE, Reference.SHE, Reference.THEY})
_FOR: Final = frozenset({"at", "for"})
_PLURAL: Final = frozenset({Reference.SPEAKER, Reference.THEY})
_THESE: Final = frozenset({"this", "that", "these", "those"})
_OPPOSITE: Final = {"likes": "dislikes", "prefers": "dislikes", "fan_of": "dislikes"}


class _Clause(NamedTuple):
    """A verb with its subjects, read once for all of its frames."""

    verb: int
    mood: Mood
    subjects: list[Mention]
    confidence: float


def read_verb(reading: SentenceReading, verb: int) -> None:
    """The statements of the verb at a word, if it has an object that fits."""
    frames = reading.tables.frames[reading.words.low[verb]]
    at, clause = verb + 1, _read_clause(reading, verb, frames)
    if reading.tables.inverts:
        clause, at = _read_inverted_clause(reading, verb, frames[0])
    if clause is None:
        return
    left = list(frames)
    while left:
        match = _match(reading, clause, left, at)
        if match is None or (len(left) < len(frames) and _is_loose(match)):
            break
        frame, objects, at = match
        left = _frames_after(left, frame)
        _say(reading, clause, frame, objects, at)


def _is_loose(match: tuple[Frame, list[Mention], int]) -> bool:
    """A second object that is no name: "fighting for fair chances" names nobody's employer."""
    frame, objects, _ = match
    return frame.relation == "works_at" and frame.ties == _FOR and not objects[0].name[:1].isupper()


def _frames_after(frames: list[Frame], current: Frame) -> list[Frame]:
    """The frames that may follow one: "work at Acme as a nurse", "moved from Rome to Bern"."""
    left: list[Frame] = []
    for frame in frames:
        if (frame.ties and frame.relation != current.relation) or _moves(current, frame):
            left.append(frame)
    return left


def _moves(frame: Frame, other: Frame) -> bool:
    """From … to …: two frames of one verb, one of which ends what the other begins."""
    return bool(frame.ties and other.ties) and ("end" in frame.marks) != ("end" in other.marks)


def _read_clause(reading: SentenceReading, verb: int, frames: tuple[Frame, ...]) -> _Clause | None:
    words, tables, frame = reading.words, reading.tables, frames[0]
    mood = read_mood(words, verb, tables, frame.form)
    if "unreal" in mood and "planned" not in mood and "wish" not in frame.marks:
        return None
    subjects, sure = reading.subjects_before(mood.subject_end, _may_be_thing(frames)), mood.confidence
    if not subjects and mood.subject_end == 0 and frame.form == PAST and not mood.effects and verb == 1:
        subjects, sure = [SPEAKER], min(sure, _OMITTED_SURENESS)
    if not subjects or not _agrees(reading, verb, frame, mood, subjects):
        return None
    sure = min(sure, reading.confidence_at(verb))
    if "may" in mood:
        sure = min(sure, 0.5)
    return _Clause(verb, mood, subjects, sure)


def _may_be_thing(frames: tuple[Frame, ...]) -> bool:
    """Whether a thing may be the subject."""
    marks = frames[0].marks.union(*[frame.marks for frame in frames[1:]])
    return not _OF_THINGS.isdisjoint(marks)


def _read_inverted_clause(reading: SentenceReading, verb: int, frame: Frame) -> tuple[_Clause | None, int]:
    subjects, mood, begin = read_inverted(reading, verb, frame.form)
    if not subjects or (frame.relation == "name" and subjects[0].role):
        return None, begin
    return _Clause(verb, mood, subjects, reading.confidence_at(verb)), begin


def _agrees(reading: SentenceReading, verb: int, frame: Frame, mood: Mood, subjects: list[Mention]) -> bool:
    """Whether subject and verb fit: "Sounds like fun" and "…, like yoga" are no tastes of anybody."""
    low = reading.words.low
    if "taste" in frame.marks and (subjects[0].reference is Reference.IT or subjects[0].kind == "thing"):
        return bool(subjects[0].role)
    if low[mood.subject_end] == "what" or low[mood.subject_end - 1] == "what":
        return False
    if frame.form == PRESENT and "have" in mood:
        return False
    if frame.form != PRESENT or mood.effects:
        return True
    if low[verb - 1] == ",":
        return False
    return len(subjects) > 1 or subjects[0].reference in _PLURAL or _is_plural(subjects[0])


def _is_plural(mention: Mention) -> bool:
    return bool(mention.role or mention.kind) and (mention.role or mention.name).endswith(("s", "children"))


def _match(
    reading: SentenceReading, clause: _Clause, frames: list[Frame], at: int
) -> tuple[Frame, list[Mention], int] | None:
    for frame in frames:
        begin = _after_ties(reading, frame, at)
        if begin == 0 or not _fits_subject(frame, clause.subjects):
            continue
        objects, after = reading.mentions.objects(begin, frame.object)
        if objects and not _is_vague(reading, frame, begin, objects):
            return frame, objects, after
    return None


def _after_ties(reading: SentenceReading, frame: Frame, at: int) -> int:
    """Where the object begins: after the tie, if the frame has one; 0 where it does not fit."""
    low = reading.words.low
    while low[at] in reading.tables.adverbs and low[at] not in frame.ties:
        at += 1
    if not frame.ties:
        return at
    if f"{low[at]}_{low[at + 1]}" in frame.ties:
        return at + 2
    if low[at] in frame.ties:
        return at + 1
    if (
        low[at] in ("back", "over", "out", "remotely", "abroad", "full-time", "part-time")
        and low[at + 1] in frame.ties
    ):
        return at + 2
    return 0


def _fits_subject(frame: Frame, subjects: list[Mention]) -> bool:
    if "only_thing" in frame.marks:
        return subjects[0].reference not in _PEOPLE and subjects[0].kind != "person"
    return True


def _is_vague(reading: SentenceReading, frame: Frame, begin: int, objects: list[Mention]) -> bool:
    """Whether an object says nothing outside of its talk: "the way", "this app", "the colour"."""
    words = objects[0].name.lower().split()
    if not words or frame.object[0] == "=":
        return False
    doing = words[0].endswith("ing") and not words[0].endswith("thing")
    if (words[0] in reading.tables.vague and not doing) or words[-1] in reading.tables.vague:
        return True
    if reading.words.low[begin] in _THESE or reading.tables.possessives.get(reading.words.low[begin]):
        return "end" not in frame.marks
    if "taste" not in frame.marks or reading.words.low[begin] != "the" or "of" in words:
        return False
    return not reading.mentions.is_name(begin + 1) and words[-1] not in reading.tables.generic


def _say(reading: SentenceReading, clause: _Clause, frame: Frame, objects: list[Mention], after: int) -> None:
    if "unsure" in frame.marks and reading.words.low[after] == "for":
        return  # "left Lisbon for Porto" tells no employer
    span = reading.span(1, 0)
    outcome = judge(frame, clause.mood, span.lasting, span.since is not None)
    if outcome == NEGATED and says_no_more(reading.words, clause.verb):
        outcome = ENDED
    if outcome == NOTHING_SAID:
        return
    if outcome == PLANNED:
        _say_plan(reading, clause, frame, objects, after, span)
    elif outcome == NEGATED:
        _say_not(reading, clause, frame, objects)
    elif outcome == COMES:
        _say_coming(reading, clause, frame, objects, span)
    elif "only_not" in frame.marks:
        if outcome == ENDED:
            _say_not(reading, clause, frame, objects)
    else:
        _say_that(reading, clause, frame, objects, span, ended=outcome == ENDED)


def _say_that(
    reading: SentenceReading,
    clause: _Clause,
    frame: Frame,
    objects: list[Mention],
    span: Validity,
    ended: bool,
) -> None:
    reading.add(
        clause.subjects,
        frame.relation,
        objects,
        span=_fit_span(frame, span, ended),
        ended=ended,
        confidence=clause.confidence,
        nature=_nature(frame),
    )


def _fit_span(frame: Frame, span: Validity, ended: bool) -> Validity:
    """What a time means for a verb: when it began, when it ended, or both."""
    if ended and "end" in frame.marks:
        return Validity(until=span.since)
    if ended:
        return span
    if "trip" in frame.marks:
        return span
    if "change" in frame.marks or span.lasting or not span.point:
        return Validity(since=span.since, until=None if span.point else span.until)
    return NO_TIME


def _say_not(reading: SentenceReading, clause: _Clause, frame: Frame, objects: list[Mention]) -> None:
    if "only_not" in frame.marks:
        reading.add(
            clause.subjects, frame.relation, objects, confidence=clause.confidence, nature=Nature.FACT
        )
        return
    if "taste" in frame.marks:
        if opposite := _OPPOSITE.get(frame.relation):
            reading.add(
                clause.subjects, opposite, objects, confidence=clause.confidence, nature=Nature.PREFERENCE
            )
        return
    reading.add(clause.subjects, frame.relation, objects, negated=True, confidence=clause.confidence)


def _say_coming(
    reading: SentenceReading, clause: _Clause, frame: Frame, objects: list[Mention], span: Validity
) -> None:
    sure = min(clause.confidence, _COMING_SURENESS)
    relation, when, ended = frame.relation, Validity(since=span.since), "end" in frame.marks
    if ended:
        when = Validity(until=span.since)
    elif "trip" in frame.marks:
        relation, when = "trip", span
    reading.add(clause.subjects, relation, objects, span=when, ended=ended, confidence=sure)


def _say_plan(
    reading: SentenceReading,
    clause: _Clause,
    frame: Frame,
    objects: list[Mention],
    after: int,
    span: Validity,
) -> None:
    sure = min(clause.confidence, _PLANNED_SURENESS)
    if "trip" in frame.marks:
        reading.add(clause.subjects, "trip", objects, span=span, confidence=sure)
        return
    text = reading.words.cut(clause.verb, after)
    plan = Mention(name=text, kind=VALUE)
    reading.add(clause.subjects, "plan", [plan], span=span, confidence=sure)


def _nature(frame: Frame) -> Nature:
    if "taste" in frame.marks:
        return Nature.PREFERENCE
    return Nature.FACT


__all__ = ["HOLDS", "read_verb"]
