"""What every peer is given and asked, written as JSON outside the repository; and how good the answers are.

Runs in Eidet's environment: `peers_material.py write DATA FOLDER` and `peers_material.py score ANSWERS`.
"""

from __future__ import annotations

import json
import random
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import common
from common import queries, real_texts
from eidet import Draft
from eidet.core.validate import describe_data
from eidet.eval.cases import Case
from eidet.eval.datasets import read_cases
from eidet.eval.ranking_metrics import Ranks, marks

SETS = {"everyday": "everyday-dev.jsonl", "locomo": "locomo-dev.json"}
LARGEST = 100_000
RARE = 200
DEPTH = 10
FIGURES = {"everyday": ("hit@1", "hit@3", "MRR"), "locomo": ("R@5", "R@10", "nDCG@10")}
_ENDINGS = ("ax", "ov", "umi", "esk", "ild", "orn", "ezu", "yth")


def write(data: Path, folder: Path) -> None:
    """Writes the texts for speed and the cases for quality; says what of it is real."""
    common.DATA = data
    found, real = real_texts(LARGEST)
    random.Random(11).shuffle(found)
    asked = queries(found[:1000], 250, seed=5)
    rare = add_rare_words(found)
    (folder / "texts.json").write_text(json.dumps(found))
    questions = {"plain": asked, "rare": rare, "real": real}
    (folder / "questions.json").write_text(json.dumps(questions))
    for name, file in SETS.items():
        if (data / file).exists():
            described = [describe_case(case) for case in read_cases(data / file)]
            (folder / "cases" / f"{name}.json").write_text(json.dumps(described))


def add_rare_words(found: list[str]) -> list[list[Any]]:
    """Gives some of the first 1,000 texts a word that stands nowhere else; returns the questions."""
    pick = random.Random(23)
    asked = []
    for at in pick.sample(range(1000), RARE):
        word = (
            "".join(pick.choices("bdfgklmnprstvz", k=4)) + pick.choice(_ENDINGS) + str(pick.randint(10, 99))
        )
        found[at] = f"{found[at]} Ask for {word}."
        asked.append([f"what did we say about {word} again?", at])
    return asked


def describe_case(case: Case) -> dict[str, Any]:
    items = []
    for draft in case.records:
        items.append(describe_item(draft))
    questions = []
    for question in case.questions:
        questions.append({"text": question.text, "gold": question.gold, "now": question.asked})
    return {"name": case.scope, "items": items, "questions": questions}


def describe_item(draft: Draft) -> dict[str, Any]:
    """A record in two forms: bare, and with date and speaker in front, as one would store it elsewhere."""
    bare = draft.text or describe_data(draft.data)
    front = ""
    if draft.occurred is not None:
        front = datetime.fromtimestamp(float(draft.occurred), UTC).strftime("%d %B %Y ")  # type: ignore[arg-type]
    if draft.who:
        front += f"{draft.who}: "
    labels: dict[str, Any] = {"text": draft.text, "data": draft.data}
    for name in ("kind", "who", "session", "occurred"):
        labels[name] = getattr(draft, name)
    return {"id": draft.id, "text": bare, "labelled": front + bare, "labels": labels}


def score(answers: Path) -> dict[str, Any]:
    """The figures of a file of answers: for each question its gold and the ids that came back."""
    told = json.loads(answers.read_text())
    rows, counts, precise = [], [], []
    for gold, ranked in told["answers"]:
        precise.append(len(set(gold) & set(ranked)) / max(1, len(ranked)))
        rows.append(marks(ranked, gold, DEPTH))
        counts.append(len(gold))
    gold = np.array(counts)
    none = np.zeros_like(gold)
    ranks = Ranks(
        found=np.stack(rows), gold=gold, session_found=np.zeros((len(rows), 0), bool), session_gold=none
    )
    columns = ranks.columns((1, 3, 5, 10))
    figures = {}
    for name in FIGURES[told["set"]]:
        figures[name] = round(float(columns[name].mean()), 4)
    return figures | {"precision": round(float(np.mean(precise)), 4), "questions": len(rows)}


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        print(json.dumps(score(Path(sys.argv[2]))))
