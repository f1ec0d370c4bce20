"""Questions about facts: "where did Ann live before?" as a pattern that the graph of a scope can match."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from ...core.value_classes import dataclass
from ..dates import Dated, dates_in
from .mentions import MentionReader
from .question_parts import QuestionReader
from .sentence_reading import times_by_start
from .sentence_words import LONGEST, SentenceWords, split_words
from .statement import Mention
from .tables import english_questions, german_questions
from .valid_times import moment
from .verb_second import VerbSecondReader
from .word_tables import WordTables, tables_of


class Tense(StrEnum):
    """The time that a question asks about."""

    NOW = "now"  # what holds when it is asked
    BEFORE = "before"  # what held and no longer does: "before", "used to"
    AT = "at"  # what held in a range of time: "in March"
    EVER = "ever"  # at any time: "did she ever …", "where did she live?"


class Asks(StrEnum):
    """What a question wants to know."""

    OBJECT = "object"  # where does Ann live?
    SUBJECT = "subject"  # who lives in Porto?
    WHETHER = "whether"  # does Ann live in Porto?
    WHEN = "when"  # when did Ann move to Porto?


@dataclass(frozen=True, slots=True, kw_only=True)
class FactQuestion:
    """A pattern for facts. Either end is None where it is asked for, or left open.

    relations      any of them answers; the likeliest first
    since, until   the range of a question AT a time, in seconds since 1970; until is exclusive
    """

    subject: Mention | None
    relations: tuple[str, ...]
    object: Mention | None = None
    asks: Asks = Asks.OBJECT
    tense: Tense = Tense.NOW
    since: float | None = None
    until: float | None = None


def read_fact_question(text: str, *, asked: datetime, language: str = "en") -> FactQuestion | None:
    """The question about facts that a text asks, by rules; None where it asks none that Eidet understands.

    English and German are understood. Pure; nothing is raised for any text.
    """
    tables, grammar = tables_of(language), _GRAMMARS.get(language)
    if tables is None or grammar is None:
        return None
    text = text[:LONGEST]
    dated = dates_in(text, asked, language=language, past=True)
    for words in split_words(text):
        found = _read_sentence(words, tables, grammar, dated)
        if found is not None:
            return _with_time(found, words, dated, asked)
    return None


class _Grammar(NamedTuple):
    """How a language asks: its reader, and its words for time."""

    reader: type[QuestionReader | VerbSecondReader]
    before: frozenset[str]
    now: frozenset[str]
    ever: frozenset[str]


_GRAMMARS: Final = {
    "en": _Grammar(QuestionReader, english_questions.BEFORE, english_questions.NOW, english_questions.EVER),
    "de": _Grammar(VerbSecondReader, german_questions.BEFORE, german_questions.NOW, german_questions.EVER),
}


def _read_sentence(
    words: SentenceWords, tables: WordTables, grammar: _Grammar, dated: tuple[Dated, ...]
) -> FactQuestion | None:
    mentions = MentionReader(words, tables, times_by_start(dated))
    parts = grammar.reader(words, tables, mentions).read()
    if parts is None:
        return None
    return FactQuestion(
        subject=parts.subject,
        relations=tuple(dict.fromkeys(parts.relations)),
        object=parts.object,
        asks=Asks(parts.asks),
        tense=_tense(words, grammar, parts.past),
    )


def _tense(words: SentenceWords, grammar: _Grammar, past: bool) -> Tense:
    low = frozenset(words.low)
    if not grammar.before.isdisjoint(low) or _asks_for_habit(words):
        return Tense.BEFORE
    if not grammar.ever.isdisjoint(low):
        return Tense.EVER
    if past and grammar.now.isdisjoint(low):
        return Tense.EVER
    return Tense.NOW


def _asks_for_habit(words: SentenceWords) -> bool:
    spoken = " ".join(words.low)
    return "used to " in spoken or "use to " in spoken


def _with_time(
    found: FactQuestion, words: SentenceWords, dated: tuple[Dated, ...], asked: datetime
) -> FactQuestion:
    """The question with the range of its time, if it names one that is not today."""
    low, high = words.starts[1], words.ends[words.last]
    for one in dated:
        if low <= one.start < high and not (one.first == one.last == asked.toordinal()):
            since, until = moment(one.first, asked), moment(one.last + 1, asked)
            return replace(found, tense=_at(words, one), since=since, until=until)
    return found


def _at(words: SentenceWords, one: Dated) -> Tense:
    """ "Before March" asks what held before, with the range that it was before of."""
    for at in range(1, words.last + 1):
        if words.starts[at] >= one.start:
            before = words.low[at - 1]
            return Tense.BEFORE if before in ("before", "until", "vor", "bis") else Tense.AT
    return Tense.AT
