"""Figures with their intervals, overall and by category, and differences of two runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from .ranking_metrics import (
    Bin,
    Ranks,
    Values,
    calibration,
    collapse_sessions,
    marks,
    measure_auroc,
    score_figures,
)
from .runner import QuestionAnswer, RankedHit, RunAnswers, Variant

_Columns = Mapping[str, Values]
_SAME: Final = 1e-9  # smaller differences count as zero
_WIDTH: Final = 1.96  # standard errors on each side of a mean that hold it in 95 of 100 cases


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A mean over questions and its 95 % interval."""

    value: float
    low: float
    high: float
    questions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Figure):
    """The other run minus the first, over the same questions, and how many it won and lost."""

    won: int
    lost: int

    @property
    def sign(self) -> int:
        """1 or -1 if the whole interval is on that side of zero, else 0."""
        return int(self.low > _SAME) - int(self.high < -_SAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One measured variant. `columns` has a number per answer for every figure."""

    name: str
    variant: Variant
    answers: tuple[QuestionAnswer, ...]
    columns: _Columns
    overall: Mapping[str, Figure]
    categories: Mapping[str, Mapping[str, Figure]]
    curve: tuple[Figure, ...]  # recall at 1, 2, … up to the depth
    calibration: tuple[Bin, ...]
    latency: Mapping[str, float]  # milliseconds at p50, p95, p99
    leaks: int
    empty: float  # share of the questions without hits
    records: int
    load_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One run compared with the first."""

    name: str
    base: str
    overall: Mapping[str, Difference]
    categories: Mapping[str, Mapping[str, Difference]]


def measure_run(asked: RunAnswers, name: str, variant: Variant, *, depth: int, ks: Sequence[int]) -> Run:
    answers = asked.answers
    ranks = _ranks_of(answers, depth)
    columns = ranks.columns(ks) | dict(asked.contexts)
    millis = np.array([answer.millis for answer in answers])
    hits: list[RankedHit] = []
    for answer in answers:
        hits.extend(answer.found)
    scores, gold = np.array([hit.score for hit in hits]), np.array([hit.gold for hit in hits], np.bool_)
    return Run(
        name=name,
        variant=variant,
        answers=answers,
        columns=columns,
        overall=figures(columns) | _trust(asked),
        categories={c: figures(_part(columns, rows)) for c, rows in _categories(answers).items()},
        curve=tuple(figures(ranks.curve()).values()),
        calibration=tuple(calibration(scores, gold)),
        latency={f"p{p}": float(np.percentile(millis, p)) for p in (50, 95, 99)},
        leaks=sum(hit.leaked for hit in hits),
        empty=sum(not answer.found for answer in answers) / len(answers),
        records=asked.records,
        load_seconds=asked.load_seconds,
    )


def _trust(asked: RunAnswers) -> dict[str, Figure]:
    """Measures how far the best scores can be trusted; these figures have no interval."""
    best: list[float] = []
    right: list[bool] = []
    for answer in asked.answers:
        best.append(max((hit.score for hit in answer.found[:1]), default=0.0))
        right.append(any(hit.gold for hit in answer.found[:1]))
    count = len(best) + len(asked.unanswerable)
    scores = score_figures(best, right, asked.unanswerable)
    if asked.unanswered:
        answered = np.array([answer.answered for answer in asked.answers])
        scores = {"AUROC": measure_auroc(answered, np.array(asked.unanswered)), **scores}
    return {name: Figure(value=v, low=v, high=v, questions=count) for name, v in scores.items()}


def _ranks_of(answers: Sequence[QuestionAnswer], depth: int) -> Ranks:
    found = [
        marks((hit.id if hit.gold else None for hit in a.found), a.question.gold, depth) for a in answers
    ]
    sessions = [marks(collapse_sessions(a.sessions), a.question.sessions, depth) for a in answers]
    return Ranks(
        found=np.array(found),
        gold=np.array([len(set(a.question.gold)) for a in answers]),
        session_found=np.array(sessions),
        session_gold=np.array([len(set(a.question.sessions)) for a in answers]),
    )


def _categories(answers: Sequence[QuestionAnswer]) -> dict[str, list[int]]:
    """Groups the rows by category."""
    rows: dict[str, list[int]] = {}
    for at, answer in enumerate(answers):
        if answer.question.category is not None:
            rows.setdefault(answer.question.category, []).append(at)
    return dict(sorted(rows.items()))


def _part(columns: _Columns, rows: Sequence[int]) -> _Columns:
    return {name: values[list(rows)] for name, values in columns.items()}


def figures(columns: _Columns) -> dict[str, Figure]:
    """Averages every column that has a number, with its interval."""
    known = {name: values[~np.isnan(values)] for name, values in columns.items()}
    return {name: _average(values) for name, values in known.items() if len(values)}


def _average(values: Values) -> Figure:
    """Averages the values; the interval is that of a normal distribution, within their range."""
    mean, off = float(values.mean()), _WIDTH * float(values.std()) / math.sqrt(len(values))
    low, high = max(mean - off, float(values.min())), min(mean + off, float(values.max()))
    return Figure(value=mean, low=low, high=high, questions=len(values))


def differences(columns: _Columns, base: _Columns) -> dict[str, Difference]:
    """Compares two runs question by question, so that a question's own difficulty cancels out."""
    gaps = {name: columns[name] - base[name] for name in base}
    return {
        name: Difference(
            value=figure.value,
            low=figure.low,
            high=figure.high,
            won=int((gaps[name] > _SAME).sum()),
            lost=int((gaps[name] < -_SAME).sum()),
            questions=figure.questions,
        )
        for name, figure in figures(gaps).items()
    }


def compare_runs(run: Run, base: Run) -> Comparison:
    rows = _categories(base.answers)
    return Comparison(
        name=run.name,
        base=base.name,
        overall=differences(run.columns, base.columns),
        categories={
            name: differences(_part(run.columns, of), _part(base.columns, of)) for name, of in rows.items()
        },
    )
