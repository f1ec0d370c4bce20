"""Scores how much lasting information a text contains.

What counts in any language: how much is said, numbers, names (capitals inside a sentence, where the
script has them), and that questions ask more than they tell. English besides: phrases by which people
state who they are, what they like, decide or promise, words of time, and small talk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from ..text.sentences import sentences
from ..text.stopwords import STOP_WORDS
from ..text.words import tokens

_READ: Final = 4_000  # characters; what a text is about shows before that, and it bounds the cost


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NUMBER = re.compile(r"\d+")
_QUESTION = re.compile(r"[?？؟]['\"”’)\]]*\Z")
_WORD = re.compile(r"[^\W\d_][^\W_]*")
_DATE = re.compile(
    r"""\b(?: (?:19|20)\d\d | \d{1,2}[:.h]\d\d | \d{1,2}\s?(?:am|pm)
    | (?:mon|tues|wednes|thurs|fri|satur|sun)day
    | january|february|march|april|june|july|august|september|october|november|december
    | yesterday|tomorrow|tonight | (?:last|next)\s(?:week|month|year|night|summer|winter|spring|fall)
    )s?\b""",
    re.VERBOSE,
)
_CUES: Final = {
    "says who they are": re.compile(
        r"\bmy name is\b|\bi(?:'m| am) (?:an? |from\b|allerg|born|vegan|vegetarian|married|single|divorced)"
        r"|\bi (?:live|work|study|grew up|was born)\b"
        r"|\bmy (?:birthday|address|phone|email|job|wife|husband|partner)\b",
    ),
    "states a preference": re.compile(
        r"\b(?:i|we|he|she|they)(?: really| also| always)? (?:like|love|hate|prefer|enjoy|dislike|adore)s?\b"
        r"|\bfavou?rite\b|\b(?:i|we) (?:always|never|usually|can't stand)\b|\bi'd rather\b"
        r"|\ballerg(?:y|ic)\b",
    ),
    "states a decision": re.compile(
        r"\b(?:decided|decision|agreed|chose|chosen|settled on|going with|made up my mind|signed up|quit"
        r"|approved|rejected|concluded)\b",
    ),
    "makes a commitment": re.compile(
        r"\b(?:i|we)(?:'ll| will| promise| must)\b|\bdeadline\b"
        r"|\bdue (?:on|by|date)\b|\b(?:don't|do not|never) forget\b|\bremember (?:to|that)\b|\bremind me\b",
    ),
    "tells what happened": re.compile(
        r"\b(?:i|we|he|she|they|my \w+|our \w+)(?: just| also| finally| recently)?"
        r" (?:\w{2,}ed|went|got|saw|met|made|took|bought|had|was|were|did|came|gave|found|began|won|lost)\b",
    ),
}
_SMALL_TALK: Final = _words("""
    hi hello hey yo hiya bye goodbye cya thanks thank thx ty please welcome sorry ok okay k yes yeah yep
    yup no nope nah sure right great good nice cool awesome amazing wow wonderful perfect lovely fine haha
    hahaha lol oh ah hmm um uh well morning afternoon evening night day weekend luck see talk later soon
    take care u much what's up glad happy sounds absolutely definitely exactly totally cheers congrats
    congratulations again always anytime problem worries been doing hear chat catch everything appreciate
    support kind words means lot really
    """)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Informativeness:
    """A score from 0 to 1, and the features that raised it."""

    value: float
    notes: tuple[str, ...] = ()


def telling(text: str) -> _Informativeness:
    """From 0 (nothing is said) to 1. Reads the first 4,000 characters.

    The weights follow what a logistic regression gave for turns that questions of two public sets were
    asked about; they are rounded, as both sets are English.
    """
    text = text[:_READ]
    words, spoken = tokens(text), sentences(text)
    if not words:
        return _Informativeness(value=0.0, notes=("says nothing",))
    low = text.lower().replace("’", "'")
    cues = [name for name, pattern in _CUES.items() if pattern.search(low)]
    details, asked, idle = _details(low, spoken), _share_of_questions(spoken), _idle(words)
    score = 0.1 + 0.45 * _much(len(words), 12) + 0.3 * _much(details, 1.5) + 0.3 * _much(len(cues), 1)
    value = min(max(score - 0.2 * asked - (0.2 if cues else 0.4) * idle, 0.05), 1.0)
    return _Informativeness(value=value, notes=tuple(_notes(details, cues, asked, idle)))


def _notes(details: int, cues: Iterable[str], asked: float, idle: float) -> Iterator[str]:
    if details:
        yield f"{details} numbers, dates or names"
    yield from cues
    if asked == 1:
        yield "only asks"
    if idle == 1:
        yield "small talk"


def _details(low: str, said: Iterable[str]) -> int:
    """Numbers, dates and names, each different one once."""
    found = chain(_NUMBER.findall(low), _DATE.findall(low), *map(_names, said))
    return len({detail.casefold() for detail in found})


def _names(sentence: str) -> list[str]:
    """Words with a capital that do not begin the sentence; not of one that shouts or only calls somebody."""
    words = _WORD.findall(sentence)
    if len(words) <= 3 or sentence.isupper():
        return []
    return [word for word in words[1:] if word[0].isupper() and len(word) > 1]


def _share_of_questions(said: Sequence[str]) -> float:
    """The share of the sentences that ask."""
    return sum(map(bool, map(_QUESTION.search, said))) / len(said)


def _idle(words: Sequence[str]) -> float:
    """The share of small talk among the words that are no function words; of those alone, all."""
    content = [word for word in words if word.partition("'")[0] not in STOP_WORDS["en"]]
    return sum(word in _SMALL_TALK for word in content) / len(content) if content else 1.0


def _much(count: int, half: float) -> float:
    """0 for none, one half at `half`, towards 1 for many."""
    return count / (count + half)
