"""Who and what a sentence speaks of: subjects read backward from a verb, objects read forward."""

from __future__ import annotations

from typing import Final, NamedTuple

from .sentence_words import SentenceWords
from .statement import VALUE, Mention, Reference
from .word_tables import WordTables

_LONGEST_NAME: Final = 6  # words
_LONGEST_THING: Final = 8
_KINDS: Final = {"place": "place", "org": "organisation", "school": "organisation", "group": "organisation"}
_VALUES: Final = frozenset({"value", "job", "number", "language", "date", "text"})
_ANIMALS: Final = "pet"


class PhraseAt(NamedTuple):
    """A mention and the words it takes: from `first` up to, not with, `after`."""

    mention: Mention
    first: int
    after: int


class MentionReader:
    """Reads mentions in one sentence. `times` are the places where a time expression begins."""

    __slots__ = ("tables", "times", "words")

    def __init__(self, words: SentenceWords, tables: WordTables, times: frozenset[int]) -> None:
        self.words = words
        self.tables = tables
        self.times = times

    def subjects(self, end: int, things: bool = False) -> tuple[list[Mention], int]:
        """Those that a noun phrase ending with word `end` names, and where it begins; none: an empty list."""
        found = self._before(end, things)
        if found is None:
            return [], end
        mentions, first = [found.mention], found.first
        while self.words.low[first - 1] in self.tables.lists or self._is_list_comma(first - 1):
            more = self._before(first - 2, things)
            if more is None:
                break
            mentions.insert(0, more.mention)
            first = more.first
        return mentions, first

    def _is_list_comma(self, at: int) -> bool:
        """A comma between two names of a list that an "and" ends."""
        return False if at < 2 else self.words.low[at] == "," and self.words.low[at - 2] == ","

    def _before(self, end: int, things: bool) -> PhraseAt | None:
        words, tables = self.words, self.tables
        if end < 1:
            return None
        word = words.low[end]
        if word in ("who", "which", "that"):
            return self._before(end - 1 - (words.low[end - 1] == ","), things)
        if word in (",", ")"):
            return self._aside(end)
        if word in tables.speaker:
            return PhraseAt(Mention(reference=Reference.SPEAKER, kind="person"), end, end + 1)
        if word in tables.pronouns:
            return PhraseAt(Mention(reference=Reference(tables.pronouns[word])), end, end + 1)
        if self.is_name(end):
            return self._name_before(end)
        if word in tables.kin or word in tables.pets:
            return self._role_before(end)
        if things:
            return self._thing_before(end)
        return None

    def _aside(self, end: int) -> PhraseAt | None:
        """Ann, my sister, … · Ann (my sister) …: who stands before the aside, with the role in it."""
        role = self._role_before(end - 1)
        if role is None or self.words.low[role.first - 1] not in (",", "("):
            return None
        name = self._before(role.first - 2, things=False)
        if name is None or not name.mention.name:
            return None
        return PhraseAt(
            Mention(name=name.mention.name, kind="person", role=role.mention.role, owner=role.mention.owner),
            name.first,
            end + 1,
        )

    def _name_before(self, end: int) -> PhraseAt:
        first = end
        while end - first < _LONGEST_NAME and self.is_name(first - 1):
            first -= 1
        name = self.words.cut(first, end + 1)
        kin = self._role_before(first - 1)
        if kin is None:
            return PhraseAt(Mention(name=name), first, end + 1)
        kind = "person"
        if kin.mention.role in self.tables.pets:
            kind = "thing"
        return PhraseAt(
            Mention(name=name, kind=kind, role=kin.mention.role, owner=kin.mention.owner),
            kin.first,
            end + 1,
        )

    def _role_before(self, end: int) -> PhraseAt | None:
        """My sister · Ann's older sister · her dog."""
        word = self.words.low[end]
        if word not in self.tables.kin and word not in self.tables.pets:
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
        if self._is_code(end):
            first = end - (low[end - 1] in self.tables.articles)
            return PhraseAt(Mention(name=self.words.raw(end), kind="thing"), first, end + 1)
        while end - at < 4 and low[at].replace("-", "").isalnum() and low[at] not in self.tables.stops:
            before = low[at - 1]
            if before in self.tables.articles or before in self.tables.possessives:
                return PhraseAt(Mention(name=self.words.cut(at, end + 1), kind="thing"), at - 1, end + 1)
            at -= 1
        return None

    def _is_code(self, at: int) -> bool:
        """A word that is a name by its look: auth-service, billing_api, node.js."""
        word = self.words.low[at]
        return word[:1].isalpha() and ("-" in word or "_" in word or "." in word or word[-1:].isdigit())

    def is_name(self, at: int) -> bool:
        words = self.words
        return words.capital(at) and words.low[at] not in self.tables.common and words.low[at] != "i"

    def objects(self, at: int, kind: str) -> tuple[list[Mention], int]:
        """The objects that begin at a word, one or a list, and the place after them; none: an empty list."""
        found = self.read(at, kind)
        if found is None:
            return [], at
        mentions, after = [found.mention], found.after
        while len(mentions) < 12:
            step = self._list_step(after)
            more = self.read(after + step, kind) if step else None
            if more is None or self._begins_clause(after + step, more):
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
        return after in tables.frames or after in tables.effects or after in tables.adverbs

    def read(self, at: int, kind: str) -> PhraseAt | None:
        if at > self.words.last:
            return None
        if kind in ("place", "name"):
            return self._proper(at, kind)
        if kind == "person":
            return self._proper(at, kind) or self._role_at(at)
        if kind == "org":
            return self._proper(at, kind) or self._thing(at, kind, ties=False)
        return self._thing(at, kind, ties=kind == "activity")

    def _proper(self, at: int, kind: str) -> PhraseAt | None:
        first = at + (self.words.low[at] in self.tables.articles)
        after = self._name_after(first)
        if after == first:
            return None
        if kind == "place" and self.words.low[after] == "," and self.is_name(after + 1):
            further = self._name_after(after + 1)
            if not self._begins_clause(after + 1, PhraseAt(Mention(), after + 1, further)):
                after = further
        name = self.words.cut(first, after)
        return PhraseAt(
            Mention(name=name, kind=_KINDS.get(kind, kind if kind == "person" else "")), at, after
        )

    def _name_after(self, first: int) -> int:
        at, low = first, self.words.low
        while (
            at <= self.words.last and at - first < _LONGEST_NAME and self.words.starts[at] not in self.times
        ):
            if self.is_name(at) or (at > first and low[at].isdigit()):
                at += 1
            elif at > first and low[at] in self.tables.inner and self.is_name(at + 1):
                at += 2
            else:
                break
        return at

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
        if not self._fits(first, after, kind):
            return None
        shown = VALUE if kind in _VALUES else _KINDS.get(kind, "thing")
        return PhraseAt(Mention(name=self.words.cut(first, after), kind=shown), at, after)

    def _goes_on(self, at: int, first: int, ties: bool) -> bool:
        low, tables = self.words.low, self.tables
        word = low[at]
        if self.words.starts[at] in self.times:
            return False
        if word in tables.stops:
            return at > first and word == "'s" and low[at + 1].isalpha() and low[at + 1] not in tables.stops
        if word in tables.ties and word != "of" and not (at == first and word == "to"):
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
