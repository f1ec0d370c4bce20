"""The report of all measurements, as a value and as JSON with stable keys, and figures to reach."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from itertools import chain, zip_longest
from typing import Any, Final

from .. import BadInput, __version__
from .cases import Case, Question
from .contexts import BUDGETS, FIGURES
from .figures import Comparison, Figure, Run
from .runner import QuestionAnswer, Variant

_FORMAT: Final = "eidet-eval/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All runs, the main one first, and the comparisons of the others with it."""

    cases: tuple[Case, ...] = field(repr=False)
    runs: tuple[Run, ...]
    comparisons: tuple[Comparison, ...] = ()
    depth: int
    budgets: tuple[int, ...]
    ks: tuple[int, ...]

    @property
    def base(self) -> Run:
        return self.runs[0]

    @property
    def k(self) -> int:
        """The rank of the main figures: 10 if it was measured, else the highest."""
        return 10 if 10 in self.ks else max(self.ks)

    def __getitem__(self, name: str) -> Figure:
        """Returns a figure of the first run: `report["R@10"]`, or of a category `report["dates.R@10"]`."""
        category, _, metric = name.rpartition(".")
        try:
            return (self.base.categories[category] if category else self.base.overall)[metric]
        except KeyError:
            known = ", ".join([*self.base.overall, *(f"{name}.…" for name in self.base.categories)])
            raise BadInput(f"there is no figure {name!r}; there are {known}") from None

    def count_left_out(self) -> dict[str, int]:
        """Counts the questions that were not asked, by reason."""
        left_out: Counter[str] = Counter()
        for case in self.cases:
            left_out.update(case.left_out)
        return dict(left_out)

    def find_worst(self, count: int) -> list[QuestionAnswer]:
        """Lists the answers of the first run with the lowest nDCG below 1, in turn from each category."""
        values = self.base.columns[f"nDCG@{self.k}"]
        by_category: defaultdict[str | None, list[QuestionAnswer]] = defaultdict(list)
        for at in sorted(range(len(values)), key=lambda at: float(values[at])):
            if values[at] < 1:
                answer = self.base.answers[at]
                by_category[answer.question.category].append(answer)
        turns = chain.from_iterable(zip_longest(*by_category.values()))
        return [answer for answer in turns if answer is not None][:count]

    def to_json(self) -> dict[str, Any]:
        """Returns the report under its documented keys, with numbers rounded to six places."""
        result: dict[str, Any] = _plain(
            {
                "format": _FORMAT,
                "eidet": __version__,
                "data": {
                    "scopes": len(self.cases),
                    "records": self.base.records,
                    "questions": len(self.base.answers),
                    "left_out": self.count_left_out(),
                },
                "settings": {"depth": self.depth, "budgets": self.budgets, "ks": self.ks},
                "runs": list(map(_run, self.runs)),
                "comparisons": self.comparisons,
            }
        )
        return result


def names_of(variants: Sequence[Variant]) -> list[str]:
    """Returns names made of the parts in which variants differ; for a single one, embedder and recipe."""
    described = list(map(Variant.describe, variants))
    parts = dict.fromkeys(chain.from_iterable(described))
    differing = [name for name in parts if len({one.get(name) for one in described}) > 1]
    names = [_name(one, differing or ["embedder", "recipe"]) for one in described]
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise BadInput(f"two variants are the same: {twice}")
    return names


def _name(described: Mapping[str, str], parts: Sequence[str]) -> str:
    return ", ".join(described.get(part, f"no {part}") for part in parts)


def _run(run: Run) -> dict[str, Any]:
    return {
        "name": run.name,
        "variant": run.variant.describe(),
        "overall": run.overall,
        "categories": run.categories,
        "latency_ms": run.latency,
        "leaks": run.leaks,
        "empty_rate": run.empty,
        "load_seconds": run.load_seconds,
        "calibration": run.calibration,
        "questions": [_answer(run, at, answer) for at, answer in enumerate(run.answers)],
    }


def _answer(run: Run, at: int, answer: QuestionAnswer) -> dict[str, Any]:
    question = answer.question
    row: dict[str, Any] = {
        "scope": answer.scope,
        "id": question.id,
        "category": question.category,
        "gold_ranks": [rank for rank, hit in enumerate(answer.found, 1) if hit.gold],
        "gold": len(question.gold),
        "ms": answer.millis,
    }
    for name in ("R@10", "nDCG@10", "MRR"):
        if name in run.columns:
            row[name] = float(run.columns[name][at])
    return row


def _plain(value: Any) -> Any:
    """Converts a value to JSON, with floats rounded to six places."""
    if isinstance(value, float):
        return round(value, 6)
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    return value


# Figures to reach.


_METRIC: Final = re.compile(
    r"MRR|AUROC|right-AUROC|calibration|(?:R|nDCG|hit|all|session-hit|session-all)@([1-9]\d{0,3})"
    rf"|(?:{'|'.join(FIGURES)})@([1-9]\d{{0,5}})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Least:
    """The least value that a figure of the first run must have, overall or in a category."""

    metric: str
    value: float
    category: str | None = None

    @property
    def k(self) -> int | None:
        found = _METRIC.fullmatch(self.metric)
        return int(found[1]) if found and found[1] else None

    @property
    def budget(self) -> int | None:
        """The token budget, if it is a figure of contexts."""
        found = _METRIC.fullmatch(self.metric)
        return int(found[2]) if found and found[2] else None

    def __str__(self) -> str:
        return f"{self.category}.{self.metric}" if self.category else self.metric


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A figure that is below its least value."""

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
            "there are R@k, nDCG@k, hit@k, all@k, session-hit@k, session-all@k, MRR, AUROC, right-AUROC, "
            f"calibration and, at a budget, {'@b, '.join(FIGURES)}@b, from 0 to 1"
        )
    return Least(metric=metric, value=value, category=category or None)


def check_least(
    gates: Sequence[Least], cases: Sequence[Case], depth: int, budgets: Sequence[int] = BUDGETS
) -> None:
    """Raises, before anything is run, if a required figure will not be measured."""
    questions: list[Question] = []
    for case in cases:
        questions.extend(case.questions)
    known = sorted({question.category for question in questions if question.category is not None})
    for gate in gates:
        if gate.category is not None and gate.category not in known:
            raise BadInput(f"{gate}: there is no category {gate.category!r}; there are {', '.join(known)}")
        if gate.k is not None and gate.k > depth:
            raise BadInput(f"{gate}: only {depth} hits are requested; --depth {gate.k} requests more")
        if gate.budget is not None and gate.budget not in budgets:
            measured = ", ".join(map(str, budgets)) or "no budget"
            raise BadInput(f"{gate}: contexts are measured at {measured}; --budget {gate.budget} adds it")
        meant = [q for q in questions if gate.category in (None, q.category)]
        if gate.metric.startswith("session-") and not any(question.sessions for question in meant):
            raise BadInput(f"{gate}: no gold record has a session")


def find_missed(run: Run, gates: Sequence[Least]) -> Iterator[Missed]:
    for gate in gates:
        figures = run.overall if gate.category is None else run.categories[gate.category]
        if (value := figures[gate.metric].value) < gate.value - 1e-9:
            yield Missed(least=gate, value=value)
