"""Three worker processes share one memory: each task is done once, and each worker uses what the others
learned.

    python examples/programs/postgres_workers.py postgresql://agent@127.0.0.1/agents
    python examples/programs/postgres_workers.py                     # the same on a SQLite file, to try it

A worker claims a task with `revise(…, version=…)`: if another was faster, Eidet raises `Conflict`, and the
worker takes the next one. What a worker stores, the next recall of any other finds. No queue, lock or
broker is needed.

For your own use: replace `TASKS` and `solve`; start `run_worker` on as many machines as you like, with one
URL.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
from multiprocessing.synchronize import Barrier
from pathlib import Path

from eidet import Conflict, Memory

WORKERS = ("red", "green", "blue")
TASKS = tuple(f"Check the backup of server {number:02}" for number in range(1, 13))
SCOPE = "operations"


def claim_task(memory: Memory, worker: str) -> str | None:
    """The id of an open task that is this worker's from now on; None if none is open."""
    while open_tasks := memory.find({"data.state": "open"}, scope=SCOPE, kinds="state", order="seq"):
        for task in open_tasks:
            mine = {"state": "claimed", "worker": worker}
            try:
                return memory.revise(task.id, scope=SCOPE, data=mine, version=task.version, by=worker).id
            except Conflict:
                continue  # another worker was faster
    return None


def solve(memory: Memory, id: str, worker: str) -> None:
    task = memory.get(id, scope=SCOPE)
    assert task is not None
    server = task.text[-2:]
    finding = f"The backup of server {server} is fine."
    if int(server) % 5 == 0:
        finding = f"The backup of server {server} failed: the disk is full."
    memory.remember(finding, scope=SCOPE, agent=worker, kind="fact", derived_from=[id])
    memory.revise(id, scope=SCOPE, data={"state": "done", "worker": worker}, version=task.version, by=worker)


def run_worker(url: str, worker: str, start: Barrier) -> None:
    with Memory(url) as memory:
        start.wait()
        while id := claim_task(memory, worker):
            solve(memory, id, worker)


def run_workers(url: str) -> None:
    context = multiprocessing.get_context("spawn")  # as if on other machines: nothing is inherited
    start = context.Barrier(len(WORKERS))
    processes = [context.Process(target=run_worker, args=(url, worker, start)) for worker in WORKERS]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        if process.exitcode != 0:
            raise SystemExit(f"a worker ended with {process.exitcode}")


def report(memory: Memory) -> None:
    tasks = memory.find(scope=SCOPE, kinds="state")
    done = [task for task in tasks if task.data["state"] == "done"]
    claims = 0
    for task in tasks:
        claims += sum(event.what == "revised" for event in memory.history(task.id, scope=SCOPE)) - 1
    print(f"{len(done)} of {len(tasks)} tasks done, {claims - len(tasks)} claimed twice")
    print(f"{memory.count(scope=SCOPE, kinds='fact')} findings, by whom is in each record's `agent`")
    print("any worker can answer for all of them:")
    for hit in memory.recall("Which backup failed?", scope=SCOPE, kinds="fact", limit=2):
        print(f"  {hit.score:.2f}  {hit.text}")


def show(url: str) -> None:
    with Memory(url) as memory:
        for number, text in enumerate(TASKS):
            memory.remember(text, id=f"task-{number}", kind="state", scope=SCOPE, data={"state": "open"})
        run_workers(url)
        report(memory)


def main() -> None:
    if len(sys.argv) > 1:
        show(sys.argv[1])
        return
    with tempfile.TemporaryDirectory() as folder:
        show(str(Path(folder) / "shared.db"))


if __name__ == "__main__":
    main()
