"""Whether a clause says that something holds: tense, negation, plans and doubt, read back from its verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .sentence_words import SentenceWords
from .word_tables import PAST, PRESENT, PROGRESSIVE, Frame, WordTables

HOLDS: Final = "holds"
ENDED: Final = "ended"
NEGATED: Final = "negated"
COMES: Final = "comes"  # it will hold, from a time that the text gives
PLANNED: Final = "planned"
NOTHING_SAID: Final = ""

_NO_MORE: Final = frozenset({"anymore", "longer", "more", "mehr"})


@dataclass(frozen=True, slots=True)
class Mood:
    """What stands between a subject and its verb. `subject_end` is the last word before all of that."""

    effects: frozenset[str]
    confidence: float
    subject_end: int

    def __contains__(self, effect: str) -> bool:
        return effect in self.effects


def read_mood(words: SentenceWords, verb: int, tables: WordTables, form: str) -> Mood:
    low, at, effects, confidence = words.low, verb - 1, set[str](), 1.0
    while at > 0:
        word = low[at]
        effect, taken = _effect(low, at, tables, form)
        if effect:
            effects.add(effect)
        elif word in tables.hedges and word.endswith("ly"):
            confidence = min(confidence, tables.hedges[word])
        elif word not in tables.adverbs:
            break
        at -= taken
    return Mood(frozenset(effects), confidence, at)


def _effect(low: list[str], at: int, tables: WordTables, form: str) -> tuple[str, int]:
    """What a word before a verb does to it, and how many words that takes; "" for nothing."""
    word = low[at]
    if word in tables.effects:
        if tables.effects[word] == "to":
            return tables.infinitives.get(low[at - 1], "none"), 2
        return tables.effects[word], 1
    if word == "longer" and low[at - 1] == "no":
        return "ended", 2
    if form == PROGRESSIVE and word in tables.gerunds:
        return tables.gerunds[word], 1
    if form == PROGRESSIVE and word in ("of", "about") and low[at - 1] == "thinking":
        return "planned", 2
    return "", 1


def judge(frame: Frame, mood: Mood, lasting: bool, dated: bool) -> str:
    """What a clause says of its relation: HOLDS, ENDED, NEGATED, COMES, PLANNED or NOTHING_SAID.

    lasting   "since March" or "for two years" goes with it
    dated     some time goes with it
    """
    if "planned" in mood:
        return PLANNED
    if _is_unreal(frame, mood):
        return NOTHING_SAID
    if "ended" in mood:
        return ENDED
    if "not" in mood:
        return _judge_denied(frame, mood)
    if "will" in mood:
        return _judge_future(frame, dated)
    return _judge_tense(frame, mood, lasting, dated)


def _is_unreal(frame: Frame, mood: Mood) -> bool:
    if "none" in mood or ("may" in mood and "change" in frame.marks):
        return True
    return "unreal" in mood and "wish" not in frame.marks


def _judge_tense(frame: Frame, mood: Mood, lasting: bool, dated: bool) -> str:
    if frame.form == PAST:
        return _judge_past(frame, mood, lasting)
    if frame.form == PROGRESSIVE:
        return _judge_progressive(frame, mood, dated)
    if "be" in mood or "was" in mood:
        return NOTHING_SAID
    return _judge_present(frame, mood, dated)


def _judge_denied(frame: Frame, mood: Mood) -> str:
    if "past" in mood or "have" in mood or "was" in mood or frame.form == PAST:
        return NOTHING_SAID
    if {"change", "end", "progressive_only"} & frame.marks:
        return NOTHING_SAID
    return NEGATED


def _judge_future(frame: Frame, dated: bool) -> str:
    if {"change", "end"} & frame.marks:
        return COMES if dated else PLANNED
    if "lived" in frame.marks:
        return PLANNED
    return NOTHING_SAID


def _judge_past(frame: Frame, mood: Mood, lasting: bool) -> str:
    if "be" in mood or "was" in mood or "been" in mood:
        return NOTHING_SAID
    if "end" in frame.marks:
        return ENDED
    if "change" in frame.marks:
        return HOLDS
    if "have" in mood:
        return HOLDS if lasting else NOTHING_SAID
    if "lived" in frame.marks:
        return ENDED
    return NOTHING_SAID


def _judge_progressive(frame: Frame, mood: Mood, dated: bool) -> str:
    if "start" in mood or "been" in mood:
        return NOTHING_SAID if "end" in frame.marks else HOLDS
    if "was" in mood and "trip" in frame.marks:
        return HOLDS
    if "was" in mood:
        return ENDED if "lived" in frame.marks else NOTHING_SAID
    if "be" not in mood or "taste" in frame.marks:
        return NOTHING_SAID
    if {"change", "end"} & frame.marks:
        return COMES if dated else PLANNED
    return HOLDS


def _judge_present(frame: Frame, mood: Mood, dated: bool) -> str:
    if "progressive_only" in frame.marks or ("progressive" in frame.marks and frame.relation == "learns"):
        return NOTHING_SAID
    if "start" in mood:
        return HOLDS
    if "past" in mood:
        return NOTHING_SAID
    if {"change", "end"} & frame.marks:
        return COMES if dated else NOTHING_SAID
    return HOLDS


def says_no_more(words: SentenceWords, verb: int) -> bool:
    """ "… any more", "… any longer" after a denied verb: it did hold before."""
    for at in range(verb + 1, words.last + 1):
        if words.low[at] in _NO_MORE and words.low[at - 1] in ("any", "nicht", "kein", "keine", "no"):
            return True
        if words.low[at] == "anymore":
            return True
    return False


__all__ = [
    "COMES",
    "ENDED",
    "HOLDS",
    "NEGATED",
    "NOTHING_SAID",
    "PLANNED",
    "PRESENT",
    "Mood",
    "judge",
    "read_mood",
    "says_no_more",
]
