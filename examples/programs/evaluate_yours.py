"""Measures recall on your own records and questions: how good, how sure, and which variant is better.

    python examples/programs/evaluate_yours.py                       # the sample beside this file
    python examples/programs/evaluate_yours.py mine.jsonl

A line of the file is a record or a question with its gold, the ids of the records that answer it. No model
judges anything. Each figure has a 95 % interval, and differences are tested in pairs. `eidet eval` does the
same in a shell.

For your own use: write 50 or more questions that your users asked, name the records that answer them, and
set `LEAST` to what your application needs: the exit code is 1 below it, so that CI can stop a change.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from eidet.eval import Report, Variant, evaluate, find_missed, least_of, read_cases

SAMPLE = Path(__file__).parent / "questions.jsonl"
LEAST = ("hit@1=0.7", "R@5=0.85")
MAIN = Variant(embedder="wordllama")
OTHERS = (Variant(embedder="hashing:256"), Variant(embedder="wordllama", recipe="exact"))


def show_figures(report: Report) -> None:
    print(f"{'':32}{'hit@1':>8}{'R@5':>8}{'MRR':>8}")
    for run in report.runs:
        figures = run.overall
        print(f"{run.name:32}", end="")
        for name in ("hit@1", "R@5", "MRR"):
            print(f"{figures[name].value:>8.2f}", end="")
        print()
    sure = report["hit@1"]
    print(f"hit@1 of the first is {sure.value:.2f}, with 95 % certainty {sure.low:.2f} to {sure.high:.2f}")


def show_categories(report: Report) -> None:
    print("\nby category:")
    for name, figures in sorted(report.base.categories.items()):
        print(f"  {name:12} hit@1 {figures['hit@1'].value:.2f}  ({figures['hit@1'].questions} questions)")


def show_comparisons(report: Report) -> None:
    print("\nis the difference more than luck?")
    for comparison in report.comparisons:
        difference = comparison.overall["MRR"]
        verdict = "hardly luck" if difference.low > 0 or difference.high < 0 else "may be luck"
        interval = f"{difference.low:+.2f} to {difference.high:+.2f}"
        print(f"  {comparison.name}: MRR {difference.value:+.2f} ({interval}), {verdict}")


def main() -> int:
    reader = argparse.ArgumentParser(description="Measures recall on your own questions.")
    reader.add_argument("file", nargs="?", type=Path, default=SAMPLE)
    options = reader.parse_args()
    report = evaluate(read_cases(options.file), MAIN, against=OTHERS, budgets=())
    show_figures(report)
    show_categories(report)
    show_comparisons(report)
    missed = list(find_missed(report.base, [least_of(text) for text in LEAST]))
    for one in missed:
        print(f"missed: {one}")
    print(f"\nthe gate ({', '.join(LEAST)}) is {'missed' if missed else 'passed'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
