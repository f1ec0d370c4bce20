"""Names that follow a verb: people, places, organisations and titles, and where a clause ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .sentence_words import SentenceWords, is_quote
from .statement import Mention
from .subject_phrases import ARTICLES, LISTS, LONGEST_NAME, OWNERS, PhraseAt, is_name
from .vocabulary import Vocabulary

NAMING: Final = frozenset(("called", "named", "nicknamed"))
KINDS: Final = {"place": "place", "org": "organisation", "school": "organisation", "group": "organisation"}
_LONGEST_TITLE: Final = 12  # words


class NamePhrases:
    """Reads the names that begin at a word. `times` are where times begin and end."""

    __slots__ = ("known", "low", "times", "words")

    def __init__(self, words: SentenceWords, known: Vocabulary, times: Mapping[int, int]) -> None:
        self.words: SentenceWords = words
        self.low: list[str] = words.low
        self.known: Vocabulary = known
        self.times: Mapping[int, int] = times

    def is_name(self, at: int) -> bool:
        return is_name(self.words, self.known, at)

    def is_time(self, at: int) -> bool:
        """Tells whether a time expression begins at a word."""
        return bool(self.times) and at <= self.words.last and self.words.starts[at] in self.times

    def ends_clause(self, at: int) -> bool:
        """Tells whether a clause may end before a word: at a mark, a conjunction, a time."""
        word = self.low[at]
        if at > self.words.last or not word[0].isalnum() or word in self.known.stops:
            return True
        return word in ("since", "for", "in", "on", "and") or self.is_time(at)

    def begins_clause(self, at: int, after: int) -> bool:
        """Tells whether what looks like another item is a clause: "… and Leo works at Acme"."""
        first, known, next_word = self.low[at], self.known, self.low[after]
        if first in known.frames and after - at <= 4 and not first.endswith("ing"):
            return True
        if first in known.adverbs or first in known.hedges or self._looks_like_verb(at):
            return True
        return next_word in known.frames or next_word in known.effects or next_word in known.adverbs

    def _looks_like_verb(self, at: int) -> bool:
        """Keeps the window open · practises in the study."""
        word, after = self.low[at], self.low[at + 1]
        if not word.endswith("s") or word.endswith("ss") or self.words.capital(at):
            return False
        return after in ARTICLES or after in OWNERS or (after in self.known.ties and after != "of")

    def own_name(self, at: int) -> PhraseAt | None:
        """I'm Nina."""
        named = self.proper(at, "name")
        if named is None or not (self.ends_clause(named.after) or self.low[named.after] == "from"):
            return None
        return named

    def proper(self, at: int, kind: str) -> PhraseAt | None:
        if is_quote(self.low[at]):
            return self._title(at)
        first = at + (self.low[at] in ARTICLES)
        if kind == "place" and first > at and self.low[at] != "the":
            return None
        after = self._name_after(first)
        if after == first or (kind in ("place", "org") and self._is_part(after)):
            return None
        if kind == "place" and self.low[after] == "," and self.is_name(after + 1):
            further = self._name_after(after + 1)
            after = after if self.begins_clause(after + 1, further) else further
        shown = KINDS.get(kind, kind if kind == "person" else "")
        return PhraseAt(Mention(name=self.words.cut(first, after), kind=shown), at, after)

    def _title(self, at: int) -> PhraseAt | None:
        """ "Gone with the Wind": what stands in quotation marks."""
        for end in range(at + 2, min(at + _LONGEST_TITLE, self.words.last + 1)):
            if is_quote(self.low[end]):
                return PhraseAt(Mention(name=self.words.cut(at + 1, end)), at, end + 1)
        return None

    def _is_part(self, at: int) -> bool:
        """Tells whether a noun continues a name: "the LGBTQ center" is not "LGBTQ"."""
        word, known = self.low[at], self.known
        if not word[:1].isalpha() or self.is_time(at) or word in LISTS or word in ARTICLES:
            return False
        apart = (known.stops, known.ties, known.adverbs, known.effects, known.frames, known.hedges)
        return not any(word in words for words in apart)

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
