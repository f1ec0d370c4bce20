"""CPU time of a recall of natural text, all signals on, beside the least that anybody would write by hand.

The floor embeds the question, scans float32 vectors with numpy and reads the ten best texts from a bare
SQLite file: no words, no names, no times, no scores to trust. Both take turns in one process; the
questions of a round are new to it. Ratios of CPU time are steady on a machine that others use, too.
"""

from __future__ import annotations

import random
import sqlite3
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from common import DATA, folder, record
from eidet import Draft, Memory
from eidet.eval import Case, Question, read_cases
from eidet.models.embed import embedder_of

SIZES = (100, 600, 1_000, 10_000)
SETS = ("locomo-dev.json", "realtalk-dev.jsonl.gz", "longmemeval-dev.json.gz", "beam-dev.jsonl.gz")
WARM, ROUND, ROUNDS = 60, 150, 7


def main() -> None:
    if not DATA.exists():
        print(f"{DATA} does not exist: this measures natural text only")
        return
    cases: list[Case] = []
    for name in SETS:
        cases += read_cases(DATA / name)
    drafts: list[Draft] = []
    asked: list[Question] = []
    for case in cases:
        drafts += case.records
        asked += case.questions
    random.Random(5).shuffle(asked)
    for size in SIZES:
        measure(drafts[:size], asked)


def measure(drafts: Sequence[Draft], asked: Sequence[Question]) -> None:
    with folder() as home, Memory(home / "memory.db") as memory:
        memory.remember(list(drafts), keep_duplicates=True)
        floor = by_hand(home / "floor.db", [draft.text or "" for draft in drafts])
        ways: dict[str, Callable[[Question], object]] = {
            "recall": lambda question: memory.recall(question.text, now=question.asked),
            "floor": lambda question: floor(question.text),
        }
        for way in ways.values():
            spend(way, asked[:WARM])
        spent: dict[str, list[float]] = {name: [] for name in ways}
        for start in range(WARM, WARM + ROUND * ROUNDS, ROUND):
            for name, way in ways.items():
                spent[name].append(spend(way, asked[start : start + ROUND]))
    best, least = min(spent["recall"]), min(spent["floor"])
    record(
        f"reading {len(drafts):,} records of natural text",
        {
            "CPU ms a recall, best of 7": best,
            "CPU ms a recall, median of 7": statistics.median(spent["recall"]),
            "floor by hand, CPU ms, best of 7": least,
            "recall / floor": best / least,
        },
    )


def spend(way: Callable[[Question], object], questions: Sequence[Question]) -> float:
    """Milliseconds of CPU for each question."""
    began = time.process_time()
    for question in questions:
        way(question)
    return (time.process_time() - began) / len(questions) * 1_000


def by_hand(path: Path, texts: Sequence[str]) -> Callable[[str], list[tuple[str]]]:
    """Nearest vectors and their texts: what a few lines of numpy and SQLite give."""
    embedder = embedder_of()
    vectors = embedder.embed(texts)
    file = sqlite3.connect(path)
    file.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT)")
    file.executemany("INSERT INTO texts VALUES (?, ?)", enumerate(texts))
    file.commit()

    def ask(question: str) -> list[tuple[str]]:
        scores = vectors @ embedder.embed([question])[0]
        best = np.argpartition(scores, -10)[-10:].tolist()
        marks = ",".join("?" * len(best))
        return file.execute(f"SELECT text FROM texts WHERE id IN ({marks})", best).fetchall()

    return ask


if __name__ == "__main__":
    main()
