"""Whether the same content words play the same parts: "Ann saw Bob" and "Bob saw Ann" do not."""

from __future__ import annotations

from typing import Final

from .sentence_features import Sentence, Verb
from .word_lists import FRONTED

MOST_TURNED: Final = 100  # content words of a sentence in which a phrase may have moved


def same_roles(old: Sentence, new: Sentence) -> bool:
    """The same order, or one that turns nothing round: a list, a phrase moved as a whole, "X is Y"."""
    one, other = _order(old, new), _order(new, old)
    if old.scopes != new.scopes:
        return False
    if one == other:
        return _before_verb(old) == _before_verb(new)
    return (
        _phrases(old) == _phrases(new)
        or other in _lists(old, one)
        or (_is_fronted(old, new) and _is_turned(one, other))
        or _is_equation(old, new)
    )


def _order(reading: Sentence, other: Sentence) -> list[str]:
    """The stems that both have, as this one has them."""
    return [term.stem for term in reading.terms if term.stem in other.stems]


def _before_verb(reading: Sentence) -> int:
    if reading.verb_at is not None:
        return sum(term.at < reading.verb_at for term in reading.terms)
    return 0


def _phrases(reading: Sentence) -> tuple[list[str], set[tuple[str, str]]]:
    """What stands free, in order, and what stands after a preposition, which may be anywhere."""
    free = [term.stem for term in reading.terms if not term.preposition]
    return free, {(term.preposition, term.stem) for term in reading.terms if term.preposition}


def _lists(reading: Sentence, order: list[str]) -> list[list[str]]:
    """The orders in which two things beside an "and" or "or" have changed places."""
    by_place = {term.at: term.stem for term in reading.terms}
    pairs = []
    for at, word in enumerate(reading.words):
        if word in {"and", "or"}:
            pairs.append((by_place.get(at - 1), by_place.get(at + 1)))
    swapped = []
    for one, other in pairs:
        if one and other:
            swapped.append({one: other, other: one})
    result = []
    for swap in swapped:
        result.append([swap.get(stem, stem) for stem in order])
    return result


def _is_fronted(old: Sentence, new: Sentence) -> bool:
    return not FRONTED.isdisjoint((old.words[0], new.words[0]))


def _is_turned(one: list[str], other: list[str]) -> bool:
    """Whether one order is the other with its end brought to the front."""
    if len(one) < MOST_TURNED:
        return any(one[at:] + one[:at] == other for at in range(1, len(one)))
    return False


def _is_equation(old: Sentence, new: Sentence) -> bool:
    """ "Blue is my favourite colour": both sides of an "is" have changed places."""
    if not old.verb is new.verb is Verb.BE or "than" in old.words:
        return False
    sides = _before_verb(old)
    order = [term.stem for term in old.terms]
    return order[sides:] + order[:sides] == [term.stem for term in new.terms]
