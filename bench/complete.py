"""Complete answers: of the questions for lists and counts, the mean share of gold found, and precision.

`recall` with its ten best beside `recall_all`: what it says belongs, and that with what may belong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from common import DATA, record
from eidet import Memory
from eidet.eval import Case, Question, read_cases

ASKED = {"stories-dev.jsonl": ("list", "count"), "changes-dev.jsonl": ("all",)}


def main() -> None:
    if not DATA.exists():
        print(f"{DATA} does not exist: this measures the development sets only")
        return
    for name, categories in ASKED.items():
        told: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
        for case in read_cases(DATA / name):
            measure(case, categories, told)
        for (category, way), pairs in told.items():
            shares = [sum(one) / len(pairs) for one in zip(*pairs, strict=True)]
            record(f"{name}: {category}, {way}", {"gold found": shares[0], "precision": shares[1]})


def measure(
    case: Case, categories: Sequence[str], told: dict[tuple[str, str], list[tuple[float, float]]]
) -> None:
    asked = [question for question in case.questions if question.category in categories]
    if not asked:
        return
    with Memory() as memory:
        memory.remember(list(case.records), keep_duplicates=True)
        for question in asked:
            found = memory.recall_all(question.text, now=question.asked)
            ways = {
                "recall": memory.recall(question.text, now=question.asked),
                "recall_all": found.hits,
                "recall_all with maybe": (*found.hits, *found.maybe),
            }
            for way, hits in ways.items():
                told[question.category or "", way].append(judge(question, [hit.id for hit in hits]))


def judge(question: Question, ids: Sequence[str]) -> tuple[float, float]:
    right = set(question.gold) & set(ids)
    return len(right) / len(question.gold), len(right) / max(1, len(ids))


if __name__ == "__main__":
    main()
