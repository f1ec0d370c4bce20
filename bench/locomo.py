"""Retrieval on LoCoMo conversations: which share of the gold turns is among the top ten?

    python bench/locomo.py FILE [--least 0.6]     exit code 1 if recall@10 is below `--least`

Turns are messages with their speaker; adversarial questions (category 5) are left out.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eidet import Draft, Memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--least", type=float, default=0.0)
    given = parser.parse_args()
    found = [share for sample in json.loads(given.file.read_text()) for share in shares(sample)]
    reached = statistics.mean(found)
    print(f"LoCoMo: recall@10 {reached:.3f} over {len(found)} questions (at least {given.least})")
    sys.exit(reached < given.least)


def shares(sample: dict[str, Any]) -> Iterator[float]:
    """For each question, the share of its gold turns among the top ten."""
    with Memory() as memory:
        memory.remember(list(turns(sample["conversation"])))
        for question in sample["qa"]:
            marks = re.findall(r"D:?(\d+):(\d+)", " ".join(question["evidence"]))
            gold = {f"D{int(session)}:{int(turn)}" for session, turn in marks}
            if gold and question["category"] != 5:
                hits = {hit.id for hit in memory.recall(question["question"], limit=10)}
                yield len(gold & hits) / len(gold)


def turns(conversation: dict[str, Any]) -> Iterator[Draft]:
    for name, said in conversation.items():
        if re.fullmatch(r"session_\d+", name):
            for turn in said:
                seen = turn.get("blip_caption")
                text = f"{turn['text']} [{seen}]" if seen else turn["text"]
                yield Draft(id=turn["dia_id"], text=text, who=turn["speaker"], session=name, kind="message")


if __name__ == "__main__":
    main()
