"""A sentence taken apart for comparison: its content words and values, who, how it is meant."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from ..text import Analyzer, analyzer_of
from ..text.stopwords import STOP_WORDS
from ..text.words import code_of
from . import word_lists as lex

_PIECE = re.compile(r"\d+(?:[:.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*|['’][^\W\d_]+")
_CLITIC = re.compile(r"(n't|'(?:s|re|m|ve|d|ll))\Z")
_FULL: Final = {"ca": "can", "wo": "will", "sha": "shall"}  # what is left of "can't" without its clitic
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_ASKS = re.compile(r"[?？؟]\W*\Z")


class Sort(StrEnum):
    """What a content word stands for."""

    WORD = "word"
    NUMBER = "number"
    CLOCK = "clock"
    DAY = "day"
    NAME = "name"
    STATUS = "status"


WHOLE: Final = frozenset({Sort.NUMBER, Sort.CLOCK, Sort.DAY, Sort.NAME, Sort.STATUS})  # values, not words


class Verb(StrEnum):
    """What the verb of a sentence does to what was true before."""

    NONE = "none"
    EVENT = "event"  # happened: another one happened besides
    STATE = "state"  # holds until another one does
    GATHERING = "gathering"  # holds beside others
    BE = "be"


@dataclass(frozen=True, slots=True)
class Term:
    """A content word: its stem, as it was written, where, and after which preposition."""

    stem: str
    word: str
    sort: Sort
    at: int
    preposition: str | None

    @property
    def after(self) -> str | None:
        """The preposition without the differences that hardly matter: at Acme, for Acme."""
        return lex.PREPOSITIONS.get(self.preposition or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence, `said` with fillers and `words` without them.

    `denials` are the stems that a negation stands before, `scopes` those after "only" and the like.
    """

    said: tuple[str, ...]
    words: tuple[str, ...]
    terms: tuple[Term, ...]
    stems: frozenset[str]
    persons: frozenset[str]
    denials: tuple[str, ...]
    scopes: tuple[tuple[str, str], ...]
    ends: bool
    verb: Verb
    verb_at: int | None
    cue: int
    plans: bool
    past: bool
    asks: bool

    @property
    def denied(self) -> bool:
        return bool(len(self.denials) % 2) or self.ends


def read(sentence: str, language: str = "en") -> Sentence:
    """Fillers are left out; what has no words has no terms."""
    code = code_of(language)
    spoken = list(_split(sentence))
    written = [word for word in spoken if word.lower() not in lex.FILLERS]
    words = tuple(word.lower() for word in written)
    stop = STOP_WORDS.get(code, frozenset())
    terms = tuple(_terms(written, stop, analyzer_of(code)))
    verb, verb_at = _verb(words, terms)
    return Sentence(
        said=tuple(word.lower() for word in spoken),
        words=words,
        terms=terms,
        stems=frozenset(term.stem for term in terms),
        persons=frozenset(lex.PERSONS[word] for word in words if word in lex.PERSONS),
        denials=tuple(stem for _, stem in _before(words, terms, lex.NEGATIONS)),
        scopes=tuple(_before(words, terms, lex.SCOPES)),
        ends=any(term.stem in lex.ENDINGS or term.word in lex.ENDINGS for term in terms),
        verb=verb,
        verb_at=verb_at,
        cue=_cue(words),
        plans=any(word in lex.PLANS for word in words) or ("going", "to") in pairwise(words),
        past=any(word in lex.PAST for word in words),
        asks=bool(_ASKS.search(sentence)),
    )


def _split(sentence: str) -> Iterator[str]:
    """Words as written, numbers apart from letters, "don't" as "do" and "n't"."""
    for piece in _PIECE.findall(sentence):
        word = piece.replace("’", "'")
        clitic = _CLITIC.search(word.lower())
        if clitic and clitic.start() > 0:
            yield _FULL.get(word[: clitic.start()].lower(), word[: clitic.start()])
            yield clitic[0]
        else:
            yield word


def _terms(written: Sequence[str], stop: frozenset[str], analyzer: Analyzer) -> Iterator[Term]:
    after: str | None = None
    abbreviates = not all(map(str.isupper, written))  # "US" is no "us", unless all is written so
    for at, word in enumerate(written):
        low = word.lower()
        if low in lex.PREPOSITIONS:
            after = low
        if low in lex.AUXILIARIES:
            after = None
        if _carries(low, stop) or (abbreviates and _is_label(word, at)):
            sort = _sort(written, at)
            for stem in _stems(low, analyzer):
                yield Term(stem, low, sort, at, after)


def _is_label(word: str, at: int) -> bool:
    """ "US" and "plan B", but neither "I" nor the "A" that begins a sentence."""
    return word.isupper() and (len(word) > 1 or (at > 0 and word != "I"))


def _carries(low: str, stop: frozenset[str]) -> bool:
    """Whether a word is content: no function word, no sign of negation, change, plan or tense."""
    if low.startswith("'") or low in lex.SIGNS:
        return False
    return low not in stop or low in lex.KEPT


def _stems(low: str, analyzer: Analyzer) -> list[str]:
    if low in lex.NUMBER_WORDS:
        return [lex.NUMBER_WORDS[low]]
    if low[0].isdecimal():
        return [_THOUSANDS.sub("", low)]
    result = []
    for stem in analyzer.terms(low):
        result.append(stem.replace("our", "or") if len(stem) > 4 else stem)
    return result


def _sort(written: Sequence[str], at: int) -> Sort:
    word, low = written[at], written[at].lower()
    if low in lex.CLOCKS or ":" in low:
        return Sort.CLOCK
    if low in lex.DAYS:
        return Sort.DAY
    if low[0].isdecimal() or low in lex.NUMBER_WORDS:
        return _sort_of_number(written, at)
    if low in lex.STATUS:
        return Sort.STATUS
    if word[0].isupper() and at > 0:
        return Sort.NAME
    return Sort.WORD


def _sort_of_number(written: Sequence[str], at: int) -> Sort:
    around = {word.lower() for word in written[max(at - 1, 0) : at + 2]}
    if around & lex.DAYS:
        return Sort.DAY
    if around & lex.CLOCKS or (at and written[at - 1].lower() == "at"):
        return Sort.CLOCK
    return Sort.NUMBER


def _verb(words: Sequence[str], terms: Sequence[Term]) -> tuple[Verb, int | None]:
    """The first verb that the lexicon knows, and where it is; after "the" there is no verb."""
    by_place = {term.at: term.stem for term in terms}
    for at, word in enumerate(words):
        if word in lex.BE and (word != "'s" or words[at - 1] in lex.BEFORE_IS):
            return _after_be(words, by_place, at), at
        kind = _kind(word, by_place.get(at, ""))
        if kind is not Verb.NONE and not (at and words[at - 1] in lex.DETERMINERS):
            return (Verb.EVENT if "used" in words[:at] else kind), at
    return Verb.NONE, None


def _after_be(words: Sequence[str], by_place: Mapping[int, str], at: int) -> Verb:
    """ "is living in", "was promoted to": what is done counts; else it is plain being, or what was once."""
    following = ""
    if at + 1 < len(words):
        following = words[at + 1]
    done = ""
    if following not in lex.STATUS:
        done = by_place.get(at + 1, "")
    if done in lex.CHANGES:
        return Verb.STATE
    if words[at] in {"was", "were"}:
        return Verb.EVENT
    if done in lex.STATES and following.endswith(("ing", "ed")):
        return Verb.STATE
    return Verb.BE


def _kind(word: str, stem: str) -> Verb:
    if word in lex.EVENTS:
        return Verb.EVENT
    if stem in lex.CHANGES:
        return Verb.STATE
    if word in {"has", "have", "had"} or stem in lex.GATHERING:
        if word.endswith("ed"):
            return Verb.EVENT
        return Verb.GATHERING
    if stem in lex.STATES:
        if word.endswith("ed"):
            return Verb.EVENT
        return Verb.STATE
    if len(word) > 4 and word.endswith("ed") and stem != word:
        return Verb.EVENT
    return Verb.NONE


def _cue(words: Sequence[str]) -> int:
    """2 where the sentence says that something changed, 1 where it says "now", 0 otherwise."""
    if any(word in lex.CUES for word in words):
        return 2
    return int(any(word in lex.WEAK_CUES for word in words))


def _before(words: Sequence[str], terms: Sequence[Term], wanted: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Each wanted word with the stem that follows it, "" for none."""
    for at, word in enumerate(words):
        if word in wanted:
            following = bisect_right(terms, at, key=lambda term: term.at)
            yield word, terms[following].stem if following < len(terms) else ""
