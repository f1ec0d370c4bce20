"""Detects the mood of a clause from the words before its verb: tense, negation and doubt."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise

from .sentence_words import SentenceWords
from .vocabulary import PAST, PROGRESSIVE, Frame, Vocabulary


class Outcome(Enum):
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


def judge(frame: Frame, mood: Mood, lasting: bool, dated: bool) -> Outcome:
    """Decides how a clause qualifies its relation.

    lasting   it has a duration such as "since March" or "for two years"
    dated     it has a time
    """
    marks = frame.marks
    if "none" in mood or "may" in mood:
        return Outcome.NOTHING
    if "unreal" in mood and "wish" not in marks and not ("denied" in marks and "not" in mood):
        return Outcome.NOTHING
    if "ended" in mood:
        return Outcome.ENDED
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


def _judge_denied(frame: Frame, mood: Mood) -> Outcome:
    if {"past", "have", "was"} & mood.effects or frame.form == PAST:
        return Outcome.NOTHING
    return Outcome.NOTHING if {"begins", "ends", "now"} & frame.marks else Outcome.NEGATED


def _judge_coming(frame: Frame, dated: bool) -> Outcome:
    is_turn = not frame.marks.isdisjoint(("begins", "ends")) and "done" not in frame.marks
    return Outcome.COMES if dated and is_turn else Outcome.NOTHING


def _judge_past(frame: Frame, mood: Mood, lasting: bool) -> Outcome:
    if {"be", "was", "been"} & mood.effects:
        return Outcome.NOTHING
    if "ends" in frame.marks:
        return Outcome.ENDED
    if "begins" in frame.marks:
        return Outcome.HOLDS
    if "have" in mood:
        return Outcome.HOLDS if lasting else Outcome.NOTHING
    return Outcome.ENDED if "held" in frame.marks else Outcome.NOTHING


def _judge_progressive(frame: Frame, mood: Mood, dated: bool) -> Outcome:
    if "start" in mood or "been" in mood:
        return Outcome.HOLDS
    if "was" in mood:
        return Outcome.ENDED if "held" in frame.marks else Outcome.NOTHING
    if "be" not in mood or "taste" in frame.marks:
        return Outcome.NOTHING
    return _judge_coming(frame, dated) if {"begins", "ends"} & frame.marks else Outcome.HOLDS


def _judge_present(frame: Frame, mood: Mood, dated: bool) -> Outcome:
    if "now" in frame.marks or "past" in mood or {"be", "was"} & mood.effects:
        return Outcome.NOTHING
    if "ends" in frame.marks and frame.verb == "be":
        return Outcome.ENDED
    return _judge_coming(frame, dated) if {"begins", "ends"} & frame.marks else Outcome.HOLDS


def says_no_more(words: SentenceWords, verb: int) -> bool:
    """Returns whether "any more" or "any longer" follows a denied verb, so that it held before."""
    after = words.low[verb + 1 :]
    return "anymore" in after or any(pair in (("any", "more"), ("any", "longer")) for pair in pairwise(after))
