"""Parses the subject of a clause, backward from its verb: I, she, my sister Maria, the billing service."""

from __future__ import annotations

from typing import Final, NamedTuple

from .sentence_words import SentenceWords
from .statement import Mention, Reference
from .vocabulary import Vocabulary

SPEAKER: Final = Mention(reference=Reference.SPEAKER, kind="person")
ARTICLES: Final = frozenset(("a", "an", "the", "some", "any", "this", "another"))
LISTS: Final = frozenset(("and", "or", "&", "nor"))
OWNERS: Final = {"my": "", "our": "", "his": "he", "her": "she", "their": "they", "its": "it"}
PRONOUNS: Final = frozenset(("he", "she", "they", "it"))
FIRST_PERSON: Final = frozenset(("i", "we"))
LONGEST_NAME: Final = 6  # words
_COPULAS: Final = frozenset(("is", "are", "was", "were", "'s", "'m", "'re", "am"))
_PARTIES: Final = frozenset(("user", "customer", "client", "patient"))  # people in notes


class PhraseAt(NamedTuple):
    """A mention and its words: from `first` up to `after`, exclusive."""

    mention: Mention
    first: int
    after: int


def mention_owner(owner: str) -> Mention:
    """Makes a mention of the owner of a role: "" is the speaker."""
    if not owner:
        return SPEAKER
    return Mention(reference=Reference(owner)) if owner in PRONOUNS else Mention(name=owner)


def name_owner(mention: Mention) -> str:
    """Returns a mention as the owner of a role: its name, a pronoun, or "" for the speaker."""
    if mention.reference is Reference.NAME:
        return mention.name
    return "" if mention.reference is Reference.SPEAKER else mention.reference.value


def is_name(words: SentenceWords, known: Vocabulary, at: int) -> bool:
    """Returns whether a word is a name: capitalised and no common word, except in "New York"."""
    if not words.capital(at):
        return False
    return words.low[at] not in known.common or (words.low[at] == "new" and words.capital(at + 1))


def looks_like_code(word: str) -> bool:
    """Returns whether a word looks like a name in code: auth-service, billing_api, node.js."""
    return word[:1].isalpha() and not word.isalpha()


class SubjectPhrases:
    """Parses the noun phrases of a sentence that end with a word."""

    __slots__ = ("known", "low", "words")

    def __init__(self, words: SentenceWords, known: Vocabulary) -> None:
        self.words: SentenceWords = words
        self.low: list[str] = words.low
        self.known: Vocabulary = known

    def subjects(self, end: int) -> tuple[list[Mention], int]:
        """Parses the mentions in a phrase that ends with a word, and its beginning; an empty list if none."""
        found = self._before(end)
        if found is None:
            return [], end
        mentions, first = [found.mention], found.first
        while self.low[first - 1] in LISTS or (self.low[first - 1] == "," == self.low[first - 3]):
            more = self._before(first - 2)
            if more is None or self.low[more.first - 1] in _COPULAS:
                break
            mentions.insert(0, more.mention)
            first = more.first
        return mentions, first

    def _before(self, end: int) -> PhraseAt | None:
        if end < 1:
            return None
        word, known = self.low[end], self.known
        if word in ("who", "which", "that"):
            return self._before(end - 1 - (self.low[end - 1] == ","))
        if word in FIRST_PERSON:
            return PhraseAt(SPEAKER, end, end + 1)
        if word in PRONOUNS:
            return PhraseAt(Mention(reference=Reference(word)), end, end + 1)
        if word in _PARTIES and (end == 1 or self.low[end - 1] in ARTICLES):
            return PhraseAt(Mention(name=word, kind="person"), max(end - 1, 1), end + 1)
        if self._is_name(end):
            named = self._name_before(end)
            return None if self.low[named.first - 1] in known.ties else named
        if word in known.kin or word in known.pets:
            return self._role_before(end)
        return self._thing_before(end)

    def _is_name(self, at: int) -> bool:
        return is_name(self.words, self.known, at)

    def _name_before(self, end: int) -> PhraseAt:
        first = end
        while end - first < LONGEST_NAME and self._is_name(first - 1):
            first -= 1
        name, role = self.words.cut(first, end + 1), self._role_before(first - 1)
        if role is None:
            return PhraseAt(Mention(name=name), first, end + 1)
        return PhraseAt(_with_role(name, role.mention), role.first, end + 1)

    def _role_before(self, end: int) -> PhraseAt | None:
        """Parses a role: my sister · Ann's older sister · her dog."""
        word = self.low[end]
        is_pet = word in self.known.pets
        if self.words.capital(end) or not (is_pet or word in self.known.kin):
            return None
        owner = self.owner_before(end - 1)
        if owner is None:
            return None
        mention = Mention(kind="thing" if is_pet else "person", role=word, owner=owner[0])
        return PhraseAt(mention, owner[1], end + 1)

    def owner_before(self, end: int) -> tuple[str, int] | None:
        """Finds the owner of the next word, across at most two adjectives, and the place it begins.

        The owner is a name, "" for the speaker, or a pronoun.
        """
        for at in range(end, max(end - 3, 0), -1):
            word = self.low[at]
            if word in OWNERS:
                return OWNERS[word], at
            if word == "'s" and self._is_name(at - 1):
                named = self._name_before(at - 1)
                return named.mention.name, named.first
        return None

    def _thing_before(self, end: int) -> PhraseAt | None:
        """Parses a thing: the billing service · our staging cluster · auth-service."""
        low, at = self.low, end
        if looks_like_code(low[end]):
            first = end - (low[end - 1] in ARTICLES)
            return PhraseAt(Mention(name=self.words.raws[end], kind="thing"), first, end + 1)
        while end - at < 4 and low[at].replace("-", "").isalnum() and low[at] not in self.known.stops:
            if low[at - 1] in ARTICLES or low[at - 1] in OWNERS:
                return PhraseAt(Mention(name=self.words.cut(at, end + 1), kind="thing"), at - 1, end + 1)
            at -= 1
        return None


def _with_role(name: str, role: Mention) -> Mention:
    """Combines a name and a role: "Maria" and "my sister" give the sister Maria."""
    return Mention(name=name, kind=role.kind, role=role.role, owner=role.owner)
