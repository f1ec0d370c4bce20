"""Standing instructions and wishes: "always answer in metric", "from now on …", "I'd rather walk"."""

from __future__ import annotations

from .sentence_reading import SentenceReading
from .statement import VALUE, Mention, Nature
from .whose import SPEAKER

_LONGEST = 300  # characters of an instruction


def read_instruction(reading: SentenceReading) -> bool:
    """Whether the sentence tells the assistant what to do from now on; it then states nothing else."""
    at = _begin(reading)
    if at == 0:
        return False
    words = reading.words
    text = words.text[words.starts[1] : words.ends[words.last]][:_LONGEST]
    order = Mention(name=text, kind=VALUE)
    reading.add([SPEAKER], "instruction", [order], nature=Nature.INSTRUCTION)
    return True


def _begin(reading: SentenceReading) -> int:
    """The word after the opening of an instruction; 0 where there is none."""
    low, actions = reading.words.low, reading.tables.actions
    at, polite = 1, False
    while low[at] in ("please", "and", "also", "so", "ok", "okay", ",", "hey", "just", "but", "bitte", "btw"):
        polite = polite or low[at] in ("please", "bitte")
        at += 1
    if opened := _after_opening(low, at):
        vague = low[at] in ("make", "be", "do", "never")
        return opened if not vague or low[opened] in actions else 0
    if low[at] == "do" and low[at + 1] in ("n't", "not") and (polite or _says_ever(reading)):
        return _if_action(low, at + 2, actions)
    return _after_adverb(reading, at)


def _after_adverb(reading: SentenceReading, at: int) -> int:
    """Always … · never … · keep your answers short · use … whenever possible."""
    low, actions = reading.words.low, reading.tables.actions
    if low[at] == "keep" and not _ANSWERS.isdisjoint(low[at : at + 5]):
        return at
    if low[at] in ("always", "never", "immer", "nie", "niemals"):
        if reading.tables.inverts and low[reading.words.last] in actions:
            return at
        return _if_action(low, at + 1, actions)
    if low[at] in actions and _says_ever(reading):
        return at
    return 0


_OPENINGS = (
    ("from", "now", "on"),
    ("going", "forward"),
    ("in", "the", "future"),
    ("remember", "to", "always"),
    ("remember", "to", "never"),
    ("remember", "never"),
    ("remember", "always"),
    ("make", "sure", "to"),
    ("make", "sure", "you"),
    ("make", "sure", "that"),
    ("be", "sure", "to"),
    ("i", "want", "you", "to"),
    ("i", "need", "you", "to"),
    ("i", "'d", "like", "you", "to"),
    ("you", "should", "always"),
    ("you", "should", "never"),
    ("you", "must", "always"),
    ("you", "must", "never"),
    ("whenever", "i", "ask"),
    ("when", "i", "ask"),
    ("if", "i", "ask"),
    ("when", "you", "answer"),
    ("do", "n't", "ever"),
    ("never", "ever"),
    ("ab", "jetzt"),
    ("in", "zukunft"),
    ("by", "default"),
)


_ANSWERS = frozenset({"answers", "replies", "responses", "explanations", "answer", "response", "summaries"})


def _after_opening(low: list[str], at: int) -> int:
    for opening in _BY_FIRST_WORD.get(low[at], ()):
        if tuple(low[at : at + len(opening)]) == opening:
            return at + len(opening)
    return 0


def _sort_by_first_word() -> dict[str, list[tuple[str, ...]]]:
    sorted_openings: dict[str, list[tuple[str, ...]]] = {}
    for opening in _OPENINGS:
        sorted_openings.setdefault(opening[0], []).append(opening)
    return sorted_openings


_BY_FIRST_WORD = _sort_by_first_word()


def _if_action(low: list[str], at: int, actions: frozenset[str]) -> int:
    if low[at] in actions and low[at + 1] != "up":
        return at
    return 0


_EVER = frozenset(
    [
        "always",
        "never",
        "ever",
        "whenever",
        "unless",
        "every",
        "again",
        "default",
        "anymore",
        "metric",
        "celsius",
        "kilometres",
        "kilometers",
        "formal",
        "informal",
        "concise",
        "brief",
        "bullet",
        "immer",
    ]
)


def _says_ever(reading: SentenceReading) -> bool:
    return not _EVER.isdisjoint(reading.words.low)
