"""What follows a verb, read forward: places, people, things, activities, dates, and lists of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .phrase_values import LONGEST_NAME, PhraseAt, is_age, is_doing, looks_like_code
from .sentence_words import SentenceWords, is_quote
from .statement import VALUE, Mention
from .word_tables import WordTables

_LONGEST_THING: Final = 8  # words
_LONGEST_LIST: Final = 12
_LONGEST_TITLE: Final = 12
_KINDS: Final = {"place": "place", "org": "organisation", "school": "organisation", "group": "organisation"}
_VALUES: Final = frozenset({"value", "job", "number", "language", "date", "text"})


class ObjectReader:
    """Reads the noun phrases that begin at a word. `times` are where time expressions begin and end."""

    __slots__ = ("tables", "times", "words")

    def __init__(self, words: SentenceWords, tables: WordTables, times: Mapping[int, int]) -> None:
        self.words: SentenceWords = words
        self.tables: WordTables = tables
        self.times: Mapping[int, int] = times

    def is_name(self, at: int) -> bool:
        words = self.words
        return words.capital(at) and words.low[at] not in self.tables.common and words.low[at] != "i"

    def objects(self, at: int, kind: str, listed: bool = False) -> tuple[list[Mention], int]:
        """The objects that begin at a word, one or a list, and the place after them; none: an empty list.

        `listed` tells that there are several, so that what follows an "and" is no other clause.
        """
        found = self.read(at, kind)
        if found is None:
            return [], at
        mentions, after = [found.mention], found.after
        while len(mentions) < _LONGEST_LIST:
            step = self._list_step(after)
            more = self.read(after + step, kind) if step else None
            if more is None or (not listed and self._begins_clause(after + step, more)):
                break
            if (
                self.words.low[after + step].endswith("ing")
                and " " in more.mention.name
                and not is_doing(found)
            ):
                break
            mentions.append(more.mention)
            after = more.after
        return mentions, after

    def _list_step(self, at: int) -> int:
        """How many words tie the next item of a list: ", and" are two."""
        low = self.words.low
        if low[at] == "," and low[at + 1] in self.tables.lists:
            return 2
        return int(low[at] == "," or low[at] in self.tables.lists)

    def _begins_clause(self, at: int, item: PhraseAt) -> bool:
        """Whether what looks like another item is a clause: "… and Leo works at Acme", "… and hate tea"."""
        low, tables = self.words.low, self.tables
        first = low[at]
        if first in tables.frames and item.after - item.first <= 4 and not first.endswith("ing"):
            return True
        after = low[item.after]
        if first in tables.adverbs or first in tables.hedges:
            return True
        return after in tables.frames or after in tables.effects or after in tables.adverbs

    def read(self, at: int, kind: str) -> PhraseAt | None:
        if kind[0] == "=":
            return self._constant(at, kind[1:])
        if at > self.words.last:
            return None
        if kind in ("place", "name"):
            return self._proper(at, kind)
        if kind == "person":
            return self._proper(at, kind) or self._role_at(at) or self._find_called(at)
        if kind == "street":
            return self._street(at)
        if kind == "date":
            return self._date(at)
        if kind == "age":
            return self._age(at)
        if kind == "component" and self.words.low[at] not in self.tables.articles:
            return self._proper(at, kind) or self._code(at)
        if kind == "org":
            return self._proper(at, kind) or self._thing(at, kind, ties=False)
        return self._thing(at, kind, ties=kind == "activity")

    def _code(self, at: int) -> PhraseAt | None:
        """A word that is a name by its look: auth-service, node.js."""
        if looks_like_code(self.words.low[at]):
            return PhraseAt(Mention(name=self.words.raw(at), kind="thing"), at, at + 1)
        return None

    def _street(self, at: int) -> PhraseAt | None:
        """5 Rua Augusta in Porto: a number, then a name, to the end of the clause."""
        if not self.words.low[at][:1].isdigit() or not self.words.capital(at + 1):
            return None
        after = min(at + _LONGEST_THING, self.words.last + 1)
        return PhraseAt(Mention(name=self.words.cut(at, after), kind=VALUE), at, after)

    def _constant(self, at: int, value: str) -> PhraseAt | None:
        """A verb without an object: it says all by itself, if its clause ends with it."""
        if self.ends_clause(at):
            return PhraseAt(Mention(name=value, kind=VALUE), at, at)
        return None

    def ends_clause(self, at: int) -> bool:
        """Whether a clause may end before a word: at a mark, a conjunction, a time."""
        word = self.words.low[at]
        if at > self.words.last or not word[0].isalnum() or word in self.tables.stops:
            return True
        return word in ("since", "for", "in", "on", "and") or self._is_time(at)

    def _date(self, at: int) -> PhraseAt | None:
        words = self.words
        first = at + (words.low[at] in self.tables.articles)
        end = self.times.get(words.starts[min(first, words.last)])
        if end is None:
            return None
        after = first
        while after <= words.last and words.starts[after] < end:
            after += 1
        return PhraseAt(Mention(name=words.text[words.starts[first] : end], kind=VALUE), at, after)

    def _age(self, at: int) -> PhraseAt | None:
        word = self.words.low[at]
        if not is_age(word) or not (self.ends_clause(at + 1) or self.words.low[at + 1] == "years"):
            return None
        return PhraseAt(Mention(name=word, kind=VALUE), at, at + 1)

    def _find_called(self, at: int) -> PhraseAt | None:
        """A guy called Finn."""
        if self.words.low[at] not in self.tables.articles:
            return None
        for place in range(at + 1, min(at + 5, self.words.last)):
            if self.words.low[place] in self.tables.naming:
                return self._proper(place + 1, "person")
        return None

    def _proper(self, at: int, kind: str) -> PhraseAt | None:
        if is_quote(self.words.low[at]):
            return self._title(at)
        first = at + (self.words.low[at] in self.tables.articles)
        if kind == "place" and first > at and self.words.low[at] != "the":
            return None
        after = self._name_after(first)
        if after == first or (kind in ("place", "org") and self._is_part(after)):
            return None
        if kind == "place" and self.words.low[after] == "," and self.is_name(after + 1):
            further = self._name_after(after + 1)
            if not self._begins_clause(after + 1, PhraseAt(Mention(), after + 1, further)):
                after = further
        name = self.words.cut(first, after)
        return PhraseAt(
            Mention(name=name, kind=_KINDS.get(kind, kind if kind == "person" else "")), at, after
        )

    def _title(self, at: int) -> PhraseAt | None:
        """ "Gone with the Wind": what stands in quotation marks."""
        for end in range(at + 2, min(at + _LONGEST_TITLE, self.words.last + 1)):
            if is_quote(self.words.low[end]):
                return PhraseAt(Mention(name=self.words.cut(at + 1, end)), at, end + 1)
        return None

    def _is_part(self, at: int) -> bool:
        """Whether a noun goes on after a name: "the LGBTQ center" is not "LGBTQ"."""
        word, tables = self.words.low[at], self.tables
        if not word[:1].isalpha() or self._is_time(min(at, self.words.last)):
            return False
        known = word in tables.stops or word in tables.ties or word in tables.adverbs or word in tables.lists
        return (
            not known
            and word not in tables.effects
            and word not in tables.frames
            and word not in tables.hedges
        )

    def _name_after(self, first: int) -> int:
        at, low = first, self.words.low
        while at <= self.words.last and at - first < LONGEST_NAME and not self._is_time(at):
            if self.is_name(at) or (at > first and low[at].isdigit()):
                at += 1
            elif at > first and low[at] in self.tables.inner and self.is_name(at + 1):
                at += 2
            else:
                break
        return at

    def _is_time(self, at: int) -> bool:
        """Whether a time expression begins at a word."""
        return bool(self.times) and self.words.starts[at] in self.times

    def _role_at(self, at: int) -> PhraseAt | None:
        """My sister · my older sister Maria."""
        low = self.words.low
        if low[at] not in self.tables.possessives:
            return None
        for end in (at + 1, at + 2, at + 3):
            if low[end] in self.tables.kin:
                role, owner = low[end], self.tables.possessives[low[at]]
                after = self._name_after(end + 1)
                name = self.words.cut(end + 1, after) if after > end + 1 else ""
                return PhraseAt(Mention(name=name, kind="person", role=role, owner=owner), at, after)
        return None

    def _thing(self, at: int, kind: str, ties: bool) -> PhraseAt | None:
        low, first = self.words.low, at
        while low[first] in self.tables.articles or low[first] in self.tables.possessives:
            first += 1
        first += low[first] == "to" and ties
        after = first
        while (
            after <= self.words.last and after - first < _LONGEST_THING and self._goes_on(after, first, ties)
        ):
            after += 1
        while after > first and (
            low[after - 1] in self.tables.ties or low[after - 1] in self.tables.articles
        ):
            after -= 1
        if after == first or not low[first][:1].isalnum():
            return None
        if not self._fits(first, after, kind) or (after == first + 1 and self._acts_on_pronoun(first)):
            return None
        shown = VALUE if kind in _VALUES else _KINDS.get(kind, "thing")
        return PhraseAt(Mention(name=self.words.cut(first, after), kind=shown), at, after)

    def _acts_on_pronoun(self, at: int) -> bool:
        """Watching them: without its object it says nothing."""
        low = self.words.low
        return low[at].endswith("ing") and low[at + 1] in (
            "them",
            "him",
            "her",
            "it",
            "you",
            "us",
            "me",
            "that",
        )

    def _goes_on(self, at: int, first: int, ties: bool) -> bool:
        low, tables = self.words.low, self.tables
        word = low[at]
        if self._is_time(at) or (tables.inverts and word in tables.frames):
            return False
        if word in tables.stops:
            if ties and at > first and word in ("my", "this", "these", "those"):
                return True
            return at > first and word == "'s" and low[at + 1].isalpha() and low[at + 1] not in tables.stops
        if word in tables.ties and word != "of":
            return ties and at > first
        return word[0].isalnum()

    def _fits(self, first: int, after: int, kind: str) -> bool:
        """Whether the words are what an object of this kind must have."""
        allowed = self.tables.classes.get(kind)
        if allowed is None:
            return True
        for at in range(first, after):
            if self.words.low[at] in allowed:
                return True
        return kind in self.tables.named_kinds and self.is_name(first)
