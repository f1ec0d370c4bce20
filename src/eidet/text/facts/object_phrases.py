"""Parses the objects of a clause, forward from its verb: names, places, things, and lists of them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from ..dates.scanner import NUMBERS
from .sentence_words import SentenceWords
from .statement import VALUE, Mention
from .subject_phrases import ARTICLES, LISTS, LONGEST_NAME, OWNERS, PhraseAt, is_name
from .vocabulary import Vocabulary

NAMING: Final = frozenset(("called", "named", "nicknamed"))
_KINDS: Final = {"place": "place", "org": "organisation", "school": "organisation", "group": "organisation"}
_LONGEST_THING: Final = 8  # words
_LONGEST_LIST: Final = 12
_VALUES: Final = frozenset(("value", "job", "number", "language", "date"))
_HEADED: Final = frozenset(("animal", "condition", "profession"))
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


class ObjectPhrases:
    """Parses the noun phrases that begin at a word. `times` maps starts of time expressions to their ends."""

    __slots__ = ("known", "low", "times", "words")

    def __init__(self, words: SentenceWords, known: Vocabulary, times: Mapping[int, int]) -> None:
        self.words: SentenceWords = words
        self.low: list[str] = words.low
        self.known: Vocabulary = known
        self.times: Mapping[int, int] = times

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
            return PhraseAt(Mention(name=kind[1:], kind=VALUE), at, at) if self.ends_clause(at) else None
        if at > self.words.last:
            return None
        if kind.startswith("state:"):
            return self._state(at, kind[6:])
        if shape := _SHAPES.get(kind):
            return self._shaped(at, shape)
        if kind in _HEADED:
            return self._headed(at, kind)
        if reader := self._READERS.get(kind):
            return reader(self, at)
        if kind in ("place", "name", "person", "self"):
            return self.proper(at, kind)
        return self._thing(at, kind)

    def _component(self, at: int) -> PhraseAt | None:
        """Parses a component: Redis · the billing service."""
        if self.low[at] in ARTICLES:
            return self._thing(at, "component")
        return self.proper(at, "component")

    def _shaped(self, at: int, shape: re.Pattern[str]) -> PhraseAt | None:
        words = self.words
        found = shape.match(words.text, words.starts[at], words.end(words.last))
        if found is None:
            return None
        return PhraseAt(Mention(name=found[1].strip(), kind=VALUE), at, _word_from(words, at, found.end()))

    def _value(self, first: int, after: int) -> PhraseAt:
        return PhraseAt(Mention(name=self.words.cut(first, after), kind=VALUE), first, after)

    def _state(self, at: int, relation: str) -> PhraseAt | None:
        """Parses a state that ends its clause: vegetarian · lactose intolerant · a Buddhist."""
        at += self.low[at] in ARTICLES
        for size in (1, 2):
            if self.known.states.get("_".join(self.low[at : at + size])) == relation:
                if not self.ends_clause(at + size):
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

    def _headed(self, at: int, kind: str) -> PhraseAt | None:
        """Parses up to a noun of the kind: a senior software engineer · two black cats · mild asthma."""
        low, known, heads = self.low, self.known, self._list_heads(kind)
        shown = "thing" if kind == "animal" else VALUE
        while low[at] in ARTICLES:
            at += 1
        for head in range(at, min(at + 4, self.words.last + 1)):
            word = low[head]
            if word in heads:
                return PhraseAt(Mention(name=self.words.cut(at, head + 1), kind=shown), at, head + 1)
            if word in known.stops or word in known.ties or not word[0].isalnum():
                return None
        return None

    def _list_heads(self, kind: str) -> frozenset[str]:
        known = self.known
        return {"animal": known.pets, "condition": known.conditions}.get(kind, known.jobs)

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
        if self.is_time(at):
            return False
        if word in known.stops:
            if is_activity and at > first and word in ("my", "this", "these", "those"):
                return True
            return at > first and word == "'s"
        if word in known.ties and word != "of":
            return is_activity and at > first
        return word[0].isalnum()

    def _is_of_class(self, first: int, after: int, kind: str) -> bool:
        allowed = self.known.classes.get(kind)
        if allowed is None or not allowed.isdisjoint(self.low[first:after]):
            return True
        return kind in _NAMED_KINDS and self.is_name(first)

    # --- names, and the ends of clauses

    def is_name(self, at: int) -> bool:
        return is_name(self.words, self.known, at)

    def is_time(self, at: int) -> bool:
        """Returns whether a time expression begins at a word."""
        return bool(self.times) and at <= self.words.last and self.words.starts[at] in self.times

    def ends_clause(self, at: int) -> bool:
        """Returns whether a clause may end before a word: at a mark, a conjunction, a time."""
        word = self.low[at]
        if at > self.words.last or not word[0].isalnum() or word in self.known.stops:
            return True
        return word in ("since", "for", "in", "on", "and") or self.is_time(at)

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

    def proper(self, at: int, kind: str) -> PhraseAt | None:
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
        while at <= self.words.last and at - first < LONGEST_NAME and not self.is_time(at):
            if self.is_name(at) or (at > first and low[at].isdigit()):
                at += 1
            elif at > first and low[at] in self.known.inner and self.is_name(at + 1):
                at += 2
            else:
                break
        return at

    _READERS: ClassVar[Mapping[str, Callable[[ObjectPhrases, int], PhraseAt | None]]] = {
        "component": _component,
        "date": _date,
    }


def _word_from(words: SentenceWords, at: int, character: int) -> int:
    """Returns the first word from one on that begins at a character or after it."""
    return at + bisect_left(words.starts[at:], character)
