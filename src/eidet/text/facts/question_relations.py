"""Which relations the words of a question ask for."""

from __future__ import annotations

from typing import Final

from .mentions import MentionReader
from .relations import ATTRIBUTE
from .sentence_words import SentenceWords
from .statement import Mention
from .tables import english_questions as asked_words
from .word_tables import PAST, PRESENT, Frame, WordTables

_PLACES: Final = frozenset({"place", "org", "school", "group"})
_SITES: Final = frozenset({"deployed_at", "stored_in", "located_in"})


class RelationFinder:
    """Finds the relations that one sentence asks for."""

    __slots__ = ("after_be", "low", "mentions", "tables", "words")

    def __init__(self, words: SentenceWords, tables: WordTables, mentions: MentionReader) -> None:
        self.words: SentenceWords = words
        self.low: list[str] = words.low
        self.tables: WordTables = tables
        self.mentions: MentionReader = mentions
        self.after_be: bool = False  # whether a form of "to be" goes before the verb

    def noun_relations(self, noun: list[str], at: int) -> tuple[str, ...]:
        found: list[str] = []
        for place in range(at, min(at + 3, self.words.last + 1)):
            found.extend(self.verb_relations("what", place))
        for word in noun:
            named = asked_words.NOUNS.get(word, "").split()
            kept = [relation for relation in named if relation in found]
            if named:
                return tuple(kept or named)
        return ()

    def verb_relations(self, wh: str, at: int) -> tuple[str, ...]:
        """The relations that the verb or predicate at a word may ask for."""
        word = self.low[at]
        frames = [*self.tables.frames.get(word, ()), *self.tables.predicates.get(word, ())]
        kept = [frame.relation for frame in frames if self.fits(wh, frame, at)]
        if kept:
            return tuple(kept)
        for size in (4, 3, 2, 1):
            if self.after_be and size == 1 and not word.endswith("ing"):
                break
            if named := asked_words.VERBS.get(" ".join(self.low[at : at + size])):
                return tuple(named.split())
        if word in self.tables.states:
            return (self.tables.states[word],)
        return ()

    def fits(self, wh: str, frame: Frame, at: int) -> bool:
        tied = not frame.ties or self.low[at + 1] in frame.ties or self.ends_with_tie(frame)
        if (
            self.after_be
            and frame.form == PRESENT
            and frame not in self.tables.predicates.get(self.low[at], ())
        ):
            return False
        if wh == "where":
            return (frame.object in _PLACES or frame.relation in _SITES) and (tied or self.is_last(at))
        if wh in ("who", "whom"):
            return tied and frame.object in ("person", "org", "name")
        return tied

    def ends_with_tie(self, frame: Frame) -> bool:
        return self.low[self.words.last] in frame.ties

    def is_last(self, at: int) -> bool:
        """Whether nothing but a time or a filler follows."""
        for place in range(at + 1, self.words.last + 1):
            if self.words.starts[place] in self.mentions.times:
                return True
            if (
                self.low[place]
                not in asked_words.FILLERS | asked_words.BEFORE | asked_words.NOW | self.tables.ties
            ):
                return False
        return True

    def object(self, at: int) -> Mention | None:
        """What the question names beside the subject: "when did Ann move to Porto"."""
        for frame in (
            *self.tables.frames.get(self.low[at], ()),
            *self.tables.predicates.get(self.low[at], ()),
        ):
            begin = at + 1
            if frame.ties:
                if self.low[begin] not in frame.ties:
                    continue
                begin += 1
            objects, _ = self.mentions.objects(begin, frame.object)
            if objects:
                return objects[0]
        return None

    def attribute_relations(self, words: list[str]) -> tuple[str, ...]:
        for size in (3, 2, 1):
            phrase = " ".join(words[-size:])
            named = [*asked_words.ATTRIBUTES.get(phrase, "").split(), self.tables.attributes.get(phrase, "")]
            named.append(self.tables.events.get(phrase, ""))
            kept = [relation for relation in named if relation]
            if kept:
                return tuple(kept)
        return ("_".join(words) + ATTRIBUTE,)

    def is_past(self, at: int, past: bool) -> bool:
        """Whether the verb at a word asks for the past; "where did she move?" asks where she is now."""
        for frame in self.tables.frames.get(self.low[at], ()):
            if "change" in frame.marks:
                return False
            if frame.form == PAST and self.low[at - 1] not in asked_words.AUXILIARIES and not self.after_be:
                return True
        return past
