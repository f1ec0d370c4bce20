"""Standing instructions: "always answer in metric", "from now on …", "stop using emojis", "ask before …"."""

from __future__ import annotations

from .vocabulary import Vocabulary


def is_instruction(low: list[str], known: Vocabulary) -> bool:
    """Whether a sentence tells the assistant what to do from now on. Its words are in small letters."""
    at, is_polite = 1, False
    while low[at] in known.leading:
        is_polite = is_polite or low[at] in known.polite
        at += 1
    if _after(low, at, known.openings):
        return True
    if (begin := _after(low, at, known.before_actions)) and _begins_order(low, begin, known):
        return True
    if low[at] == "whenever" and "," in low[at:]:
        return _is_imperative(low, low.index(",", at) + 1, known)
    says_ever = is_polite or not known.ever.isdisjoint(low)
    if low[at] == "do" and low[at + 1] in ("n't", "not"):
        return says_ever and low[at + 2] in known.actions and low[at + 3] != "up"
    if low[at] in ("stop", "avoid", "quit") and low[at + 1].endswith("ing"):
        return is_polite or _is_action(low[at + 1], known)
    if low[at] == "keep" and not known.answers.isdisjoint(low[at : at + 5]):
        return True
    if low[at] == "keep" and low[at + 1].endswith("ing"):
        return False  # "keep going and never give up"
    return low[at] in known.actions and low[at + 1] != "up" and not known.ever.isdisjoint(low)


def _after(low: list[str], at: int, openings: frozenset[str]) -> int:
    """The word after the opening that a sentence has at a word; 0 where it has none."""
    sizes = range(6, 0, -1)
    return next((at + size for size in sizes if " ".join(low[at : at + size]) in openings), 0)


def _begins_order(low: list[str], at: int, known: Vocabulary) -> bool:
    """Answer … · don't answer … · , please answer …"""
    while low[at] in known.leading or low[at] in (
        "do",
        "n't",
        "not",
        "never",
        "always",
        "you",
        "should",
        "to",
    ):
        at += 1
    return low[at] in known.actions and low[at + 1] != "up"


def _is_imperative(low: list[str], at: int, known: Vocabulary) -> bool:
    """Whenever I mention a price, convert it: a clause without a subject."""
    while low[at] in known.leading or low[at] in ("always", "never"):
        at += 1
    apart = (known.stops, known.ties, known.adverbs, known.bystanders)
    return low[at] == "do" or (low[at].isalpha() and not any(low[at] in words for words in apart))


def _is_action(gerund: str, known: Vocabulary) -> bool:
    """Using · adding · putting."""
    stem = gerund[:-3]
    doubled = stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else stem
    return not known.actions.isdisjoint((stem, stem + "e", doubled))
