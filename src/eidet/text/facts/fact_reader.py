"""Parses a text into statements, sentence by sentence, by rules for verbs, kin and events."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Final

from ..dates import Dated, dates_in
from .clauses import Mood, SentenceReading, detect_mood
from .phrases import FIRST_PERSON, NAMING, OWNERS, PRONOUNS, SPEAKER, mention_owner, name_owner
from .sentence_words import LONGEST, SentenceWords, split_words
from .statement import VALUE, Mention, Nature, Statement
from .vocabulary import ATTRIBUTE, FAVOURITE, PRESENT, Vocabulary, load_vocabulary

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
        (_BE, _parse_is),
        (_HAVING, _parse_having),
        (known.frames, SentenceReading.parse_verb),
        (known.kin, _parse_kin),
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


# --- "is" with attributes, kin and favourites: "my phone number is …", "Tom is my boss"

_PATTERNS: Final = {
    "phone": re.compile(r"\+?\(?\d[\d ().\-/]{5,20}\d"),
    "email": re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}"),
    "website": re.compile(r"(?:https?://)?[\w-]{1,64}(?:\.[\w-]{1,64}){1,5}(?:/[\w./-]{0,200})?"),
    "age": re.compile(r"\d{1,3}\b"),
}
_NUMBER: Final = re.compile(r"[v$€£]?\s?\d[\w.,:/-]*(?:\s[A-Za-z%]+)?")
_LONGEST_TEXT: Final = 120  # characters of a value
_FAVOURITES: Final = frozenset(("favourite", "favorite", "fav", "fave"))
_NEW: Final = frozenset(("new", "current", "latest", "updated", "own"))
_OLD: Final = frozenset(("old", "former", "previous"))
_UNREAL: Final = frozenset(("unreal", "will", "may", "not", "none"))
_FREE: Final = frozenset(  # attributes whose value may be any words
    ("status", "works_as", "hobby", "studies", "nationality", "religion", "pronouns", "budget", "time_zone")
)


def _parse_is(reading: SentenceReading, copula: int) -> bool:
    """Parses a form of "be" with an attribute, a favourite or kin; returns False for any other clause."""
    mood = detect_mood(reading.words, copula, reading.known, PRESENT)
    if _UNREAL & mood.effects or reading.low[copula] == "been":
        return False
    past, begin = reading.low[copula] in ("was", "were"), copula + 1
    if reading.low[copula] != "'s" and reading.low[begin] not in ("not", "n't", "called", "named"):
        held = _find_owner(reading, mood.subject_end)
        if held is not None and _say(reading, *held, begin, past):
            return True
    return _parse_kin_of(reading, copula, mood, past)


def _find_owner(reading: SentenceReading, end: int) -> tuple[Mention, list[str]] | None:
    """Parses "my phone number" or "Ann's favourite colour" into the owner and the words of the attribute."""
    low = reading.low
    at = next((at for at in range(end - 1, max(end - 6, 0), -1) if low[at] in OWNERS or low[at] == "'s"), 0)
    if not at:
        return None
    name = low[at + 1 : end + 1]
    if reading.words.capital(end) or not all(word[0].isalpha() for word in name):
        return None  # "my daughter Ivy" is a person
    if low[at] in OWNERS:
        return mention_owner(OWNERS[low[at]]), name
    subjects = reading.phrases.subjects(at - 1)
    return (subjects[0], name) if len(subjects) == 1 else None


def _say(reading: SentenceReading, owner: Mention, name: list[str], begin: int, past: bool) -> bool:
    known = reading.known
    if name[0] in _FAVOURITES:
        return _say_favourite(reading, owner, name[1:], begin, past)
    if name[-1] in known.kin:
        return _say_kin(reading, owner, name[-1], begin, past)
    if owner.role and not owner.name and name[-1] == "name":
        return _say_kin(reading, mention_owner(owner.owner), owner.role, begin, past)
    if len(name) > 1 and (name[0] in _NEW or name[0] in _OLD):
        past = past or name[0] in _OLD
        name = name[1:]
    relation = _find_relation(reading, name)
    value = _find_value(reading, relation, begin)
    if value is None:
        return False
    reading.add(begin, [owner], relation, [value], ended=past)
    reading.subject = [owner]
    return True


def _find_relation(reading: SentenceReading, name: list[str]) -> str:
    """Returns the catalogue's relation for an attribute, or one by its name ("jersey number" is no phone)."""
    sizes = [len(name)] if name[-1] == "number" else range(min(len(name), 3), 0, -1)
    found = (reading.known.nouns.get(" ".join(name[-size:])) for size in sizes)
    return next(filter(None, found), "_".join(name) + ATTRIBUTE)


def _find_value(reading: SentenceReading, relation: str, begin: int) -> Mention | None:
    """Parses the value that follows; None if it does not fit the relation."""
    words = reading.words
    if begin > words.last:
        return None
    rest = words.text[words.starts[begin] : words.end(words.last)]
    if pattern := _PATTERNS.get(relation):
        found = pattern.match(rest)
        return Mention(name=found[0].strip(), kind=VALUE) if found else None
    if relation in ("birthday", "deadline"):
        start = words.starts[begin]
        dates = (one.text for one in reading.dated if start <= one.start <= start + 12)
        return next((Mention(name=text, kind=VALUE) for text in dates), None)
    if relation == "address":
        return Mention(name=rest[:_LONGEST_TEXT].strip(), kind=VALUE)
    if relation == "works_as" and reading.known.jobs.isdisjoint(words.low[begin : begin + 5]):
        return None
    return _find_open_value(reading, relation, begin, rest)


def _find_open_value(reading: SentenceReading, relation: str, begin: int, rest: str) -> Mention | None:
    """Parses a name or a number for any attribute; other words only for attributes that allow them."""
    objects, _ = reading.phrases.objects(begin, "name")
    if objects:
        kind = {"owner": "person", "from": "place", "lives_in": "place"}.get(relation, VALUE)
        return Mention(name=objects[0].name, kind=kind)
    if number := _NUMBER.match(rest):
        return Mention(name=number[0], kind=VALUE)
    if relation in _FREE:
        free, _ = reading.phrases.objects(begin, "value")
        return free[0] if free else None
    return None


# --- favourites


def _say_favourite(reading: SentenceReading, owner: Mention, name: list[str], begin: int, past: bool) -> bool:
    """Adds the preference of "my favourite colour is blue"; returns whether there is one."""
    objects, _ = reading.phrases.objects(begin, "activity")
    if not name or past or not objects:
        return False
    reading.add(begin, [owner], FAVOURITE + "_".join(name), objects[:3], nature=Nature.PREFERENCE)
    return True


# --- kin


def _say_kin(reading: SentenceReading, owner: Mention, role: str, begin: int, past: bool) -> bool:
    """Adds the names of "my sister is Maria"; returns False without one, as for "my sister is a nurse"."""
    names, _ = reading.phrases.objects(begin, "name")
    _add_kin(reading, owner, role, names, begin, ended=past)
    return bool(names)


def _add_kin(
    reading: SentenceReading, owner: Mention, role: str, names: list[Mention], at: int, ended: bool = False
) -> None:
    kind, named = reading.known.kind_of_kin(role), name_owner(owner)
    people = [Mention(name=one.name, kind=kind, role=role, owner=named) for one in names]
    reading.add(at, [owner], reading.known.kin[role], people, ended=ended)


def _parse_kin_of(reading: SentenceReading, copula: int, mood: Mood, past: bool) -> bool:
    """Parses "Tom is my boss" or "Maria is Ann's sister"; returns False for other clauses."""
    low, known, at = reading.low, reading.known, copula + 1
    end = next((at + far for far in range(6) if low[at + far] in known.kin), 0)
    owner = reading.phrases.owner_before(end - 1)
    if owner is None or owner[1] != at:
        return False
    subjects = reading.subjects_before(mood.subject_end)
    kind, relation = known.kind_of_kin(low[end]), known.kin[low[end]]
    people = [replace(one, kind=kind, role=low[end], owner=owner[0]) for one in subjects]
    reading.add(copula, [mention_owner(owner[0])], relation, people, sure=mood.confidence, ended=past)
    return bool(people)


def _parse_kin(reading: SentenceReading, at: int) -> None:
    """Parses kin outside a clause with "be": "my sister Maria", "Ann's husband, Tom,"."""
    owner = reading.phrases.owner_before(at - 1)
    if owner is None or reading.words.capital(at):
        return
    _add_kin(reading, mention_owner(owner[0]), reading.low[at], _names_after(reading, at), at)


def _parse_having(reading: SentenceReading, at: int) -> bool:
    """Parses "I have a sister called Maria" or "Tom adopted a kitten called Nemo"; else False."""
    low, known = reading.low, reading.known
    mood = detect_mood(reading.words, at, known, PRESENT)
    if (_UNREAL | {"past"}) & mood.effects:
        return False
    begin = at + 1 + (low[at + 1] == "got")
    for head in range(begin, min(begin + 6, reading.words.last + 1)):
        if low[head] in known.kin:
            names = _names_after(reading, head)
            subjects = reading.subjects_before(mood.subject_end) if names else []
            if len(subjects) == 1:
                _add_kin(reading, subjects[0], low[head], names, head, ended=low[at] == "had")
            return bool(names)
        if low[head] in known.stops or low[head] in known.ties or not low[head][0].isalnum():
            return False
    return False


def _names_after(reading: SentenceReading, at: int) -> list[Mention]:
    """Parses the names of "sister Maria", "sister, Maria,", "sister (Maria)", "cats named Milo and Otis"."""
    low, begin = reading.low, at + 1
    plural = low[at].endswith("s") or low[at] == "children"
    if low[begin] in (",", "("):
        begin += 1 + (low[begin + 1] in NAMING)
        names, after = reading.phrases.objects(begin, "name")
        is_aside = low[after] in (",", ")") or after > reading.words.last
        return names if names and (is_aside or (plural and len(names) > 1)) else []
    begin += low[begin] in ("is", "'s", "are", "was") and low[begin + 1] in NAMING
    begin += low[begin] in NAMING
    names, _ = reading.phrases.objects(begin, "name", listed=plural)
    return names if plural else names[:1]
