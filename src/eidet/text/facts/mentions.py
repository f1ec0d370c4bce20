"""Who and what a sentence speaks of: subjects read backward from a verb, objects read forward."""

from __future__ import annotations

from collections.abc import Mapping

from .object_phrases import ObjectReader
from .phrase_values import PhraseAt
from .sentence_words import SentenceWords
from .statement import Mention
from .subject_phrases import SubjectReader
from .word_tables import WordTables


class MentionReader:
    """Reads mentions in one sentence. `times` are the time expressions: where each begins, and ends."""

    __slots__ = ("after", "before", "times")

    def __init__(self, words: SentenceWords, tables: WordTables, times: Mapping[int, int]) -> None:
        self.before: SubjectReader = SubjectReader(words, tables)
        self.after: ObjectReader = ObjectReader(words, tables, times)
        self.times: Mapping[int, int] = times

    def subjects(self, end: int, things: bool = False) -> tuple[list[Mention], int]:
        """Those that a noun phrase ending with word `end` names, and where it begins; none: an empty list."""
        return self.before.subjects(end, things)

    def owner_before(self, end: int) -> tuple[str, int] | None:
        """Whose the next word is: a name, "" for the speaker, or a pronoun; and where that begins."""
        return self.before.owner_before(end)

    def objects(self, at: int, kind: str, listed: bool = False) -> tuple[list[Mention], int]:
        """The objects that begin at a word, one or a list, and the place after them; none: an empty list."""
        return self.after.objects(at, kind, listed)

    def read(self, at: int, kind: str) -> PhraseAt | None:
        """One object."""
        return self.after.read(at, kind)

    def is_name(self, at: int) -> bool:
        return self.after.is_name(at)

    def ends_clause(self, at: int) -> bool:
        """Whether a clause may end before a word: at a mark, a conjunction, a time."""
        return self.after.ends_clause(at)
