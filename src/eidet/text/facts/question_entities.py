"""Who and what a question names, read forward: I, she, Ann, my sister, Ann's phone number."""

from __future__ import annotations

from typing import NamedTuple

from .mentions import MentionReader
from .sentence_words import SentenceWords
from .statement import Mention, Reference
from .tables import english_questions as asked_words
from .whose import SPEAKER, owner_mention
from .word_tables import WordTables


class EntityPhrase(NamedTuple):
    """Somebody in a question, the attribute of theirs that is asked for, and the place after both."""

    mention: Mention
    attribute: list[str]
    after: int


class EntityReader:
    """Reads whom one sentence asks about."""

    __slots__ = ("low", "mentions", "tables", "words")

    def __init__(self, words: SentenceWords, tables: WordTables, mentions: MentionReader) -> None:
        self.words: SentenceWords = words
        self.low: list[str] = words.low
        self.tables: WordTables = tables
        self.mentions: MentionReader = mentions

    def entity(self, at: int) -> EntityPhrase | None:
        """Somebody from a word on: I, she, Ann, my sister, Ann's phone number, the billing api."""
        low = self.low
        if low[at] in self.tables.speaker or low[at] == "me":
            return EntityPhrase(SPEAKER, [], at + 1)
        if low[at] in self.tables.pronouns:
            return EntityPhrase(Mention(reference=Reference(self.tables.pronouns[low[at]])), [], at + 1)
        if low[at] in self.tables.possessives:
            owner = self.tables.possessives[low[at]]
            return self.read_possession(owner, owner_mention(owner), at + 1)
        named = self.mentions.read(at, "name")
        if named is None:
            return self.thing(at)
        if low[named.after] == "'s":
            return self.read_possession(named.mention.name, named.mention, named.after + 1)
        return EntityPhrase(named.mention, [], named.after)

    def read_possession(self, name: str, owner: Mention, at: int) -> EntityPhrase | None:
        """What follows "my" or "Ann's": a relative (and theirs again), or an attribute."""
        low, place = self.low, at
        while place <= self.words.last and place < at + 4:
            word = low[place]
            if self.is_role(place):
                mention = Mention(kind="person", role=word, owner=name)
                after = place + 1
                named = self.mentions.read(after, "name")
                if named:
                    mention, after = (
                        Mention(name=named.mention.name, kind="person", role=word, owner=name),
                        named.after,
                    )
                if low[after] == "'s":
                    return self.read_possession(mention.name or word, mention, after + 1)
                return EntityPhrase(mention, [], after)
            if word in asked_words.AUXILIARIES or not word[0].isalpha() or self.ends_attribute(place, at):
                break
            place += 1
        attribute = low[at:place]
        return EntityPhrase(owner, attribute, place) if attribute else None

    def is_role(self, at: int) -> bool:
        """A relative or an animal, but not in "dentist appointment"."""
        word, after = self.low[at], self.low[at + 1]
        return (word in self.tables.kin or word in self.tables.pets) and after not in self.tables.events

    def ends_attribute(self, place: int, first: int) -> bool:
        word = self.low[place]
        if place == first:
            return False
        return (
            word in asked_words.FILLERS
            or word in asked_words.BEFORE
            or self.words.starts[place] in self.mentions.times
        )

    def thing(self, at: int) -> EntityPhrase | None:
        first = at + (self.low[at] in self.tables.articles)
        after = first
        while after <= self.words.last and after < first + 4 and self.is_noun(after):
            after += 1
        if after == first or (first == at and "-" not in self.low[at] and "_" not in self.low[at]):
            return None
        return EntityPhrase(Mention(name=self.words.cut(first, after), kind="thing"), [], after)

    def is_noun(self, at: int) -> bool:
        word, tables = self.low[at], self.tables
        if word in tables.frames or word in tables.predicates or word in tables.stops or word in tables.ties:
            return False
        return word[0].isalnum() and word not in asked_words.FILLERS

    def skip_fillers(self, at: int) -> int:
        while self.low[at] in asked_words.FILLERS:
            at += 1
        return at

    def kin_relation(self, role: str) -> str:
        return self.tables.kin.get(role, "pet")
