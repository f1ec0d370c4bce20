"""What vectors alone find: the records nearest to a question by cosine, on every development set.

The names of those who speak are left out of a question: whose turn it was is told otherwise.

python bench/dense.py wordllama eidet-multi      and: --sets everyday languages
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from common import DATA, record
from eidet.eval import Case, read_cases
from eidet.models.embed import Embedder, Vectors, embedder_of

SETS = {
    "LoCoMo": DATA / "locomo-dev.json",
    "REALTALK": DATA / "realtalk-dev.jsonl.gz",
    "LongMemEval": DATA / "longmemeval-dev.json.gz",
    "BEAM": DATA / "beam-dev.jsonl.gz",
    "everyday": DATA / "everyday-dev.jsonl",
    "stories": DATA / "stories-dev.jsonl",
    "languages": Path(__file__).parent / "languages.jsonl",
}
FIRST = ("everyday", "stories", "languages")  # sets whose figure is hit@1; that of the others is R@10
KEPT = 10
_POSSESSIVE = re.compile(r"('s|’s)?\W*$")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("embedders", nargs="+")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    given = parser.parse_args()
    for name in given.sets:
        cases = read_cases(SETS[name])
        figures = {one: measure(embedder_of(one), cases, name in FIRST) for one in given.embedders}
        record(f"dense alone, {name}", figures)


def measure(embedder: Embedder, cases: Sequence[Case], first: bool) -> float:
    """The mean over all questions: is the nearest right, or how much of the gold is among the nearest ten?"""
    return float(np.mean([figure for case in cases for figure in _measure_case(embedder, case, first)]))


def _measure_case(embedder: Embedder, case: Case, first: bool) -> list[float]:
    records = list(case.records)
    ids = [one.id for one in records]
    rows = embedder.embed([one.text or "" for one in records])
    asked = [question for question in case.questions if question.gold]
    speakers = {word.lower() for one in records for word in (one.who or "").split()}
    near = _find_nearest(embedder.embed([_leave_out(question.text, speakers) for question in asked]), rows)
    return [
        float(ids[found[0]] in question.gold)
        if first
        else len({ids[at] for at in found} & set(question.gold)) / min(KEPT, len(set(question.gold)))
        for question, found in zip(asked, near, strict=True)
    ]


def _leave_out(text: str, names: set[str]) -> str:
    kept = [word for word in text.split() if _POSSESSIVE.sub("", word.lower()) not in names]
    return " ".join(kept) or text


def _find_nearest(asked: Vectors, rows: Vectors) -> list[list[int]]:
    return [np.argsort(-(rows @ one), kind="stable")[:KEPT].tolist() for one in asked]


if __name__ == "__main__":
    main()
