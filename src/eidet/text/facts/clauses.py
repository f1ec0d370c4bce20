"""Parses the facts of one sentence: its verbs, with their subjects, objects and mood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from functools import partial
from itertools import pairwise, product
from typing import Any, Final, NamedTuple

from ..dates import Dated
from .phrases import ARTICLES, FIRST_PERSON, LISTS, OWNERS, SPEAKER, Phrases
from .sentence_words import NO_TIME, SentenceWords, Validity, find_validity
from .statement import Mention, Nature, Reference, Statement
from .vocabulary import PAST, PRESENT, PROGRESSIVE, Frame, Vocabulary

_COMING_SURENESS: Final = 0.9
_OMITTED_SURENESS: Final = 0.7
_PLURAL: Final = frozenset((Reference.SPEAKER, Reference.THEY))
_OPPOSITE: Final = {"likes": "dislikes", "prefers": "dislikes", "fan_of": "dislikes", "dislikes": ""}
_DENIALS: Final = frozenset(("not", "n't", "never", "no"))
_BEFORE_TIES: Final = (
    ARTICLES | OWNERS.keys() | frozenset(["big", "huge", "new", "proud", "active", "great", "long-time"])
)


class _Clause(NamedTuple):
    """A verb with its mood and subjects, parsed once for all of its frames."""

    verb: int
    mood: Mood
    subjects: list[Mention]
    confidence: float


@dataclass(slots=True, eq=False)
class SentenceReading:
    """Collects the statements of one sentence."""

    words: SentenceWords
    known: Vocabulary
    dated: Sequence[Dated]
    said: datetime
    quoted: Sequence[range] = ()
    statements: list[Statement] = field(default_factory=list)
    subject: list[Mention] = field(default_factory=list)  # of the last clause, for "… and works at Acme"
    low: list[str] = field(init=False)
    phrases: Phrases = field(init=False)
    span: Validity = field(init=False)

    def __post_init__(self) -> None:
        self.low = self.words.low
        self.phrases = Phrases(self.words, self.known, {one.start: one.end for one in self.dated})
        self.span = find_validity(self.words, self.dated, self.said)

    def _is_quoted(self, at: int) -> bool:
        """Returns whether a word is inside quotation marks, and so the words of another speaker."""
        return bool(self.quoted) and any(self.words.starts[at] in span for span in self.quoted)

    def _is_cited(self, at: int) -> bool:
        """Returns whether a word is reported speech after a colon: "Tom said: I live in Paris"."""
        for place in range(2, at):
            before = self.low[max(place - 4, 0) : place]
            if self.low[place] == ":" and not self.known.reporting.isdisjoint(before[-3:]):
                return FIRST_PERSON.isdisjoint(before)
        return False

    def _confidence_at(self, at: int) -> float:
        """Estimates the confidence of the text at a word, by hedges, quotation marks and reports."""
        sure = 1.0
        for place in range(1, at):
            word = self.low[place]
            if word in self.known.hedges:
                sure = min(sure, self.known.hedges[word])
            elif word in self.known.reporting and self.low[place - 1] not in FIRST_PERSON:
                sure = min(sure, 0.7)
        return round(sure / 2, 3) if self._is_quoted(at) else sure

    def add(
        self,
        at: int,
        subjects: Sequence[Mention],
        relation: str,
        objects: Sequence[Mention],
        *,
        span: Validity = NO_TIME,
        sure: float = 1.0,
        **said: Any,
    ) -> None:
        """Adds one statement per subject and object, as worded at a place.

        An "I" in quoted or reported words is not the speaker, so it adds nothing.
        """
        sure = min(sure, self._confidence_at(at))
        said |= {"since": span.since, "until": span.until, "confidence": sure}
        said |= {"start": self.words.starts[1], "end": self.words.end(self.words.last)}
        for subject, item in product(subjects, objects):
            is_other = subject.reference is Reference.SPEAKER and (self._is_quoted(at) or self._is_cited(at))
            if subject != item and not is_other:
                told = Statement(subject=subject, relation=relation, object=item, **said)
                self.statements.append(told)

    # --- subjects

    def subjects_before(self, end: int) -> list[Mention]:
        """Returns the subjects that end with a word, else those of the clause before."""
        found = self.phrases.subjects(end)
        if not found and (end == 0 or self.low[end] in LISTS or self.low[end] in (",", "but", "then", "-")):
            found = self.subject
        self.subject = found
        return found

    # --- verbs

    def parse_verb(self, verb: int) -> None:
        """Parses the statements of the verb at a word, if it has an object that fits."""
        by_tie = self.known.frames[self.low[verb]]
        at, denied = self._skip(verb)
        match = self._match(by_tie, at)
        if match is None:
            return
        clause = self._parse_clause(verb, match[0], denied)
        used: list[Frame] = []
        while clause and match and len(used) < 3:
            frame, objects, after = match
            self._say(clause, frame, objects)
            used.append(frame)
            match = self._match(by_tie, after, used)

    def _skip(self, verb: int) -> tuple[int, bool]:
        """Skips adverbs, and "not" after a form of "be"; returns the next place, and whether it is denied."""
        at, denied = verb + 1, False
        is_be = self.known.effects.get(self.low[verb], "") in ("be", "was", "been")
        while self.low[at] in self.known.adverbs or (is_be and self.low[at] in (*_DENIALS, "longer")):
            denied = denied or self.low[at] in _DENIALS
            at += 1
        return at, denied and is_be

    def _match(
        self, by_tie: Mapping[str, tuple[Frame, ...]], at: int, used: Sequence[Frame] = ()
    ) -> tuple[Frame, list[Mention], int] | None:
        """Finds the first frame whose tie and object are at a word; after `used`, one that continues."""
        for begin, frames in self._list_candidates(by_tie, at):
            for frame in frames:
                if ("next" in frame.marks) > bool(used) or (used and not _may_follow(used[-1], frame)):
                    continue
                after_tie = begin + len(frame.tie)
                if tuple(self.low[begin:after_tie]) != frame.tie:
                    continue
                objects, after = self.phrases.objects(after_tie, frame.object)
                if objects and not self._is_vague(frame, after_tie, objects):
                    if used and frame.tie == ("for",) and not objects[0].name[:1].isupper():
                        continue  # "fighting for fair chances" names no employer
                    return frame, objects, after
        return None

    def _list_candidates(
        self, by_tie: Mapping[str, tuple[Frame, ...]], at: int
    ) -> Sequence[tuple[int, tuple[Frame, ...]]]:
        """Lists where a verb's frames may begin: at the word, after "a new", or without a tie."""
        place, low = at, self.low
        found = [(place, by_tie.get(low[place], ()))]
        while low[place] in _BEFORE_TIES:
            place += 1
        if place > at:
            found.append((place, by_tie.get(low[place], ())))
        found.append((at, by_tie.get("", ())))
        return found

    def _parse_clause(self, verb: int, frame: Frame, denied: bool) -> _Clause | None:
        mood = detect_mood(self.words, verb, self.known, frame.form)
        if denied:
            is_over = self.low[verb + 1 : verb + 3] == ["no", "longer"]
            mood = Mood(mood.effects | {"ended" if is_over else "not"}, mood.confidence, mood.subject_end)
        subjects, sure = self.subjects_before(mood.subject_end), mood.confidence
        if not subjects and verb == 1 and frame.form == PAST and frame.verb not in ("be", "have"):
            subjects, sure = [SPEAKER], _OMITTED_SURENESS
        if not subjects or not self._agrees(verb, frame, mood, subjects):
            return None
        return _Clause(verb, mood, subjects, sure)

    def _agrees(self, verb: int, frame: Frame, mood: Mood, subjects: list[Mention]) -> bool:
        """Returns whether subject and verb agree: "sounds like fun" and "…, like yoga" are no tastes."""
        first = subjects[0]
        is_thing = first.reference is Reference.IT or (first.kind == "thing" and not first.role)
        if is_thing and "thing" not in frame.marks:
            return False
        if frame.object == "self" and first.reference is not Reference.SPEAKER:
            return False
        if frame.relation == "name" and first.role:
            return False  # "my sister is called Maria" is about the sister
        if frame.form != PRESENT or mood.effects or frame.verb in ("be", "rather"):
            return True
        return self.low[verb - 1] != "," and (
            len(subjects) > 1 or first.reference in _PLURAL or _is_plural(first)
        )

    def _is_vague(self, frame: Frame, begin: int, objects: list[Mention]) -> bool:
        """Returns whether an object means nothing out of context: "the way", "this app", "the colour"."""
        words = objects[0].name.lower().split()
        is_doing = words[0].endswith("ing") and not words[0].endswith("thing")
        if (words[0] in self.known.vague or words[-1] in self.known.vague) and not is_doing:
            return True
        if "taste" not in frame.marks or self.low[begin] != "the" or "of" in words:
            return False
        return not self.phrases.is_name(begin + 1) and words[-1] not in self.known.generic

    # --- statements

    def _say(self, clause: _Clause, frame: Frame, objects: list[Mention]) -> None:
        span, is_taste = self.span, "taste" in frame.marks
        outcome = _judge(frame, clause.mood, span.lasting, span.since is not None)
        if outcome is _Outcome.NEGATED and _says_no_more(self.words, clause.verb):
            outcome = _Outcome.ENDED
        ended, nature = outcome is _Outcome.ENDED, Nature.PREFERENCE if is_taste else Nature.FACT
        say = partial(self.add, clause.verb, clause.subjects)
        if outcome is _Outcome.COMES:
            self._say_coming(clause, frame, objects)
        elif outcome is _Outcome.NOTHING or ("denied" in frame.marks and outcome is _Outcome.HOLDS):
            return
        elif "denied" in frame.marks:
            say(frame.relation, objects, sure=clause.confidence, nature=nature)
        elif outcome is _Outcome.NEGATED and is_taste:
            if opposite := _OPPOSITE.get(frame.relation):
                say(opposite, objects, sure=clause.confidence, nature=nature)
        elif outcome is _Outcome.NEGATED:
            say(frame.relation, objects, sure=clause.confidence, negated=True)
        else:
            when = _fit_span(frame, span, ended)
            say(frame.relation, objects, span=when, sure=clause.confidence, ended=ended, nature=nature)

    def _say_coming(self, clause: _Clause, frame: Frame, objects: list[Mention]) -> None:
        at, ended, sure = self.span.since, "ends" in frame.marks, min(clause.confidence, _COMING_SURENESS)
        when = Validity(until=at) if ended else Validity(since=at)
        self.add(clause.verb, clause.subjects, frame.relation, objects, span=when, sure=sure, ended=ended)


def _may_follow(last: Frame, frame: Frame) -> bool:
    """Returns whether a frame may follow another: "work at Acme as a nurse", "moved from Rome to Bern"."""
    if not frame.tie or (frame.verb == "be" and "next" not in frame.marks):
        return False
    return frame.relation != last.relation or ("ends" in last.marks) != ("ends" in frame.marks)


def _is_plural(mention: Mention) -> bool:
    return bool(mention.role or mention.kind) and (mention.role or mention.name).endswith(("s", "children"))


def _fit_span(frame: Frame, span: Validity, ended: bool) -> Validity:
    """Returns the validity that a time gives to a verb: its beginning, its end, or both."""
    if frame.tie[:1] == ("born",):
        return NO_TIME  # a birthday or birthplace always holds
    if ended and "ends" in frame.marks:
        return Validity(until=span.since)
    if ended:
        return span
    if "begins" in frame.marks or span.lasting or not span.point:
        return Validity(since=span.since, until=None if span.point else span.until)
    return NO_TIME


# --- the mood of a clause, from the words before its verb: tense, negation and doubt


class _Outcome(Enum):
    """How a clause qualifies its relation."""

    HOLDS = auto()
    ENDED = auto()
    NEGATED = auto()
    COMES = auto()  # it will hold, from a time that the text gives
    NOTHING = auto()


@dataclass(frozen=True, slots=True)
class Mood:
    """The effects of the words between a subject and its verb. `subject_end` is the last word before them."""

    effects: frozenset[str]
    confidence: float
    subject_end: int

    def __contains__(self, effect: str) -> bool:
        return effect in self.effects


def detect_mood(words: SentenceWords, verb: int, known: Vocabulary, form: str) -> Mood:
    low, at, effects, confidence = words.low, verb - 1, set[str](), 1.0
    while at > 0:
        effect, taken = _find_effect(low, at, known, form)
        if effect:
            effects.add(effect)
        elif low[at] in known.hedges and low[at].endswith("ly"):
            confidence = min(confidence, known.hedges[low[at]])
        elif low[at] not in known.adverbs:
            break
        at -= taken
    return Mood(frozenset(effects), confidence, at)


def _find_effect(low: list[str], at: int, known: Vocabulary, form: str) -> tuple[str, int]:
    """Returns the effect of a word before a verb, and the number of words it takes; "" for none."""
    word, before = low[at], low[at - 1]
    if word == "to":
        return known.infinitives.get(before, "none"), 2
    if word in known.effects:
        return known.effects[word], 1
    if word == "longer" and before == "no":
        return "ended", 2
    if form == PROGRESSIVE and word in known.gerunds:
        return known.gerunds[word], 1
    return "", 1


def _judge(frame: Frame, mood: Mood, lasting: bool, dated: bool) -> _Outcome:
    """Decides how a clause qualifies its relation.

    lasting   it has a duration such as "since March" or "for two years"
    dated     it has a time
    """
    marks = frame.marks
    if "none" in mood or "may" in mood:
        return _Outcome.NOTHING
    if "unreal" in mood and "wish" not in marks and not ("denied" in marks and "not" in mood):
        return _Outcome.NOTHING
    if "ended" in mood:
        return _Outcome.ENDED
    if "not" in mood:
        return _judge_denied(frame, mood)
    if "will" in mood:
        return _judge_coming(frame, dated)
    if frame.form == PAST:
        return _judge_past(frame, mood, lasting)
    return (
        _judge_progressive(frame, mood, dated)
        if frame.form == PROGRESSIVE
        else _judge_present(frame, mood, dated)
    )


def _judge_denied(frame: Frame, mood: Mood) -> _Outcome:
    if {"past", "have", "was"} & mood.effects or frame.form == PAST:
        return _Outcome.NOTHING
    return _Outcome.NOTHING if {"begins", "ends", "now"} & frame.marks else _Outcome.NEGATED


def _judge_coming(frame: Frame, dated: bool) -> _Outcome:
    is_turn = not frame.marks.isdisjoint(("begins", "ends")) and "done" not in frame.marks
    return _Outcome.COMES if dated and is_turn else _Outcome.NOTHING


def _judge_past(frame: Frame, mood: Mood, lasting: bool) -> _Outcome:
    if {"be", "was", "been"} & mood.effects:
        return _Outcome.NOTHING
    if "ends" in frame.marks:
        return _Outcome.ENDED
    if "begins" in frame.marks:
        return _Outcome.HOLDS
    if "have" in mood:
        return _Outcome.HOLDS if lasting else _Outcome.NOTHING
    return _Outcome.ENDED if "held" in frame.marks else _Outcome.NOTHING


def _judge_progressive(frame: Frame, mood: Mood, dated: bool) -> _Outcome:
    if "start" in mood or "been" in mood:
        return _Outcome.HOLDS
    if "was" in mood:
        return _Outcome.ENDED if "held" in frame.marks else _Outcome.NOTHING
    if "be" not in mood or "taste" in frame.marks:
        return _Outcome.NOTHING
    return _judge_coming(frame, dated) if {"begins", "ends"} & frame.marks else _Outcome.HOLDS


def _judge_present(frame: Frame, mood: Mood, dated: bool) -> _Outcome:
    if "now" in frame.marks or "past" in mood or {"be", "was"} & mood.effects:
        return _Outcome.NOTHING
    if "ends" in frame.marks and frame.verb == "be":
        return _Outcome.ENDED
    return _judge_coming(frame, dated) if {"begins", "ends"} & frame.marks else _Outcome.HOLDS


def _says_no_more(words: SentenceWords, verb: int) -> bool:
    """Returns whether "any more" or "any longer" follows a denied verb, so that it held before."""
    after = words.low[verb + 1 :]
    return "anymore" in after or any(pair in (("any", "more"), ("any", "longer")) for pair in pairwise(after))
