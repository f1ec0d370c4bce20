"""What each signal is worth: the default recipe without it, on every development set.

    python bench/ablation.py        prints a table in Markdown

R@10 on the chats, hit@1 on the everyday set. Each set is remembered once and asked with every recipe.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace

from common import DATA
from eidet import Memory
from eidet.eval import Case, read_cases
from eidet.recall import RECIPES
from eidet.recall.recipes import Recipe
from recipes import FIRST, SETS

LEFT_OUT = (
    *("dense", "words", "context", "speaker", "identifier", "date", "form", "reply", "question"),
    "asked",
)


def main() -> None:
    found: dict[str, dict[str, float]] = {}
    for name, file in SETS.items():
        cases = read_cases(DATA / file)
        with Memory() as memory:
            for case in cases:
                memory.remember(list(case.records), scope=case.scope, keep_duplicates=True)
            found[name] = {"all": ask(memory, cases, RECIPES["auto"], name)}
            for signal in LEFT_OUT:
                recipe = replace(RECIPES["auto"], name="own", **{signal: 0.0})
                found[name][f"without {signal}"] = ask(memory, cases, recipe, name)
                print(f"{name} without {signal}: {found[name][f'without {signal}']:.3f}", file=sys.stderr)
    print_table(found)


def ask(memory: Memory, cases: Sequence[Case], recipe: Recipe, name: str) -> float:
    shares = []
    for case in cases:
        for question in case.questions:
            if question.gold:
                hits = memory.recall(
                    question.text, scope=case.scope, limit=10, recipe=recipe, now=question.asked
                )
                shares.append(score([hit.id for hit in hits], set(question.gold), first=name in FIRST))
    return statistics.mean(shares)


def score(ids: Sequence[str], gold: set[str], *, first: bool) -> float:
    if first:
        return float(bool(ids) and ids[0] in gold)
    return len(gold.intersection(ids)) / len(gold)


def print_table(found: dict[str, dict[str, float]]) -> None:
    print(f"| | {' | '.join(found)} |")
    print("|---" * (len(found) + 1) + "|")
    for row in next(iter(found.values())):
        figures = [f"{figures[row]:.3f}"[1:] for figures in found.values()]
        print(f"| {row} | {' | '.join(figures)} |")


if __name__ == "__main__":
    main()
