"""From a text to its statements: sentences, a look for words that matter, then the rules at each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Final

from ..dates import Dated, dates_in, read_letters
from .copula_rules import read_copula
from .event_rules import read_event
from .instruction_rules import read_instruction
from .kin_rules import read_having, read_kin
from .phrase_rules import PHRASE_WORDS, read_phrase
from .sentence_reading import SentenceReading
from .sentence_words import LONGEST, SentenceWords, split_words
from .statement import Statement
from .verb_rules import read_verb
from .word_tables import WordTables, tables_of

Rule = Callable[[SentenceReading, int], object]

FEWEST: Final = 4  # words that tell something, and a comma, before a question
FEWEST_ASKED: Final = 3  # words of the question
_TAGGED: Final = frozenset({"n't", "not", "that", "this", "it", "he", "she", "they"})
_RELATIVE: Final = frozenset({"which", "who", "whose", "whom", "where", "wo", "was", "wer"})
_LINKS: Final = frozenset({"so", "and", "but", "then", "und", "aber", "also"})
MOST: Final = 64  # statements of one text
_RULES: Final[dict[int, Mapping[str, tuple[Rule, ...]]]] = {}  # by the id of a language's tables, which stay


def read_facts(
    text: str, *, said: datetime, language: str = "en", dated: Sequence[Dated] | None = None
) -> tuple[Statement, ...]:
    """What a text states, by rules, in the order of the text. Pure; nothing is raised for any text.

    Only the first `LONGEST` characters are read. `dated` are the text's time expressions, if the caller has
    read them already (`dates_in(text, said, past=False)`).
    """
    tables = tables_of(language)
    if tables is None:
        return ()
    text = text[:LONGEST]
    if not may_have(text, tables.triggers):
        return ()
    found: list[Statement] = []
    for words in split_words(text, tables.triggers):
        if _is_telling(words, tables):
            if dated is None:
                dated = dates_in(text, said, language=language, past=False)
            found.extend(_read_sentence(words, tables, dated, said))
            if len(found) >= MOST:
                break
    return tuple(_unique(found)[:MOST])


def may_have(text: str, triggers: frozenset[str]) -> bool:
    """False where no word of a text is one that rules know: a look at its letters, read for its dates too."""
    if not text.isascii() or "'" in text:  # a clitic or an accent parts the letters of a word
        return True
    words, has_digits = read_letters(text)
    return has_digits or not _list_letters(triggers).isdisjoint(words)


@cache
def _list_letters(triggers: frozenset[str]) -> frozenset[bytes]:
    """One run of letters of each word, its longest: "mother" stands for mother-in-law."""
    runs: set[bytes] = set()
    for trigger in triggers:
        words, _ = read_letters(trigger)
        if words:  # a number has none, and a text with digits is not asked
            runs.add(max(words, key=len))
    return frozenset(runs)


def _is_telling(words: SentenceWords, tables: WordTables) -> bool:
    """Whether a sentence that has a word that rules know may state anything: no question, no secret."""
    if words.mark == "?" and not _drop_question(words, tables):
        return False
    if not tables.secrets.isdisjoint(words.low):
        return False
    return not _asks(words, tables)


def _drop_question(words: SentenceWords, tables: WordTables) -> bool:
    """Whether a sentence tells something before it asks: "I live in Porto, can you find me a dentist?".

    Then only what it tells is left of it.
    """
    if words.low[1] in tables.asking:
        return False
    for at in range(FEWEST, words.last - FEWEST_ASKED):
        if words.low[at] == "," and _opens_question(words.low, at + 1, tables):
            words.keep(at - 1)
            return True
    return False


def _opens_question(low: list[str], at: int, tables: WordTables) -> bool:
    """Whether a question of its own begins at a word; "so" and "and" may stand before it.

    "Is that so?" and "doesn't she?" ask whether what was said is true.
    """
    if low[at] in _LINKS:
        at += 1
    if low[at] not in tables.asking or low[at + 1] in _TAGGED:
        return False
    return low[at] not in _RELATIVE or low[at + 1] in tables.asking


def _asks(words: SentenceWords, tables: WordTables) -> bool:
    first, second = words.low[1], words.low[2]
    if first not in tables.asking:
        return False
    return second in tables.speaker or second in tables.pronouns or second in ("you", "is", "are", "'s", "do")


def _read_sentence(
    words: SentenceWords, tables: WordTables, dated: Sequence[Dated], said: datetime
) -> list[Statement]:
    reading = SentenceReading(words, tables, _list_within(words, dated), said)
    if read_instruction(reading):
        return reading.statements
    try:
        _read_words(reading, _unreal_from(words, tables))
    except (LookupError, ValueError):  # no slip of a rule may lose the message that is being stored
        return []
    return reading.statements


def _list_within(words: SentenceWords, dated: Sequence[Dated]) -> list[Dated]:
    """The time expressions of a sentence."""
    within: list[Dated] = []
    for one in dated:
        if words.starts[1] <= one.start < words.ends[words.last]:
            within.append(one)
    return within


def _unreal_from(words: SentenceWords, tables: WordTables) -> int:
    """The word from which on a sentence supposes something; beyond its end if it does not."""
    if not tables.unreal.isdisjoint(words.low):
        for at in range(1, words.last + 1):
            if words.low[at] in tables.unreal:
                return at
    return words.last + 1


def _read_words(reading: SentenceReading, end: int) -> None:
    """Each rule at each word that calls it."""
    low, rules = reading.words.low, _list_rules(reading.tables)
    for at in range(1, end):
        for rule in rules.get(low[at], ()):
            rule(reading, at)


def _list_rules(tables: WordTables) -> Mapping[str, tuple[Rule, ...]]:
    """By word: the rules that it calls. Made once for each language."""
    known = _RULES.get(id(tables))
    if known is None:
        known = _RULES[id(tables)] = _collect_rules(tables)
    return known


def _collect_rules(tables: WordTables) -> dict[str, tuple[Rule, ...]]:
    callers: tuple[tuple[Iterable[str], Rule], ...] = (
        (tables.frames, read_verb),
        (tables.copulas, read_copula),
        (tables.having, read_having),
        (tables.kin, read_kin),
        (tables.pets, read_kin),
        (tables.events, read_event),
        (PHRASE_WORDS, read_phrase),
    )
    rules: dict[str, tuple[Rule, ...]] = {}
    for words, rule in callers:
        for word in words:
            rules[word] = (*rules.get(word, ()), rule)
    return rules


def _unique(found: list[Statement]) -> list[Statement]:
    """Without what two rules read in one sentence; the surer one stays."""
    kept: dict[tuple[object, ...], Statement] = {}
    for one in found:
        key = (
            one.subject.name,
            one.subject.reference,
            one.subject.role,
            one.relation,
            one.object.name.lower(),
            one.ended,
            one.start,
        )
        if key not in kept or kept[key].confidence < one.confidence:
            kept[key] = one
    return list(kept.values())
