"""What the text of an answer has beside the right words: a temperature for "how hot", a reason for "why".

A question is read once for what it asks for. Then the texts of the best hits are looked at: each thing that a
text has of it adds to the log odds that it is the answer. The weights were fitted on five sets, leaving one
set out at a time (docs/how-it-works/retrieval.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

from ..text.flags import list_names, read_words
from ..text.stopwords import STOP_WORDS
from ..text.thesaurus_words import FORMS
from ..text.worded_pattern import WordedPattern
from .measures import list_measures

READ: Final = 600  # characters of a text that are looked at
SHORT: Final = 200  # characters of a statement about one thing
MEASURED: Final = 2.0
REASONED: Final = 1.6
DENIED: Final = 1.75
DENIED_AFTER: Final = 3  # words after a "not" among which the denied one is
OPPOSITE: Final = 4.0  # if it says the opposite of what is denied
CONTRADICTED: Final = 2.0  # taken off if it denies what is asked for
AFFIRMED: Final = 4.0  # taken off if it says that what is denied is so
ANSWERED_NO: Final = 0.85
PREFERRED: Final = 0.9
DONE: Final = 1.5  # if it begins with the deed that is asked about
PLACED: Final = 0.65
PERSONAL: Final = 1.5  # if it names somebody whom the question does not name
ONLY_NAMED: Final = 1.5  # taken off if it names nobody else
COUNTED: Final = 4.0  # if it has all numbers of the question
ARTICLES: Final = frozenset(("the", "a", "an"))
IN_ORDER: Final = 2.6  # if it has all pairs of neighbouring words of the question


_WHY: Final = WordedPattern(r"\bwhy\b|\bwhat (?:was|is) the reason\b|\bhow come\b", "why reason come")
_REASON: Final = read_words("because since so due as reason therefore otherwise too caused fear")
_WHERE: Final = WordedPattern(
    r"\bwhere\b|\b(?:what|which) (?:place|city|country|town|room|street|village|shelf|drawer)\b",
    "where place city country town room street village shelf drawer",
)
_PLACE: Final = re.compile(
    r"\b(?:in|at|on|under|behind|above|below|beside|between|beneath|near|inside|next to|to|from|opposite"
    r"|into|through|across|along|by) (?:the|an?|our|my|his|her|their|its|your|[A-Z]\w+)"
    r"|\b(?:upstairs|downstairs|abroad|here|there|home)\b"
)
_WHO: Final = WordedPattern(r"\bwho(?:m|se)?\b", "who whom whose")
_WHICH_ONE: Final = re.compile(r"(?:which|who)\b")
_YES_OR_NO: Final = WordedPattern(
    r"(?:is|are|am|do|does|did|can|could|will|would|should|may|has|have|was|were)\b"
)
_NOT: Final = read_words(
    "not cannot don't doesn't didn't can't couldn't won't wouldn't isn't aren't wasn't weren't "
    "shouldn't mustn't hasn't haven't"
)
_DENIES: Final = _NOT | read_words(
    "no never dislike dislikes hate hates avoid avoids against forbidden without less afraid allergic"
)
_DENIAL: Final = _NOT | read_words(
    "no never dislike dislikes hate hates avoid avoids against forbidden without nobody nothing none "
    "stop stopped stops refuse refuses allergic away terrified afraid intolerant "
    "fail fails failed failing unable missing outstanding pending overdue open still yet false"
)
_NEGATION: Final = _NOT | read_words("no never without")
_INSTEAD: Final = read_words("except but only instead other than just anymore longer")
_LIKES: Final = read_words(
    "like likes love loves prefer prefers preferred favourite favorite want wants enjoy enjoys "
    "dislike dislikes hate hates afraid allergic avoid avoids into fond may can should must mind "
    "rather okay allowed wish interested"
)
_LIKING: Final = _NOT | read_words(
    "like likes love loves prefer prefers favourite favorite want wants enjoy enjoys dislike dislikes "
    "hate hates afraid scared terrified allergic avoid avoids fond mad crazy fan rather never always "
    "please longer anymore against refuse refuses only sick fed decided keen addicted allow allows "
    "allowed away intolerant without instead"
)
_ENDING: Final = re.compile(r"(?<=\w{3})(?:ing|ed|es|(?<!s)s|e)$")
_BLANKS: Final = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) != "'"} | {
    0x2019: "'"
}
_NUMBER: Final = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?!\w)")


@dataclass(frozen=True, slots=True)
class Wants:
    """What a question asks for: what the text of an answer has.

    measures  values with a unit, any of which will do
    words     words, any of a set, with what they add to the log odds
    denied    what the question says is not so: a text that says that it is, is no answer
    affirmed  what the question says is so: a text that denies it is no answer
    liking    what somebody likes, wants or may do
    place, person  a place; somebody whom the question does not name
    pairs     neighbouring words of the question
    numbers   amounts of the question
    deeds     forms of what the question says that somebody did
    low       the question in small letters
    """

    measures: tuple[WordedPattern, ...] = ()
    words: tuple[tuple[frozenset[str], float], ...] = ()
    denied: frozenset[str] = frozenset()
    affirmed: frozenset[str] = frozenset()
    liking: bool = False
    place: bool = False
    person: bool = False
    pairs: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    deeds: frozenset[str] = frozenset()
    low: str = ""


def read_wants(question: str, numbered: str, *, several: bool) -> Wants:
    """Reads a question, and `numbered` (the question without its times and identifiers) for amounts.

    One that asks for several is not answered by one number, place or person.
    """
    low = question.lower()
    words = low.translate(_BLANKS).split()
    held = frozenset(words)
    measures: tuple[WordedPattern, ...] = ()
    if not several:
        measures = list_measures(low)
    return Wants(
        measures=measures,
        words=tuple(_list_words(low, held)),
        denied=_list_denied(low, words),
        affirmed=_list_affirmed(low, words, held),
        liking=not _LIKES.isdisjoint(held),
        place=not several and _WHERE.search(low) is not None,
        person=not several and _WHO.search(low) is not None,
        pairs=_list_pairs(words),
        numbers=tuple(number.replace(",", "") for number in _NUMBER.findall(numbered)),
        deeds=_list_deeds(words),
        low=low,
    )


def _list_words(low: str, held: frozenset[str]) -> Iterator[tuple[frozenset[str], float]]:
    if _WHY.search(low):
        yield _REASON, REASONED
    if not _DENIES.isdisjoint(held):
        yield _DENIAL, DENIED
    if _YES_OR_NO.match(low):
        yield _DENIAL, ANSWERED_NO


def _list_denied(low: str, words: list[str]) -> frozenset[str]:
    """What the question says is not so: the root of "paid" in "which invoice has not been paid?".

    "Why not" and "is it not" are answered by what is so as well as by what is not.
    """
    if _WHY.search(low) or _YES_OR_NO.match(low):
        return frozenset()
    common = STOP_WORDS["en"]
    found = []
    for at, word in enumerate(words):
        if word in _NOT:
            after = [one for one in words[at + 1 : at + 1 + DENIED_AFTER] if one not in common]
            found += after[:1]
    return frozenset(map(_cut_ending, found))


def _list_affirmed(low: str, words: list[str], held: frozenset[str]) -> frozenset[str]:
    """The roots of "brought" and "billing" in "which release brought billing?"."""
    if not _WHICH_ONE.match(low) or not _DENIES.isdisjoint(held):
        return frozenset()
    return frozenset(_cut_ending(word) for word in words if word not in STOP_WORDS["en"])


def _cut_ending(word: str) -> str:
    return _ENDING.sub("", word)


def _list_deeds(words: list[str]) -> frozenset[str]:
    """The forms of "buy" in "what did I buy": a note of it may begin with one of them."""
    for at, word in enumerate(words[:-2]):
        if word == "did" and words[at + 1] in ("i", "we", "you"):
            return frozenset(_list_forms(words[at + 2]))
    return frozenset()


def _list_forms(verb: str) -> Iterator[str]:
    root = verb.removesuffix("e")
    yield from (verb, f"{root}ed", f"{verb}{verb[-1]}ed", f"{verb[:-1]}ied")
    yield from _read_forms().get(verb, ())


@cache
def _read_forms() -> dict[str, list[str]]:
    """Irregular verbs: all forms by each of them."""
    found: dict[str, list[str]] = {}
    for line in FORMS.splitlines():
        forms = line.split()
        for form in forms:
            found.setdefault(form, []).extend(forms)
    return found


def _list_pairs(words: list[str]) -> tuple[str, ...]:
    """Neighbouring words of a question, unless both are common, or an article comes first."""
    common = STOP_WORDS["en"]
    pairs = []
    for one, other in pairwise(words):
        if one not in ARTICLES and (one not in common or other not in common):
            pairs.append(f"{one} {other}")
    return tuple(dict.fromkeys(pairs))


def weigh_text(text: str, wants: Wants) -> float:
    """What a text adds to the log odds that it answers the question."""
    read = text[:READ]
    low = read.lower()
    weight = IN_ORDER * _share_held(low, wants.pairs)
    if wants.words or wants.liking:
        weight += _weigh_words(low.translate(_BLANKS).split(), len(text), wants)
    if wants.affirmed and len(text) <= SHORT and _denies_any(low.translate(_BLANKS).split(), wants.affirmed):
        weight -= CONTRADICTED
    if wants.measures and has_measure(read, wants):
        weight += MEASURED
    if wants.place and has_place(read):
        weight += PLACED
    if wants.person:
        weight += _weigh_names(read, wants)
    if wants.deeds and low.partition(" ")[0] in wants.deeds:
        weight += DONE
    if wants.numbers:
        weight += COUNTED * _share_held(low.replace(",", ""), wants.numbers)
    return weight


def _weigh_words(words: list[str], length: int, wants: Wants) -> float:
    total = 0.0
    for sought, weight in wants.words:
        if not sought.isdisjoint(words):
            total += weight
    if wants.liking and length <= SHORT and not _LIKING.isdisjoint(words):
        total += PREFERRED
    if wants.denied and length <= SHORT:
        total += _weigh_denied(words, wants.denied)
    return total


def _weigh_denied(words: list[str], denied: frozenset[str]) -> float:
    """More if a text has the opposite ("unpaid"), less if it says that what is denied is so."""
    roots = set(map(_cut_ending, words))
    for root in denied:
        if f"un{root}" in roots:
            return OPPOSITE
        if root in roots and _DENIAL.isdisjoint(words):
            return -AFFIRMED
    return 0.0


def _denies_any(words: list[str], affirmed: frozenset[str]) -> bool:
    """Whether one of the next words after a "no", "not" or "without" is one that the question affirms.

    A text that goes on to say what is so instead does answer.
    """
    if _NEGATION.isdisjoint(words) or not _INSTEAD.isdisjoint(words):
        return False
    for at, word in enumerate(words):
        if word in _NEGATION and not affirmed.isdisjoint(
            map(_cut_ending, words[at + 1 : at + 1 + DENIED_AFTER])
        ):
            return True
    return False


def repeats(text: str, wants: Wants) -> bool:
    """Whether a text is the question, word for word."""
    return bool(wants.low) and text.lower().translate(_BLANKS).split() == wants.low.translate(_BLANKS).split()


def has_measure(text: str, wants: Wants) -> bool:
    """Whether a text has a value of the kind that is asked for."""
    return any(pattern.search(text) for pattern in wants.measures)


def has_place(text: str) -> bool:
    """Whether a text says where something is."""
    return _PLACE.search(text) is not None


def denies_answer(text: str, wants: Wants) -> bool:
    """Whether a question wants a yes or a no, and a text has a word for a no."""
    if not _YES_OR_NO.match(wants.low):
        return False
    return not _DENIAL.isdisjoint(text[:READ].lower().translate(_BLANKS).split())


def has_answer_form(text: str, wants: Wants) -> bool:
    """Whether a text has a value, a place or a person, whichever is asked for."""
    if wants.place and _PLACE.search(text):
        return True
    if wants.person and _weigh_names(text, wants) > 0:
        return True
    return has_measure(text, wants)


def _weigh_names(text: str, wants: Wants) -> float:
    """More for a name that the question does not have, less for those only that it has."""
    names = list_names(text)
    for name in names:
        if name.lower() not in wants.low:
            return PERSONAL
    if names:
        return -ONLY_NAMED
    return 0.0


def _share_held(text: str, parts: tuple[str, ...]) -> float:
    held = 0
    for part in parts:
        if part in text:
            held += 1
    return held / max(1, len(parts))
