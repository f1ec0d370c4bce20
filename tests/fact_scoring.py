"""How well facts are read: statements of labelled sentences against what people say is in them.

A file has a JSON object a line: `text`, `half` ("tune" or "held") and `facts`. Each fact is a list of
subject, relation and object, with "ended" or "negated" where it is. A subject is a name, "me" for the
speaker, a pronoun, or "my sister".
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from eidet.text.facts.fact_reader import read_facts
from eidet.text.facts.statement import Mention, Reference, Statement

SAID: Final = datetime(2024, 6, 15, 12, tzinfo=UTC)
_ARTICLES: Final = frozenset({"a", "an", "the", "my", "some"})
_SLACK: Final = 2  # words by which an object may be longer or shorter than its label


@dataclass(frozen=True, slots=True)
class Labelled:
    """One sentence and the facts in it."""

    text: str
    facts: tuple[tuple[str, ...], ...]
    half: str = ""


@dataclass(slots=True)
class FactScore:
    """Counts by relation: read rightly, read wrongly, and missed."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)

    @property
    def precision(self) -> float:
        read = self.right.total() + self.wrong.total()
        return self.right.total() / max(read, 1)

    @property
    def recall(self) -> float:
        there = self.right.total() + self.missed.total()
        return self.right.total() / max(there, 1)


def read_labels(path: Path) -> list[Labelled]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [Labelled(row["text"], tuple(map(tuple, row["facts"])), row.get("half", "")) for row in rows]


def score_facts(sentences: Iterable[Labelled]) -> FactScore:
    score = FactScore()
    for sentence in sentences:
        right, wrong, missed = compare(sentence)
        score.right.update(right)
        score.wrong.update(one.relation for one in wrong)
        score.missed.update(fact[1] for fact in missed)
    return score


def compare(sentence: Labelled) -> tuple[list[str], list[Statement], list[tuple[str, ...]]]:
    """The relations read rightly, the statements that no label has, and the labels that were missed."""
    left = list(sentence.facts)
    right: list[str] = []
    wrong: list[Statement] = []
    for statement in read_facts(sentence.text, said=SAID):
        label = _find_label(statement, left)
        if label is None:
            wrong.append(statement)
        else:
            left.remove(label)
            right.append(statement.relation)
    return right, wrong, left


def _find_label(statement: Statement, labels: Sequence[tuple[str, ...]]) -> tuple[str, ...] | None:
    for label in labels:
        if label[1] == statement.relation and _flag_of(label) == _flag(statement) and _fits(statement, label):
            return label
    return None


def _flag(statement: Statement) -> str:
    return "ended" if statement.ended else "negated" if statement.negated else ""


def _flag_of(label: tuple[str, ...]) -> str:
    return label[3] if len(label) > 3 else ""


def _fits(statement: Statement, label: tuple[str, ...]) -> bool:
    if _plain(describe_mention(statement.subject)) != _plain(label[0]):
        return False
    read, expected = _plain(describe_mention(statement.object)), _plain(label[2])
    if not expected or read == expected:
        return True
    shorter, longer = sorted((read, expected), key=len)
    return bool(shorter) and _is_within(shorter, longer) and len(longer) - len(shorter) <= _SLACK


def _is_within(shorter: list[str], longer: list[str]) -> bool:
    return f" {' '.join(shorter)} " in f" {' '.join(longer)} "


def _plain(text: str) -> list[str]:
    words = text.lower().replace("\u2019", "'").split()
    if len(words) > 1 and words[0] in _ARTICLES and words[0] != "my":
        words = words[1:]
    return words


def describe_mention(mention: Mention) -> str:
    """As labels have it."""
    if mention.reference is Reference.SPEAKER:
        return "me"
    if mention.reference is not Reference.NAME:
        return mention.reference.value
    if mention.name or not mention.role:
        return mention.name
    return f"{mention.owner or 'my'} {mention.role}"
