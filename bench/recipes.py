"""Every named recipe on every development set: the default must not be worse than the best by more than .01.

And what an embedder gives: `python bench/recipes.py --embedder minilm` measures the default with another one.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence

from common import DATA, record
from eidet.eval import Case, read_cases
from eidet.eval.ranking_metrics import score_figures
from eidet.eval.runner import QuestionAnswer, RunAnswers, Variant, ask
from eidet.recall import RECIPES

SETS = {
    "LoCoMo": "locomo-dev.json",
    "LongMemEval": "longmemeval-dev.json.gz",
    "REALTALK": "realtalk-dev.jsonl.gz",
    "BEAM": "beam-dev.jsonl.gz",
    "everyday": "everyday-dev.jsonl",
}
FIRST = ("everyday",)  # sets whose figure is hit@1; that of the others is R@10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", action="append", help="measure the default recipe with this one")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--cases", type=int, help="only the first so many cases of each set")
    given = parser.parse_args()
    for name in given.sets:
        cases = read_cases(DATA / SETS[name])[: given.cases]
        if given.embedder:
            compare_embedders(name, cases, given.embedder)
        else:
            compare_recipes(name, cases)


def compare_recipes(name: str, cases: Sequence[Case]) -> None:
    told: dict[str, float] = {}
    for recipe in RECIPES:
        told[recipe] = measure(name, run(cases, Variant(recipe=recipe)))
    told["best of the others - auto (goal 0.01)"] = max(told.values()) - told["auto"]
    record(f"recipes, {name}", told)


def compare_embedders(name: str, cases: Sequence[Case], embedders: Sequence[str]) -> None:
    for embedder in embedders:
        began = time.process_time()
        asked = run(cases, Variant(embedder=embedder))
        spent = time.process_time() - began
        right = [is_right(answer) for answer in asked.answers]
        best = [answer.found[0].score if answer.found else 0.0 for answer in asked.answers]
        record(
            f"{embedder}, {name}",
            {
                "R@10": statistics.mean(map(share_found, asked.answers)),
                "hit@1": statistics.mean(right),
                **score_figures(best, right, asked.unanswerable),
                "CPU ms for each record and question": spent / (asked.records + len(best)) * 1_000,
                "questions": len(best),
            },
        )


def run(cases: Sequence[Case], variant: Variant) -> RunAnswers:
    return ask(cases, variant, depth=10, budgets=(), tell=_tell_nobody)


def _tell_nobody(_: int) -> None:
    return None


def measure(name: str, asked: RunAnswers) -> float:
    if name in FIRST:
        return statistics.mean(map(is_right, asked.answers))
    return statistics.mean(map(share_found, asked.answers))


def is_right(answer: QuestionAnswer) -> bool:
    return bool(answer.found) and answer.found[0].gold


def share_found(answer: QuestionAnswer) -> float:
    """The share of the gold among the first ten."""
    gold = set(answer.question.gold)
    return len({one.id for one in answer.found[:10]} & gold) / len(gold)


if __name__ == "__main__":
    main()
