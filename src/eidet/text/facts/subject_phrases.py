"""Who a clause is about, read backward from its verb: I, she, Ann, my sister Maria, the billing service."""

from __future__ import annotations

from .phrase_values import LONGEST_NAME, PhraseAt, looks_like_code, with_role
from .sentence_words import SentenceWords
from .statement import Mention, Reference
from .word_tables import WordTables


class SubjectReader:
    """Reads the noun phrase that ends with a word."""

    __slots__ = ("tables", "words")

    def __init__(self, words: SentenceWords, tables: WordTables) -> None:
        self.words: SentenceWords = words
        self.tables: WordTables = tables

    def subjects(self, end: int, things: bool = False) -> tuple[list[Mention], int]:
        """Those that a noun phrase ending with word `end` names, and where it begins; none: an empty list."""
        found = self._before(end, things)
        if found is None:
            return [], end
        mentions, first = [found.mention], found.first
        while self.words.low[first - 1] in self.tables.lists or self._is_list_comma(first - 1):
            more = self._before(first - 2, things)
            if more is None or self.words.low[more.first - 1] in self.tables.copulas:
                break
            mentions.insert(0, more.mention)
            first = more.first
        return mentions, first

    def _is_list_comma(self, at: int) -> bool:
        """A comma between two names of a list that an "and" ends."""
        return at > 1 and self.words.low[at] == "," and self.words.low[at - 2] == ","

    def _before(self, end: int, things: bool) -> PhraseAt | None:
        words = self.words
        if end < 1:
            return None
        word = words.low[end]
        if word in ("who", "which", "that"):
            return self._before(end - 1 - (words.low[end - 1] == ","), things)
        if word in (",", ")"):
            return self._aside(end)
        return self._pronoun(end) or self._noun_before(end, things)

    def _pronoun(self, end: int) -> PhraseAt | None:
        word, tables = self.words.low[end], self.tables
        if word in tables.speaker:
            return PhraseAt(Mention(reference=Reference.SPEAKER, kind="person"), end, end + 1)
        if word in tables.pronouns:
            return PhraseAt(Mention(reference=Reference(tables.pronouns[word])), end, end + 1)
        return None

    def _noun_before(self, end: int, things: bool) -> PhraseAt | None:
        word, tables = self.words.low[end], self.tables
        if word in tables.parties and (end == 1 or self.words.low[end - 1] in tables.articles):
            return PhraseAt(Mention(name=word, kind="person"), max(end - 1, 1), end + 1)
        if self.is_name(end):
            named = self._name_before(end)
            if self.words.low[named.first - 1] in tables.ties:
                return None
            return named
        if word in tables.kin or word in tables.pets:
            return self._role_before(end)
        if things:
            return self._thing_before(end)
        return None

    def _aside(self, end: int) -> PhraseAt | None:
        """Ann, my sister, … · Ann (my sister) …: who stands before the aside, with the role in it."""
        if self.is_name(end - 1):
            return self._name_in_aside(end)
        role = self._role_before(end - 1)
        if role is None or self.words.low[role.first - 1] not in (",", "("):
            return None
        name = self._before(role.first - 2, things=False)
        if name is None or not name.mention.name:
            return None
        return PhraseAt(with_role(name.mention.name, role.mention), name.first, end + 1)

    def _name_in_aside(self, end: int) -> PhraseAt | None:
        """My mother, Rosa, …"""
        name = self._name_before(end - 1)
        if self.words.low[name.first - 1] not in (",", "("):
            return None
        role = self._role_before(name.first - 2)
        if role is None:
            return None
        return PhraseAt(with_role(name.mention.name, role.mention), role.first, end + 1)

    def _name_before(self, end: int) -> PhraseAt:
        first = end
        while end - first < LONGEST_NAME and self.is_name(first - 1):
            first -= 1
        name = self.words.cut(first, end + 1)
        role = self._role_before(first - 1)
        if role is None:
            return PhraseAt(Mention(name=name), first, end + 1)
        return PhraseAt(with_role(name, role.mention), role.first, end + 1)

    def _role_before(self, end: int) -> PhraseAt | None:
        """My sister · Ann's older sister · her dog."""
        word = self.words.low[end]
        if (word not in self.tables.kin and word not in self.tables.pets) or (
            self.words.capital(end) and not self.tables.inverts
        ):
            return None
        owner = self.owner_before(end - 1)
        if owner is None:
            return None
        kind = "person"
        if word in self.tables.pets:
            kind = "thing"
        return PhraseAt(Mention(kind=kind, role=word, owner=owner[0]), owner[1], end + 1)

    def owner_before(self, end: int) -> tuple[str, int] | None:
        """Whose it is, across at most two adjectives: the name, "" for the speaker, or a pronoun."""
        low, at = self.words.low, end
        for _ in range(3):
            if low[at] in self.tables.possessives:
                return self.tables.possessives[low[at]], at
            if low[at] == "'s" and self.is_name(at - 1):
                named = self._name_before(at - 1)
                return named.mention.name, named.first
            if not low[at].isalpha() or low[at] in self.tables.stops or low[at] in self.tables.ties:
                return None
            at -= 1
        return None

    def _thing_before(self, end: int) -> PhraseAt | None:
        """The billing service · our staging cluster · auth-service."""
        low, at = self.words.low, end
        if looks_like_code(low[end]):
            first = end - (low[end - 1] in self.tables.articles)
            return PhraseAt(Mention(name=self.words.raw(end), kind="thing"), first, end + 1)
        while end - at < 4 and low[at].replace("-", "").isalnum() and low[at] not in self.tables.stops:
            before = low[at - 1]
            if low[at] in self.tables.vague:
                return None
            if before in self.tables.articles or before in self.tables.possessives:
                return PhraseAt(Mention(name=self.words.cut(at, end + 1), kind="thing"), at - 1, end + 1)
            at -= 1
        return None

    def is_name(self, at: int) -> bool:
        words = self.words
        return words.capital(at) and words.low[at] not in self.tables.common and words.low[at] != "i"
