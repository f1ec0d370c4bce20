"""Parses the noun phrases of a sentence: subjects, backward from their verb, and objects, forward from it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import Final, NamedTuple

from ..dates.scanner import NUMBERS
from .sentence_words import SentenceWords
from .statement import VALUE, Mention, Reference
from .vocabulary import Vocabulary

SPEAKER: Final = Mention(reference=Reference.SPEAKER, kind="person")
ARTICLES: Final = frozenset(("a", "an", "the", "some", "any", "this", "another"))
LISTS: Final = frozenset(("and", "or", "&", "nor"))
OWNERS: Final = {"my": "", "our": "", "his": "he", "her": "she", "their": "they", "its": "it"}
PRONOUNS: Final = frozenset(("he", "she", "they", "it"))
FIRST_PERSON: Final = frozenset(("i", "we"))
NAMING: Final = frozenset(("called", "named", "nicknamed"))
_LONGEST_NAME: Final = 6  # words
_LONGEST_THING: Final = 8
_LONGEST_LIST: Final = 12
_COPULAS: Final = frozenset(("is", "are", "was", "were", "'s", "'m", "'re", "am"))
_PARTIES: Final = frozenset(("user", "customer", "client", "patient"))  # people in notes
_KINDS: Final = {"place": "place", "org": "organisation", "school": "organisation", "group": "organisation"}
_VALUES: Final = frozenset(("value", "job", "number", "language", "date"))
_NAMED_KINDS: Final = frozenset(("playable", "vehicle"))  # any name may be one
_AGE: Final = rf"(1[01]\d|120|[1-9]\d?|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"
_SHAPES: Final = {  # kinds of object that a regular expression knows
    "age": re.compile(
        rf"{_AGE}(?= years\b|\s*(?:[^\w\s]|$|(?:and|but|in|on|last|this|today|yesterday)\b))", re.IGNORECASE
    ),
    "years": re.compile(
        rf"{_AGE}(?= years old\b|(?<=\d) and\b|\s*(?:,|$|but\b|now\b|yrs\b|year-old\b))", re.IGNORECASE
    ),
}


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


class Phrases:
    """The noun phrases of a sentence. `times` maps starts of time expressions to their ends."""

    __slots__ = ("known", "low", "times", "words")

    def __init__(self, words: SentenceWords, known: Vocabulary, times: Mapping[int, int]) -> None:
        self.words: SentenceWords = words
        self.low: list[str] = words.low
        self.known: Vocabulary = known
        self.times: Mapping[int, int] = times

    def is_name(self, at: int) -> bool:
        """Returns whether a word is a name: capitalised and no common word, except in "New York"."""
        if not self.words.capital(at):
            return False
        is_new = self.low[at] == "new" and self.words.capital(at + 1)
        return is_new or self.low[at] not in self.known.common

    # --- subjects

    def subjects(self, end: int) -> list[Mention]:
        """Parses the mentions in a phrase that ends with a word; an empty list if there are none."""
        found = self._before(end)
        if found is None:
            return []
        mentions, first = [found.mention], found.first
        while self.low[first - 1] in LISTS or (self.low[first - 1] == "," == self.low[first - 3]):
            more = self._before(first - 2)
            if more is None or self.low[more.first - 1] in _COPULAS:
                break
            mentions.insert(0, more.mention)
            first = more.first
        return mentions

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
        if self.is_name(end):
            named = self._name_before(end)
            return None if self.low[named.first - 1] in known.ties else named
        return self._role_before(end) if word in known.kin else self._thing_before(end)

    def _name_before(self, end: int) -> PhraseAt:
        """Parses a name, and the role before it: "my sister Maria"."""
        first = end
        while end - first < _LONGEST_NAME and self.is_name(first - 1):
            first -= 1
        name, found = self.words.cut(first, end + 1), self._role_before(first - 1)
        if found is None:
            return PhraseAt(Mention(name=name), first, end + 1)
        role = found.mention
        mention = Mention(name=name, kind=role.kind, role=role.role, owner=role.owner)
        return PhraseAt(mention, found.first, end + 1)

    def _role_before(self, end: int) -> PhraseAt | None:
        """Parses a role: my sister · Ann's older sister · her dog."""
        word = self.low[end]
        owner = self.owner_before(end - 1) if word in self.known.kin and not self.words.capital(end) else None
        if owner is None:
            return None
        mention = Mention(kind=self.known.kind_of_kin(word), role=word, owner=owner[0])
        return PhraseAt(mention, owner[1], end + 1)

    def owner_before(self, end: int) -> tuple[str, int] | None:
        """Finds the owner of the next word, across at most two adjectives, and the place it begins.

        The owner is a name, "" for the speaker, or a pronoun.
        """
        for at in range(end, max(end - 3, 0), -1):
            word = self.low[at]
            if word in OWNERS:
                return OWNERS[word], at
            if word == "'s" and self.is_name(at - 1):
                named = self._name_before(at - 1)
                return named.mention.name, named.first
        return None

    def _thing_before(self, end: int) -> PhraseAt | None:
        """Parses a thing: the billing service · our staging cluster · auth-service · node.js."""
        low, at = self.low, end
        if low[end][:1].isalpha() and not low[end].isalpha():
            first = end - (low[end - 1] in ARTICLES)
            return PhraseAt(Mention(name=self.words.raws[end], kind="thing"), first, end + 1)
        while end - at < 4 and low[at].replace("-", "").isalnum() and low[at] not in self.known.stops:
            if low[at - 1] in ARTICLES or low[at - 1] in OWNERS:
                return PhraseAt(Mention(name=self.words.cut(at, end + 1), kind="thing"), at - 1, end + 1)
            at -= 1
        return None

    # --- objects

    def objects(self, at: int, kind: str, listed: bool = False) -> tuple[list[Mention], int]:
        """Parses the objects that begin at a word, and the place after them; an empty list if there are none.

        `listed` means that there are several, so that no other clause follows an "and".
        """
        found = self._object(at, kind)
        if found is None:
            return [], at
        mentions, after = [found.mention], found.after
        is_doing = found.mention.name.partition(" ")[0].endswith("ing")
        while len(mentions) < _LONGEST_LIST and (step := self._list_step(after)):
            more = self._object(after + step, kind)
            if more is None or (not listed and self.begins_clause(after + step, more.after)):
                break
            if self.low[after + step].endswith("ing") and " " in more.mention.name and not is_doing:
                break
            mentions.append(more.mention)
            after = more.after
        return mentions, after

    def _list_step(self, at: int) -> int:
        """Counts the words that join the next item of a list: ", and" are two."""
        if self.low[at] == ",":
            return 2 if self.low[at + 1] in LISTS else 1
        return int(self.low[at] in LISTS)

    def _object(self, at: int, kind: str) -> PhraseAt | None:
        if kind[0] == "=":  # the verb needs no object
            return PhraseAt(Mention(name=kind[1:], kind=VALUE), at, at) if self._ends_clause(at) else None
        if at > self.words.last:
            return None
        if kind.startswith("state:"):
            return self._state(at, kind[6:])
        if shape := _SHAPES.get(kind):
            return self._shaped(at, shape)
        if kind == "date":
            return self._date(at)
        if heads := self.known.heads.get(kind):
            return self._headed(at, heads, "thing" if kind == "animal" else VALUE)
        is_proper = kind in ("place", "name", "person", "self")
        if is_proper or (kind == "component" and self.low[at] not in ARTICLES):  # "Redis"
            return self._proper(at, kind)
        return self._thing(at, kind)

    def _shaped(self, at: int, shape: re.Pattern[str]) -> PhraseAt | None:
        words = self.words
        found = shape.match(words.text, words.starts[at], words.end(words.last))
        if found is None:
            return None
        return PhraseAt(Mention(name=found[1].strip(), kind=VALUE), at, _word_from(words, at, found.end()))

    def _state(self, at: int, relation: str) -> PhraseAt | None:
        """Parses a state that ends its clause: vegetarian · lactose intolerant · a Buddhist."""
        at += self.low[at] in ARTICLES
        for size in (1, 2):
            if self.known.states.get("_".join(self.low[at : at + size])) == relation:
                if not self._ends_clause(at + size):
                    return None
                name = self.words.cut(at, at + size).lower()
                return PhraseAt(Mention(name=name, kind=VALUE), at, at + size)
        return None

    def _date(self, at: int) -> PhraseAt | None:
        words = self.words
        first = min(at + (self.low[at] in ARTICLES), words.last)
        end = self.times.get(words.starts[first])
        if end is None:
            return None
        name = words.text[words.starts[first] : end]
        return PhraseAt(Mention(name=name, kind=VALUE), at, _word_from(words, first, end))

    def _headed(self, at: int, heads: frozenset[str], shown: str) -> PhraseAt | None:
        """Parses up to a noun of the kind: a senior software engineer · two black cats · mild asthma."""
        low, known = self.low, self.known
        while low[at] in ARTICLES:
            at += 1
        for head in range(at, min(at + 4, self.words.last + 1)):
            word = low[head]
            if word in heads:
                return PhraseAt(Mention(name=self.words.cut(at, head + 1), kind=shown), at, head + 1)
            if word in known.stops or word in known.ties or not word[0].isalnum():
                return None
        return None

    def _thing(self, at: int, kind: str) -> PhraseAt | None:
        """Parses a noun phrase; an activity may contain prepositions."""
        low, first, is_activity = self.low, at, kind == "activity"
        while low[first] in ARTICLES or low[first] in OWNERS:
            first += 1
        first += low[first] == "to" and is_activity
        after, most = first, min(first + _LONGEST_THING, self.words.last + 1)
        while after < most and self._goes_on(after, first, is_activity):
            after += 1
        while after > first and (low[after - 1] in self.known.ties or low[after - 1] in ARTICLES):
            after -= 1
        if after == first or not low[first][:1].isalnum() or not self._is_of_class(first, after, kind):
            return None
        shown = VALUE if kind in _VALUES else _KINDS.get(kind, "thing")
        return PhraseAt(Mention(name=self.words.cut(first, after), kind=shown), at, after)

    def _goes_on(self, at: int, first: int, is_activity: bool) -> bool:
        known, word = self.known, self.low[at]
        if self._is_time(at):
            return False
        if word in known.stops:
            is_inside = is_activity and word in ("my", "this", "these", "those")
            return at > first and (is_inside or word == "'s")
        if word in known.ties and word != "of":
            return is_activity and at > first
        return word[0].isalnum()

    def _is_of_class(self, first: int, after: int, kind: str) -> bool:
        allowed = self.known.classes.get(kind)
        if allowed is None or not allowed.isdisjoint(self.low[first:after]):
            return True
        return kind in _NAMED_KINDS and self.is_name(first)

    def _proper(self, at: int, kind: str) -> PhraseAt | None:
        first = at + (self.low[at] in ARTICLES)
        after = self._name_after(first)
        if after == first:
            return None
        if kind == "place" and self.low[after] == "," and self.is_name(after + 1):
            further = self._name_after(after + 1)
            after = after if self.begins_clause(after + 1, further) else further
        shown = _KINDS.get(kind, kind if kind == "person" else "")
        return PhraseAt(Mention(name=self.words.cut(first, after), kind=shown), at, after)

    def _name_after(self, first: int) -> int:
        at, low = first, self.low
        while at <= self.words.last and at - first < _LONGEST_NAME and not self._is_time(at):
            if self.is_name(at) or (at > first and low[at].isdigit()):
                at += 1
            elif at > first and low[at] in self.known.inner and self.is_name(at + 1):
                at += 2
            else:
                break
        return at

    # --- the ends of clauses

    def _is_time(self, at: int) -> bool:
        """Returns whether a time expression begins at a word."""
        return bool(self.times) and at <= self.words.last and self.words.starts[at] in self.times

    def _ends_clause(self, at: int) -> bool:
        """Returns whether a clause may end before a word: at a mark, a conjunction, a time."""
        word = self.low[at]
        if at > self.words.last or not word[0].isalnum() or word in self.known.stops:
            return True
        return word in ("since", "for", "in", "on", "and") or self._is_time(at)

    def begins_clause(self, at: int, after: int) -> bool:
        """Returns whether an apparent list item begins a clause: "… and Leo works at Acme"."""
        first, known, next_word = self.low[at], self.known, self.low[after]
        if first in known.frames or first in known.adverbs or first in known.hedges:
            return True
        return self._looks_like_verb(at) or next_word in known.effects or next_word in known.adverbs

    def _looks_like_verb(self, at: int) -> bool:
        """Returns whether a word looks like a verb: "keeps the window open", "practises in the study"."""
        word, after = self.low[at], self.low[at + 1]
        if not word.endswith("s") or word.endswith("ss") or self.words.capital(at):
            return False
        return after in ARTICLES or after in OWNERS or (after in self.known.ties and after != "of")


def _word_from(words: SentenceWords, at: int, character: int) -> int:
    """Returns the first word from one on that begins at a character or after it."""
    return at + bisect_left(words.starts[at:], character)
