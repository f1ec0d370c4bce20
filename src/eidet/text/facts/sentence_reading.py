"""One sentence while its facts are read: its words, its times, its doubt, and the statements so far."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import product
from typing import Final

from ..dates import Dated
from .mentions import MentionReader
from .sentence_words import SentenceWords, is_quote
from .statement import Mention, Nature, Statement
from .valid_times import Validity, read_span
from .word_tables import WordTables

MOST: Final = 12  # statements of one sentence


class SentenceReading:
    """Collects what one sentence states."""

    __slots__ = ("dated", "mentions", "said", "statements", "subject", "tables", "words")

    def __init__(
        self, words: SentenceWords, tables: WordTables, dated: Sequence[Dated], said: datetime
    ) -> None:
        self.words: SentenceWords = words
        self.tables: WordTables = tables
        self.dated: Sequence[Dated] = dated
        self.said: datetime = said
        self.statements: list[Statement] = []
        self.subject: list[Mention] = []  # of the last clause, for "… and works at Acme"
        self.mentions: MentionReader = MentionReader(words, tables, times_by_start(dated))

    def subjects_before(self, end: int, things: bool = False) -> list[Mention]:
        """Who does it: the phrase that ends with a word, or whom the sentence spoke of before."""
        found, _ = self.mentions.subjects(end, things)
        if not found and (self._continues(end) or end == 0):
            found = self.subject or self._first_subject(end)
        self.subject = found
        return found

    def _continues(self, end: int) -> bool:
        word = self.words.low[end]
        return word in self.tables.lists or word in (",", "but", "then", "-", "aber", "dann")

    def _first_subject(self, end: int) -> list[Mention]:
        """The nearest "I", "she" … before a word, else the name that the sentence begins with."""
        low, tables = self.words.low, self.tables
        for at in range(end, 0, -1):
            if low[at] == "you":
                return []
            if low[at] in tables.speaker or (low[at] in ("he", "she", "they") and low[at] in tables.pronouns):
                return self.mentions.subjects(at)[0]
        for at in range(1, min(end, 6)):
            if low[at + 1] != "," and low[at + 1] not in tables.stops and not self.mentions.is_name(at + 1):
                found, first = self.mentions.subjects(at)
                if found and first == 1:
                    return found
        return []

    def span(self, first: int, after: int) -> Validity:
        """The time that goes with the clause from one word to another; to the sentence's end if 0."""
        low = self.words.starts[first]
        high = len(self.words.text) if not after else self.words.starts[min(after, self.words.last)]
        return read_span(self.words, self.dated, self.tables, self.said, low, high)

    def confidence_at(self, at: int) -> float:
        """How sure the text is at a word: hedges before it, quotation marks around it, who reports it."""
        sure, quoted, low = 1.0, False, self.words.low
        for place in range(1, at):
            word = low[place]
            if is_quote(word):
                quoted = not quoted
            elif word in self.tables.hedges:
                sure = min(sure, self.tables.hedges[word])
            elif word in self.tables.reporting and low[place - 1] not in self.tables.speaker:
                sure = min(sure, 0.7)
        if quoted:
            sure *= 0.5
        return round(sure, 3)

    def add(
        self,
        subjects: Sequence[Mention],
        relation: str,
        objects: Sequence[Mention],
        *,
        span: Validity | None = None,
        ended: bool = False,
        negated: bool = False,
        confidence: float = 1.0,
        nature: Nature = Nature.FACT,
    ) -> None:
        """One statement for each subject and object."""
        when, words = span or Validity(), self.words
        for subject, item in product(subjects, objects):
            if len(self.statements) < MOST and subject != item:
                self.statements.append(
                    Statement(
                        subject=subject,
                        relation=relation,
                        object=item,
                        since=when.since,
                        until=when.until,
                        ended=ended,
                        negated=negated,
                        confidence=confidence,
                        nature=nature,
                        start=words.starts[1],
                        end=words.ends[words.last],
                    )
                )


def times_by_start(dated: Sequence[Dated]) -> dict[int, int]:
    found: dict[int, int] = {}
    for one in dated:
        found[one.start] = one.end
    return found
