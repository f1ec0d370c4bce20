"""The audit log among killed processes, many writers and a full disk."""

from __future__ import annotations

import logging
import os
import random
import time
from itertools import count
from pathlib import Path
from typing import Any

from tests.faults import test_audit_faults as programs
from tests.faults.children import EMBEDDER, tell
from tests.faults.disk import Tmpfs, outcome
from tests.faults.nursery import Nursery
from tests.faults.test_disk_full import within

from eidet import Audit, Memory, acting
from eidet.trust.audit.log import AuditLog
from eidet.trust.audit.verify import entries, verify

KEY = "a key of many letters"
ROUNDS = 4
WRITERS = 3
NOTES = 60


def opened(folder: Path) -> Memory:
    return Memory(folder / "m.db", embedder=EMBEDDER, audit=Audit(path=folder / "audit.jsonl", key=KEY))


# Programs.


def write(folder: str) -> None:
    with acting(by=f"process {os.getpid()}"):
        memory = opened(Path(folder))
        for n in count():
            tell(memory.remember(f"note {n} of process {os.getpid()}").id)


def write_long(folder: str) -> None:
    """Entries of half a megabyte: a kill is likely to meet one that is being written."""
    log = AuditLog(Audit(path=Path(folder) / "audit.jsonl", key=KEY))
    ids = [f"{n:030d}" for n in range(20_000)]
    for _ in count():
        tell(log.note("put", ids=ids))


def note_some(folder: str, name: str) -> None:
    log = AuditLog(Audit(path=Path(folder) / "audit.jsonl", key=KEY))
    for n in range(NOTES):
        log.note("put", by=name, ids=[str(n)])
    tell("done")


def fill(folder: str) -> None:
    """The log is on a small file system of its own; the memory has all the space it wants."""
    logging.disable()
    small = Path(folder) / "small"
    Tmpfs(small)
    path = small / "audit.jsonl"
    memory = Memory(Path(folder) / "m.db", embedder=EMBEDDER, audit=path)
    first = memory.remember("the first")
    (small / "ballast").write_bytes(bytes(3_900_000))
    facts: dict[str, Any] = {"error": ["", "never full"]}
    stored = 1
    for n in range(2_000):
        answer = outcome(lambda n=n: memory.remember(f"note {n}").id)  # type: ignore[misc]
        if answer[0]:
            facts["error"] = answer
            break
        stored += 1
    facts["revise"] = outcome(lambda: memory.revise(first.id, text="unnoted"))
    facts["same"] = memory.get(first.id) == first
    facts["count"] = [memory.count(), stored]
    facts["full"] = [str(fault) for fault in verify(path).faults]
    (small / "ballast").unlink()
    memory.remember("there is space again")
    memory.close()
    found = verify(path)
    facts["after"] = [found.ok, len(found.notes), [entry.verb for entry in entries(path)][-1]]
    tell(facts)


# Tests.


def test_killed_writers_leave_a_log_that_tells_of_all_they_wrote(start: Nursery, tmp_path: Path) -> None:
    chance, acknowledged = random.Random(4), set()
    for _ in range(ROUNDS):
        child = start(programs.write, tmp_path)
        acknowledged.add(child.hear())
        time.sleep(chance.uniform(0.02, 0.1))
        child.kill()
        acknowledged.update(child.hear_rest())
        assert verify(tmp_path / "audit.jsonl", key=KEY).ok
    with opened(tmp_path) as memory:
        stored = {record.id for record in memory.find(limit=100_000)}
    noted = {id for entry in entries(tmp_path / "audit.jsonl") for id in entry.ids}
    assert acknowledged <= stored <= noted
    assert len(noted - stored) <= ROUNDS, "at most what each was about to write when it was killed"


def test_a_kill_within_a_line_leaves_a_log_that_goes_on(start: Nursery, tmp_path: Path) -> None:
    chance, path = random.Random(5), tmp_path / "audit.jsonl"
    for _ in range(ROUNDS):
        child = start(programs.write_long, tmp_path)
        child.hear()
        time.sleep(chance.uniform(0.0, 0.03))
        child.kill()
        told = child.hear_rest()
        found = verify(path, key=KEY)
        assert found.ok
        assert not told or found.entries >= told[-1]
    log = AuditLog(Audit(path=path, key=KEY))
    last = log.note("put")
    found = verify(path, key=KEY)
    assert found.ok
    assert found.entries == last


def test_many_processes_write_one_chain(start: Nursery, tmp_path: Path) -> None:
    children = [start(programs.note_some, tmp_path, f"w{n}") for n in range(WRITERS)]
    assert [child.result() for child in children] == ["done"] * WRITERS
    found = verify(tmp_path / "audit.jsonl", key=KEY)
    assert found.ok
    assert (found.entries, found.notes) == (1 + WRITERS * NOTES, ())
    for n in range(WRITERS):
        of_one = [entry.ids[0] for entry in entries(tmp_path / "audit.jsonl") if entry.by == f"w{n}"]
        assert of_one == [str(i) for i in range(NOTES)]


def test_what_a_full_disk_keeps_from_being_noted_is_not_done(start: Nursery, tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    facts = start(programs.fill, tmp_path, within=within("tmpfs", tmp_path / "small")).result()
    assert facts["error"][0] == facts["revise"][0] == "Unavailable"
    assert "audit.jsonl cannot be written (No space left on device): nothing was changed" in facts["error"][1]
    assert facts["same"]
    assert facts["count"][0] == facts["count"][1] > 1
    assert facts["full"] == []
    assert facts["after"] == [True, 0, "put"]
