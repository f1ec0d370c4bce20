"""Measures how well a memory finds the answers to questions, on conversations with known answers.

datasets.py  a file → cases            lines.py              cases as JSON lines
runner.py    cases → answers           ranking_metrics.py, contexts.py  answers → numbers
figures.py   numbers → figures         report.py, plot.py    JSON, gates, plot
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import BadInput
from ..recall import recipe_of
from .cases import Case, Question, check_cases, limit_questions
from .contexts import BUDGETS
from .datasets import read_cases
from .figures import Comparison, Difference, Figure, Run, compare_runs, measure_run
from .plot import draw
from .ranking_metrics import KS
from .report import Least, Missed, Report, check_least, find_missed, least_of, names_of
from .runner import Progress, QuestionAnswer, RankedHit, Variant, ask

__all__ = [
    "BUDGETS",
    "KS",
    "Case",
    "Comparison",
    "Difference",
    "Figure",
    "Least",
    "Missed",
    "Question",
    "QuestionAnswer",
    "RankedHit",
    "Report",
    "Run",
    "Variant",
    "check_least",
    "draw",
    "evaluate",
    "find_missed",
    "least_of",
    "limit_questions",
    "read_cases",
]


def evaluate(
    cases: Sequence[Case],
    variant: Variant | None = None,
    *,
    against: Sequence[Variant] = (),
    depth: int = 20,
    ks: Sequence[int] = KS,
    budgets: Sequence[int] = BUDGETS,
    progress: Progress | None = None,
) -> Report:
    """Stores the cases and asks their questions, once per variant; compares the others with the first.

    `depth` is the number of hits per question. Figures are computed at each of `ks` up to it, and contexts
    measured at each of `budgets` (none if empty).
    """
    variants = [variant or Variant(), *against]
    names, kept = names_of(variants), _check_request(cases, variants, depth, ks, budgets)
    tell = _count_progress(cases, len(variants), progress)
    runs: list[Run] = []
    for name, one in zip(names, variants, strict=True):
        asked = ask(cases, one, depth=depth, budgets=budgets, tell=tell)
        runs.append(measure_run(asked, name, one, depth=depth, ks=kept))
    return Report(
        cases=tuple(cases),
        runs=tuple(runs),
        comparisons=tuple(compare_runs(run, runs[0]) for run in runs[1:]),
        depth=depth,
        budgets=tuple(budgets),
        ks=kept,
    )


def _check_request(
    cases: Sequence[Case], variants: Sequence[Variant], depth: int, ks: Sequence[int], budgets: Sequence[int]
) -> tuple[int, ...]:
    """Checks the request before anything runs. Returns the ranks at which figures are taken."""
    check_cases(cases)
    for variant in variants:
        recipe_of(variant.recipe)
    if not 1 <= depth <= 1000 or any(budget < 1 for budget in budgets):
        raise BadInput(
            f"depth must be from 1 to 1,000 and budgets from 1 up, not {depth} and {list(budgets)}"
        )
    if not (kept := tuple(sorted({k for k in ks if 1 <= k <= depth}))):
        raise BadInput(f"figures are taken at ranks from 1 to {depth}, not at {list(ks)}")
    return kept


def _count_progress(cases: Sequence[Case], runs: int, progress: Progress | None) -> Callable[[int], None]:
    """Counts records and questions of all runs and reports the sum."""
    done, total = 0, runs * sum(len(case.records) + len(case.questions) for case in cases)

    def tell(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(done, total)

    return tell
