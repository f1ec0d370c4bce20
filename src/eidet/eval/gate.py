"""Figures that must be reached: `R@10=0.80`, `multi-hop.R@10=0.5`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from .. import BadInput
from .cases import Case, Question
from .figures import Run

_METRIC: Final = re.compile(
    r"MRR|AUROC|right-AUROC|calibration|(?:R|nDCG|hit|all|session-hit|session-all)@([1-9]\d{0,3})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Least:
    """What a figure of the first run must reach, overall or in a category."""

    metric: str
    value: float
    category: str | None = None

    @property
    def k(self) -> int | None:
        found = _METRIC.fullmatch(self.metric)
        return int(found[1]) if found and found[1] else None

    def __str__(self) -> str:
        return f"{self.category}.{self.metric}" if self.category else self.metric


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A figure that is below what it must reach."""

    least: Least
    value: float

    def __str__(self) -> str:
        return f"{self.least} is {self.value:.4f}, below {self.least.value:g}"


def least_of(text: str) -> Least:
    name, sign, number = text.rpartition("=")
    category, _, metric = name.rpartition(".")
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if not sign or not 0 <= value <= 1 or not _METRIC.fullmatch(metric):
        raise BadInput(
            f"{text!r} is not a figure to reach such as R@10=0.8 or multi-hop.nDCG@10=0.5; "
            "there are R@k, nDCG@k, hit@k, all@k, session-hit@k, session-all@k, MRR, AUROC, right-AUROC and "
            "calibration, from 0 to 1"
        )
    return Least(metric=metric, value=value, category=category or None)


def check_least(gates: Sequence[Least], cases: Sequence[Case], depth: int) -> None:
    """Before anything is run: every figure asked for will be there."""
    questions: list[Question] = []
    for case in cases:
        questions.extend(case.questions)
    known = sorted({question.category for question in questions if question.category is not None})
    for gate in gates:
        if gate.category is not None and gate.category not in known:
            raise BadInput(f"{gate}: there is no category {gate.category!r}; there are {', '.join(known)}")
        if gate.k is not None and gate.k > depth:
            raise BadInput(f"{gate}: only {depth} hits are requested; --depth {gate.k} requests more")
        meant = [q for q in questions if gate.category in (None, q.category)]
        if gate.metric.startswith("session-") and not any(question.sessions for question in meant):
            raise BadInput(f"{gate}: no gold record has a session")


def find_missed(run: Run, gates: Sequence[Least]) -> Iterator[Missed]:
    for gate in gates:
        figures = run.overall if gate.category is None else run.categories[gate.category]
        if (value := figures[gate.metric].value) < gate.value - 1e-9:
            yield Missed(least=gate, value=value)
