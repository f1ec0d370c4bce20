"""What reading facts costs a text, on the turns of conversations: `python bench/facts.py FILE …`.

A file is LoCoMo's JSON, or JSON lines of records with a `text`. The times that a text speaks of are read by
the write path anyway; they are handed over, as there.
"""

from __future__ import annotations

import gzip
import json
import statistics
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eidet.text.facts import pack_statements, read_facts
from eidet.text.flags import times_of

SAID = datetime(2024, 6, 15, 12, tzinfo=UTC)
ROUNDS = 5


def main() -> None:
    for name in sys.argv[1:]:
        measure(name, read_turns(Path(name)))


def measure(name: str, texts: list[str]) -> None:
    dated = [times_of(text, SAID, "en") for text in texts]
    stating = 0
    for text, times in zip(texts, dated, strict=True):
        stating += bool(read_facts(text, said=SAID, dated=times))
    rounds = [one_round(texts, dated) for _ in range(ROUNDS)]
    each = [min(turn) * 1e3 for turn in zip(*rounds, strict=True)]
    each.sort()
    print(
        f"{Path(name).name}: {len(texts):,} texts, {stating / len(texts):.0%} state something; ms a text: "
        f"mean {statistics.fmean(each):.4f}, p50 {statistics.median(each):.4f}, "
        f"p95 {each[int(len(each) * 0.95)]:.4f}, most {each[-1]:.3f}"
    )


def one_round(texts: list[str], dated: list[Any]) -> list[float]:
    spent: list[float] = []
    for text, times in zip(texts, dated, strict=True):
        began = time.perf_counter()
        pack_statements(read_facts(text, said=SAID, dated=times))
        spent.append(time.perf_counter() - began)
    return spent


def read_turns(path: Path) -> list[str]:
    held = path.read_bytes()
    if path.suffix == ".gz":
        held = gzip.decompress(held)
    if ".jsonl" in path.name:
        rows = [json.loads(line) for line in held.splitlines()]
        return [row["text"] for row in rows if row.get("type", "record") == "record" and row.get("text")]
    return locomo_turns(json.loads(held))


def locomo_turns(samples: list[dict[str, Any]]) -> list[str]:
    found: list[str] = []
    for sample in samples:
        for key, turns in sample["conversation"].items():
            if key.startswith("session_") and isinstance(turns, list):
                found.extend(turn["text"] for turn in turns)
    return found


if __name__ == "__main__":
    main()
