"""Programs that come to a file from outside: without the right to write, or many at once."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.faults.children import opened, tell, warm_up
from tests.faults.disk import outcome

NOBODY = 65534


def drop_rights() -> None:
    """Becomes nobody, after everything that has to be imported was used once."""
    warm_up()
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def state_of(folder: Path) -> list[tuple[str, int, int]]:
    return sorted((str(f), f.stat().st_size, f.stat().st_mtime_ns) for f in (folder, *folder.rglob("*")))


def read_only(path: str) -> None:
    """Uses every verb on a file that may only be read."""
    drop_rights()
    before = state_of(Path(path).parent)
    try:
        memory = opened(path)
    except PermissionError:
        tell(None)
        return
    facts: dict[str, Any] = {
        "recall": memory.recall("note7")[0].text,
        "later": next((hit.text for hit in memory.recall("laterword")), None),
    }
    facts["find"], facts["stats"] = len(memory.find(limit=1000)), memory.admin.stats()["records"]
    facts["thread"] = []
    thread = threading.Thread(target=lambda: facts["thread"].append(memory.recall("note8")[0].text))
    thread.start()
    thread.join()
    writes = (
        lambda: memory.remember("one more"),
        lambda: memory.forget(memory.find(limit=1)[0].id),
        lambda: memory.revise(memory.find(limit=1)[0].id, text="else"),
        lambda: memory.admin.reembed("hashing:32"),
    )
    facts["writes"] = [outcome(write) for write in writes]
    facts["rebuild"] = memory.admin.rebuild()
    facts["check"], facts["close"] = memory.admin.check(), outcome(memory.close)
    facts["untouched"] = state_of(Path(path).parent) == before
    tell(facts)


def open_without_rights(path: str) -> None:
    drop_rights()
    tell(outcome(lambda: opened(path)))


def watch(path: str) -> None:
    """Reads without the right to write, again and again, while somebody else writes."""
    drop_rights()
    memory = opened(path)
    for line in sys.stdin:
        (word,) = json.loads(line)
        tell([hit.text for hit in memory.recall(word, limit=1)] + [len(memory.find(limit=10_000))])
    memory.close()


def arrive(folder: str, name: str) -> None:
    """Opens new files at the same moments as others, writes, and looks for what the others wrote."""
    warm_up()
    tell("ready")
    (moments,) = json.loads(sys.stdin.readline())
    memories = []
    for i, moment in enumerate(moments):
        time.sleep(max(0.0, moment - time.monotonic()))
        memories.append(opened(f"{folder}/{i}.db"))
        memories[-1].remember(f"written by visitor{name}")
    tell("wrote")
    sys.stdin.readline()
    tell([[memory.recall(f"visitor{n}")[0].text for n in range(8)] for memory in memories])
    for memory in memories:
        memory.close()
