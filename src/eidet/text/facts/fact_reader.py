"""Parses a text into statements, sentence by sentence, by rules for verbs, kin and events."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Final

from ..dates import Dated, dates_in
from .attributes import parse_having, parse_is, parse_kin
from .clauses import SentenceReading
from .sentence_words import LONGEST, SentenceWords, split_words
from .statement import VALUE, Mention, Nature, Statement
from .subject_phrases import FIRST_PERSON, PRONOUNS, SPEAKER
from .vocabulary import Vocabulary, load_vocabulary

_Rule = Callable[[SentenceReading, int], object]

_LANGUAGE: Final = "en"  # the only language of the tables
MOST: Final = 64  # statements of one text
_FEWEST: Final = 4  # words of a statement, with a comma, before a question
_FEWEST_ASKED: Final = 3  # words of the question
_LONGEST_ORDER: Final = 300  # characters of an instruction
_TAGGED: Final = frozenset(("n't", "not", "that", "this", "it", "he", "she", "they"))
_RELATIVE: Final = frozenset(("which", "who", "whose", "whom", "where"))
_LINKS: Final = frozenset(("so", "and", "but", "then"))
_BE: Final = ("am", "is", "are", "'m", "'s", "'re", "was", "were")
_HAVING: Final = ("have", "has", "had", "'ve", "adopted", "got", "own", "owns")
_DENIALS: Final = frozenset(("n't", "not"))
_BEFORE_ORDERS: Final = _DENIALS | {"do", "never", "always", "you", "should", "to"}
_QUOTED: Final = re.compile(
    r'"[^"\n]{2,2000}"|\u201c[^\u201d\n]{2,2000}\u201d|\u00ab[^\u00bb\n]{2,2000}\u00bb|\u201e[^\u201c\u201d\n]{2,2000}[\u201c\u201d]'
    r"|\u2018[^\n\u2018]{2,2000}?\u2019(?!\w)|(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w)){8,2000}'(?!\w)|^>[^\n]*",
    re.MULTILINE,
)


def read_facts(
    text: str, *, said: datetime, language: str = _LANGUAGE, dated: Sequence[Dated] | None = None
) -> tuple[Statement, ...]:
    """Parses the statements of a text, by rules, in the order of the text. Pure; raises nothing for any text.

    Only the first `LONGEST` characters are read, and only in English. `dated` are the text's time
    expressions, if the caller has found them already (`dates_in(text, said, past=False)`).
    """
    if language != _LANGUAGE:
        return ()
    text, known = text[:LONGEST], load_vocabulary()
    quoted = [range(*found.span()) for found in _QUOTED.finditer(text)]
    found: list[Statement] = []
    for words in split_words(text):
        if not _is_telling(words, known):
            continue
        if dated is None:
            dated = dates_in(text, said, language=language, past=False)
        first, last = words.starts[1], words.end(words.last)
        within = [one for one in dated if first <= one.start < last]
        found += _parse_sentence(SentenceReading(words, known, within, said, quoted))
        if len(found) >= MOST:
            break
    return _unique(found)


def _is_telling(words: SentenceWords, known: Vocabulary) -> bool:
    """Returns whether a sentence may state anything: it has a word of the rules, no question, no secret."""
    if _list_rules().keys().isdisjoint(words.low) and known.actions.isdisjoint(words.low):
        return False
    if not known.secrets.isdisjoint(words.low) or (words.mark == "?" and not _drop_question(words, known)):
        return False
    first, second = words.low[1], words.low[2]
    is_asked = second in FIRST_PERSON or second in PRONOUNS or second in ("you", "is", "are", "'s", "do")
    return first not in known.asking or not is_asked


def _drop_question(words: SentenceWords, known: Vocabulary) -> bool:
    """Returns whether a sentence states something before it asks: "I live in Porto, know a dentist?".

    If so, cuts the question off the sentence.
    """
    if words.low[1] in known.asking:
        return False
    for at in range(_FEWEST, words.last - _FEWEST_ASKED):
        if words.low[at] == "," and _opens_question(words.low, at + 1, known):
            words.keep(at - 1)
            return True
    return False


def _opens_question(low: list[str], at: int, known: Vocabulary) -> bool:
    """Returns whether a question begins at a word; "so" and "and" may precede it.

    "Is that so?" and "doesn't she?" ask whether what was said is true.
    """
    at += low[at] in _LINKS
    if low[at] not in known.asking or low[at + 1] in _TAGGED:
        return False
    return low[at] not in _RELATIVE or low[at + 1] in known.asking


def _parse_sentence(reading: SentenceReading) -> list[Statement]:
    words = reading.words
    if _is_instruction(words.low, reading.known):
        order = [Mention(name=words.sentence[:_LONGEST_ORDER], kind=VALUE)]
        reading.add(1, [SPEAKER], "instruction", order, nature=Nature.INSTRUCTION)
        return reading.statements
    low, rules, unreal = words.low, _list_rules(), reading.known.unreal
    try:
        for at in range(1, words.last + 1):
            if low[at] in unreal:  # from here on, it is hypothetical
                break
            for rule in rules.get(low[at], ()):
                if rule(reading, at) is True:
                    break
    except (LookupError, ValueError):  # a bug in a rule must not lose the message that is stored
        return []
    return reading.statements


@cache
def _list_rules() -> Mapping[str, tuple[_Rule, ...]]:
    """Maps words to the rules they trigger. A rule that returns True ends the search."""
    known = load_vocabulary()
    callers: tuple[tuple[Iterable[str], _Rule], ...] = (
        (_BE, parse_is),
        (_HAVING, parse_having),
        (known.frames, SentenceReading.parse_verb),
        (known.kin, parse_kin),
        (known.pets, parse_kin),
    )
    rules: dict[str, tuple[_Rule, ...]] = {}
    for words, rule in callers:
        for word in words:
            rules[word] = (*rules.get(word, ()), rule)
    return rules


def _unique(found: list[Statement]) -> tuple[Statement, ...]:
    """Drops duplicates from several rules in one sentence; keeps the statement with more confidence."""
    kept: dict[tuple[object, ...], Statement] = {}
    for one in found:
        who = (one.subject.name, one.subject.reference, one.subject.role)
        key = (*who, one.relation, one.object.name.lower(), one.ended, one.start)
        if key not in kept or kept[key].confidence < one.confidence:
            kept[key] = one
    return tuple(kept.values())[:MOST]


# --- standing instructions


def _is_instruction(low: list[str], known: Vocabulary) -> bool:
    """Returns whether a sentence instructs the assistant from now on. Its words are lower case."""
    at, is_polite = 1, False
    while low[at] in known.leading:
        is_polite = is_polite or low[at] in known.polite
        at += 1
    if begin := _find_end(low, at, known.openings):
        return low[begin + (low[begin] == ",")] not in known.bystanders
    if (begin := _find_end(low, at, known.before_actions)) and _begins_order(low, begin, known):
        return True
    if (begin := _find_end(low, at, known.occasions)) and "," in low[begin:]:
        return _begins_order(low, low.index(",", begin) + 1, known)
    says_ever = is_polite or not known.ever.isdisjoint(low)
    if low[at] == "do" and low[at + 1] in _DENIALS:
        return says_ever and low[at + 2] in known.actions and low[at + 3] != "up"
    if low[at] in ("stop", "avoid", "quit") and low[at + 1].endswith("ing"):
        return is_polite or _is_action(low[at + 1], known)
    if low[at] == "keep" and low[at + 1].endswith("ing"):
        return False  # "keep going and never give up"
    if low[at] in known.actions and _comes_first(low, at + 1):
        return True
    is_about_answers = low[at] == "keep" and not known.answers.isdisjoint(low[at : at + 5])
    is_order = low[at] in known.actions and low[at + 1] != "up"
    return is_about_answers or (is_order and not known.ever.isdisjoint(low))


def _comes_first(low: list[str], at: int) -> bool:
    """Returns whether "before you …" or "before …ing" follows: "check with me before booking"."""
    while low[at] in ("me", "us", "with", "first"):
        at += 1
    return low[at] == "before" and (low[at + 1] == "you" or low[at + 1].endswith("ing"))


def _find_end(low: list[str], at: int, phrases: frozenset[str]) -> int:
    """Returns the place after the longest of some phrases that begins at a word; 0 if none does."""
    sizes = range(6, 0, -1)
    return next((at + size for size in sizes if " ".join(low[at : at + size]) in phrases), 0)


def _begins_order(low: list[str], at: int, known: Vocabulary) -> bool:
    """Returns whether an order begins here: "answer …", "don't answer …", ", please answer …"."""
    while low[at] in known.leading or low[at] in _BEFORE_ORDERS:
        at += 1
    return low[at] in known.actions and low[at + 1] != "up"


def _is_action(gerund: str, known: Vocabulary) -> bool:
    """Returns whether a gerund is of an action: using, adding, putting."""
    stem = gerund[:-3]
    doubled = stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else stem
    return not known.actions.isdisjoint((stem, stem + "e", doubled))
