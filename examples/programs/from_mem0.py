"""Moves memories from mem0 to Eidet: looks first, imports, asks, and imports again without storing twice.

    python examples/programs/from_mem0.py                       # a small sample of mem0's own format
    python examples/programs/from_mem0.py memories.json --at agent.db
    python examples/programs/from_mem0.py /tmp/qdrant --at agent.db

A source is what mem0's `get_all` returned, saved as JSON, or the folder of its local Qdrant. mem0
itself is not needed. `eidet import mem0 …` does the same in a shell; `docs/guides/importing.md` describes it.

For your own use: name your source; change `SCOPE` if your users' scopes are called otherwise.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eidet import Memory
from eidet.exchange import import_memories

SCOPE = "{user}"  # mem0's user_id becomes the scope
SAMPLE = (
    ("ann", "Lives in Lisbon and restores furniture", "2026-01-12T10:00:00+00:00", {"topic": "home"}),
    ("ann", "Is allergic to walnuts", "2026-02-03T18:30:00+00:00", {"topic": "health"}),
    ("ann", "Promised Mr. Lund an oak table by 12 June", "2026-05-08T09:15:00+00:00", {"topic": "work"}),
    ("bob", "Is allergic to penicillin", "2026-03-01T08:00:00+00:00", {"topic": "health"}),
    ("bob", "Plays the cello in a quartet", "2026-04-20T20:00:00+00:00", None),
)


def write_sample(path: Path) -> None:
    """What `json.dump(memory.get_all(…))` writes with mem0 2.x."""
    rows: list[dict[str, Any]] = []
    for number, (user, text, created, metadata) in enumerate(SAMPLE):
        rows.append(
            {
                "id": f"00000000-0000-4000-8000-{number:012}",
                "memory": text,
                "hash": f"{number:032x}",
                "metadata": metadata,
                "created_at": created,
                "updated_at": created,
                "user_id": user,
            }
        )
    path.write_text(json.dumps({"results": rows}), encoding="utf-8")


def move(memory: Memory, source: Path) -> None:
    planned = import_memories(memory, "mem0", source, scope=SCOPE, dry_run=True)
    print(f"would import {planned.created}: {planned.scopes}")
    for field, count in planned.dropped.items():
        print(f"  not needed in {count}: {field}")
    done = import_memories(memory, "mem0", source, scope=SCOPE)
    again = import_memories(memory, "mem0", source, scope=SCOPE)
    print(f"imported {done.created}; again: {again.created} new, {again.same} there already")


def ask(memory: Memory) -> None:
    """What was mem0's is now found with dates, reasons and scores that mean something."""
    for user, question in (
        ("ann", "Any allergies?"),
        ("bob", "Any allergies?"),
        ("ann", "When does Mr. Lund get his table?"),
    ):
        for hit in memory.recall(question, scope=user, limit=1):
            print(f"{user}: {question}\n  {hit.score:.2f}  {hit.text}  ({hit.why()})")
    health = memory.find({"meta.topic": "health"}, scope="ann")
    print("metadata came along:", [record.text for record in health])
    print("and so did the time:", datetime.fromtimestamp(health[0].occurred, UTC).date())


def main() -> None:
    reader = argparse.ArgumentParser(description="Moves memories from mem0 to Eidet.")
    reader.add_argument("source", nargs="?", type=Path, help="a JSON file of mem0, or its folder")
    reader.add_argument("--at", default="agent.db", help="the memory that they go to")
    options = reader.parse_args()
    if options.source is not None:
        with Memory(options.at) as memory:
            move(memory, options.source)
        return
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "agent.db") as memory:
        source = Path(folder) / "memories.json"
        write_sample(source)
        move(memory, source)
        ask(memory)


if __name__ == "__main__":
    main()
