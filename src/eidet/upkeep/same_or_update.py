"""What two similar texts are to each other: the same, an update, or two things.

Vectors cannot tell "the meeting is at 5" from "the meeting is at 4": both lie closer together than
most repetitions do. So the cosine only opens the door, and words decide: what was replaced by what,
in which place of the sentence, and whether the verb allows both to be true. In doubt two texts are
DIFFERENT: keeping both costs a little room, merging them wrongly costs a memory.

The rules of grammar are English. In other languages a text is the same as another with the same
words, and updated by one in which only numbers or a negation changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ..text.sentences import sentences
from ..text.words import tokens
from . import word_lists as lex
from .sentence_features import WHOLE, Sentence, Sort, Term, Verb, read
from .symbols import spell_symbols
from .typos import slip
from .word_order import same_roles

LEAST_COSINE: Final = 0.3
MOST_REPLACED: Final = 4  # content words that an update may exchange
MOST_SLIPS: Final = 20  # of the pen
LOOSE: Final = frozenset({Sort.WORD, Sort.NAME, Sort.STATUS})  # what capitals and lists of words tell apart
_SECRETS: Final = frozenset({"password", "passphrase", "passcode", "code", "key", "token", "secret", "pin"})
_WORD = re.compile(r"\w+")
LOOKED_AT: Final = 5  # sentences of a longer new text that may update a single old one


class Likeness(StrEnum):
    SAME = "same"
    UPDATE = "update"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the new text is to the old one, and why."""

    relation: Likeness
    because: str


def relation(old: str, new: str, cosine: float | None = None, *, language: str = "en") -> Verdict:
    """SAME: the new text says nothing else. UPDATE: it replaces the old one. DIFFERENT: keep both."""
    if old.split() == new.split():
        return _same("the same text")
    former, says = spell_symbols(old), spell_symbols(new)
    if tokens(former) == tokens(says) and tokens(former) and ("?" in old) == ("?" in new):
        if _secret_differs(old, new):
            return _update("a secret in other letters")
        return _same("the same words")
    if cosine is not None and not cosine >= LEAST_COSINE:
        return _different(f"they are too far apart ({cosine:.2f})")
    if _emoji(former) and _emoji(says) and _emoji(former) != _emoji(says):
        return _different("other feelings")
    return _judge_texts(_readings(former, language), _readings(says, language))


def _secret_differs(old: str, new: str) -> bool:
    """Capitals matter in what a password is; not at the beginning of the sentence."""
    one, other = _WORD.findall(old), _WORD.findall(new)
    return not _SECRETS.isdisjoint(map(str.lower, one)) and one[1:] != other[1:]


def _emoji(text: str) -> set[str]:
    result = set()
    for token in tokens(text):
        if not any(map(str.isalnum, token)):
            result.add(token)
    return result


def _readings(text: str, language: str) -> list[Sentence]:
    kept = []
    for reading in (read(sentence, language) for sentence in sentences(text)):
        if reading.words:
            kept.append(reading)
    return kept


def _judge_texts(before: Sequence[Sentence], after: Sequence[Sentence]) -> Verdict:
    if not before or not after:
        return _different("nothing to compare")
    known = {_key(reading) for reading in before} & {_key(reading) for reading in after}
    return _judge_rest(
        [reading for reading in before if _key(reading) not in known],
        [reading for reading in after if _key(reading) not in known],
    )


def _key(reading: Sentence) -> tuple[object, ...]:
    return reading.said if _is_thin(reading) else reading.words, reading.asks


def _judge_rest(before: Sequence[Sentence], after: Sequence[Sentence]) -> Verdict:
    """The sentences that only one text has, in their order; the pair furthest apart decides."""
    if len(before) == len(after):
        judged = [_judge(old, new) for old, new in zip(before, after, strict=True)]
        order = [Likeness.DIFFERENT, Likeness.UPDATE, Likeness.SAME]
        return min(judged, key=lambda one: order.index(one.relation), default=_same("the same sentences"))
    if len(before) == 1:
        updates = (_judge(before[0], new) for new in after[:LOOKED_AT])
        found = next((one for one in updates if one.relation is Likeness.UPDATE), None)
        return found or _different("the new text says more")
    return _different("one text says more than the other")


def _judge(old: Sentence, new: Sentence) -> Verdict:
    if _is_thin(old) or _is_thin(new):
        return _different("too little is said to compare")
    if old.asks != new.asks:
        return _different("one asks, the other tells")
    if old.persons != new.persons:
        return _different("about other persons")
    gone, come = _find_replaced(old, new)
    if not gone and not come:
        return _judge_equal(old, new)
    if old.asks:
        return _different("another question")
    return _judge_changed(old, new, gone, come)


def _is_thin(reading: Sentence) -> bool:
    """One content word, and nobody it is said of: "Great!", "Oh no, Ann!"."""
    return not reading.terms or len(reading.stems) + len(reading.persons) < 2


def _judge_equal(old: Sentence, new: Sentence) -> Verdict:
    """The same content words: still not the same if denied, planned, past, or in other roles."""
    changed = old.plans != new.plans or _tense_differs(old, new)
    if old.asks and (changed or old.denied != new.denied):
        return _different("another question")
    if old.denied != new.denied:
        return _update("one denies what the other says")
    if old.denials != new.denials or old.ends != new.ends:
        return _different("other things are denied")
    if changed:
        return _update("one is a plan or the past, the other is not")
    if not same_roles(old, new):
        return _different("the same words in other roles")
    return _same("the same content words")


def _judge_changed(old: Sentence, new: Sentence, gone: Sequence[Term], come: Sequence[Term]) -> Verdict:
    change = f"{_list(gone) or 'nothing'} became {_list(come) or 'nothing'}"
    if old.denied != new.denied:
        if _denies(old, new, gone, come):
            return _update(f"denied now: {change}")
        return _different(change)
    if not gone or not come:
        return _different(f"one says more: {change}")
    if max(len(gone), len(come)) > MOST_REPLACED or not _frame_holds(old, new, gone, come):
        return _different(f"too much differs: {change}")
    if _replaces(old, new, gone, come):
        return _update(change)
    return _different(change)


def _find_replaced(old: Sentence, new: Sentence) -> tuple[list[Term], list[Term]]:
    """The terms that only one of the two has; slips of the pen are no difference."""
    gone = []
    for term in old.terms:
        if term.stem not in new.stems and not _idle(term, new):
            gone.append(term)
    come = []
    for term in new.terms:
        if term.stem not in old.stems and not _idle(term, old):
            come.append(term)
    if len(gone) * len(come) > MOST_SLIPS**2:
        return gone, come
    slips: set[str] = set()
    for one in gone:
        for other in come:
            if slip(one, other):
                slips.update((one.stem, other.stem))
    left_gone = [term for term in gone if term.stem not in slips]
    left_come = [term for term in come if term.stem not in slips]
    return left_gone, left_come


def _idle(term: Term, other: Sentence) -> bool:
    """A function word counts only against its opposite; a word of ending is counted as a denial."""
    if term.word in lex.KEPT:
        return lex.OPPOSITES[term.word].isdisjoint(other.words)
    return term.stem in lex.ENDINGS and not other.ends


def _tense_differs(old: Sentence, new: Sentence) -> bool:
    if old.past != new.past:
        return True
    written = {term.stem: term.word.endswith("ed") for term in old.terms}
    return any(
        written.get(term.stem, term.word.endswith("ed")) != term.word.endswith("ed") for term in new.terms
    )


def _denies(old: Sentence, new: Sentence, gone: Sequence[Term], come: Sequence[Term]) -> bool:
    """Whether the new text speaks of all that the old one said, only to deny it (or the other way)."""
    if len(come) > MOST_REPLACED or not old.stems & new.stems:
        return False
    spared = lex.STATES | lex.GATHERING | lex.LIKING | lex.DISLIKING
    if new.ends != old.ends:
        return all(term.sort in WHOLE or term.stem in spared for term in gone)
    denied = set(old.denials) ^ set(new.denials)
    return not gone and bool(denied & old.stems & new.stems)


def _frame_holds(old: Sentence, new: Sentence, gone: Sequence[Term], come: Sequence[Term]) -> bool:
    """Enough is shared, and who or what it is about is the same."""
    shared = len(old.stems & new.stems) + len(old.persons & new.persons)
    if shared < max(len(gone), len(come)):
        return False
    return shared > 0 and not _in_subject(old, gone) and not _in_subject(new, come)


def _in_subject(reading: Sentence, changed: Sequence[Term]) -> bool:
    if reading.verb_at is None:
        return any(term.at == reading.terms[0].at for term in changed)
    return any(term.at < reading.verb_at for term in changed)


def _replaces(old: Sentence, new: Sentence, gone: Sequence[Term], come: Sequence[Term]) -> bool:
    """Whether what came cannot hold beside what is gone."""
    if _are_opposites(gone, come) or _are_opposites(come, gone):
        return True
    if not _same_place(gone, come):
        return False
    if new.cue == 2 or (new.cue == 1 and new.verb in (Verb.STATE, Verb.BE)):
        return True
    if old.verb is not new.verb:
        return False
    values = all(term.sort in WHOLE for term in (*gone, *come))
    return _verb_replaces(new, values, gone, come)


def _are_opposites(gone: Sequence[Term], come: Sequence[Term]) -> bool:
    return all(term.stem in lex.LIKING for term in gone) and all(term.stem in lex.DISLIKING for term in come)


def _verb_replaces(new: Sentence, values: bool, gone: Sequence[Term], come: Sequence[Term]) -> bool:
    match new.verb:
        case Verb.STATE:
            return True
        case Verb.EVENT:
            return False
        case Verb.GATHERING:
            return all(term.sort is Sort.NUMBER for term in (*gone, *come))
        case Verb.BE:
            return _being_replaces(new, values, gone, come)
        case Verb.NONE:
            return values and not any(term.sort is Sort.NAME for term in (*gone, *come))


def _being_replaces(new: Sentence, values: bool, gone: Sequence[Term], come: Sequence[Term]) -> bool:
    """A thing has one colour, price or state at a time; a person is many things, but in one place."""
    if new.verb_at is None:
        return False
    about = [term for term in new.terms if term.at < new.verb_at]
    if any(term.stem in lex.ATTRIBUTES or term.word in lex.ATTRIBUTES for term in about):
        return values or come[0] is new.terms[len(about)]
    names = any(term.sort is Sort.NAME for term in (*gone, *come))
    return values and (not names or any(term.after == "where" for term in come))


def _same_place(gone: Sequence[Term], come: Sequence[Term]) -> bool:
    """The same kind of thing, after prepositions that can stand for each other."""
    sorts, other_sorts = {term.sort for term in gone}, {term.sort for term in come}
    if not sorts & other_sorts and not sorts | other_sorts <= LOOSE:
        return False
    after, other_after = gone[0].after, come[0].after
    return after == other_after or None in (after, other_after)


def _list(terms: Sequence[Term]) -> str:
    return ", ".join(dict.fromkeys(term.word for term in terms))


def _same(because: str) -> Verdict:
    return Verdict(Likeness.SAME, because)


def _update(because: str) -> Verdict:
    return Verdict(Likeness.UPDATE, because)


def _different(because: str) -> Verdict:
    return Verdict(Likeness.DIFFERENT, because)
