"""Starting: a new process on a small file; and with a scope of 100,000 up to its first answer."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from common import folder, record
from eidet import Memory
from recall import fill

FIRST = """
import json, os, sys, time
from eidet import Memory
def resident(): return int(open('/proc/self/statm').read().split()[1]) * os.sysconf('SC_PAGE_SIZE') / 2**20
with Memory(sys.argv[1]) as memory:
    memory.recall("one two three", scope="nobody")
    base = resident()
    hits = memory.recall("baba cedi foguha")
    took = time.time() - float(sys.argv[2])
    print(json.dumps({"hits": len(hits), "grown": resident() - base, "took": took}), flush=True)
    os._exit(0) if len(sys.argv) > 3 else None
"""


# What a new process spends on the import, on opening a small file and on its first recall: seconds on the
# clock, and of CPU, which other programs on the machine change less.
SMALL = """
import json, sys, time
def now(): return time.perf_counter(), time.process_time()
times = [now()]
from eidet import Memory
times.append(now())
memory = Memory(sys.argv[1])
times.append(now())
memory.recall("where does Ann live?", scope="ann")
times.append(now())
print(json.dumps([[later[at] - sooner[at] for sooner, later in zip(times, times[1:])] for at in (0, 1)]))
"""
RUNS = 7


def main() -> None:
    with folder() as home:
        keep_bytecode(home / "bytecode")
        small(home / "small.db")
        path = home / "start.db"
        with Memory(path) as memory:
            fill(memory, 100_000)
            memory.recall("baba")
        size = path.stat().st_size
        sidecar = sum(file.stat().st_size for file in Path(f"{path}-index").iterdir())
        with_cache = first(path)
        shutil.rmtree(f"{path}-index")
        without = first(path, "leave")
        record(
            "start",
            {
                "import eidet, s (goal 0.2)": statistics.median(importing("pass") for _ in range(5)),
                "from eidet import Memory, s": statistics.median(importing("eidet.Memory") for _ in range(5)),
                "first recall at 100,000 with cache file, s (goal 1.5)": with_cache["took"],
                "first recall at 100,000 without, s (goal 10)": without["took"],
                "process grew by, MB (goal 150)": with_cache["grown"],
                "process grew by without cache file, MB": without["grown"],
                "database bytes per 30-word record (goal 2,048)": size / 100_000,
                "cache file bytes per record": sidecar / 100_000,
            },
        )


def keep_bytecode(home: Path) -> None:
    """New processes find bytecode, as that of an installed package, also where Python is told to write none.

    Else each of them compiles all modules again, which takes as long as the rest of the import.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(home)


def small(path: Path) -> None:
    with Memory(path) as memory:
        memory.remember(
            ["Ann lives in Lisbon and restores furniture.", "Her workshop opens at nine."], scope="ann"
        )
        memory.remember([f"Ann met friend number {n} in the park" for n in range(100)], scope="ann")
    clock, cpu = zip(*[in_new_process(SMALL, str(path)) for _ in range(RUNS)], strict=True)
    values: dict[str, float] = {}
    for name, runs in (("s", clock), ("CPU s", cpu)):
        imported, opened, recalled = zip(*runs, strict=True)
        values[f"import, {name} (goal 0.12)"] = min(imported)
        values[f"open, {name} (goal 0.10)"] = min(opened)
        values[f"first recall, {name} (goal 0.10)"] = min(recalled)
    command = [sys.executable, "-m", "eidet.cli", "recall", "where does Ann live?", "--at", str(path)]
    values["eidet recall, s (goal 0.45)"] = min(running([*command, "--scope", "ann"]) for _ in range(RUNS))
    record("start on a small file", values)


def in_new_process(code: str, *words: str) -> tuple[list[float], list[float]]:
    done = subprocess.run([sys.executable, "-c", code, *words], check=True, capture_output=True, text=True)
    clock, cpu = json.loads(done.stdout)
    return clock, cpu


def running(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def first(path: Path, *extra: str) -> dict[str, float]:
    """Takes the time from before the process is started to its first answer."""
    runs = []
    for _ in range(3):
        command = [sys.executable, "-c", FIRST, str(path), str(time.time()), *extra]
        runs.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        if extra:
            shutil.rmtree(f"{path}-index", ignore_errors=True)
    return sorted(runs, key=lambda run: run["took"])[1]


def importing(use: str) -> float:
    code = f"import time; t = time.perf_counter(); import eidet; {use}; print(time.perf_counter() - t)"
    return float(
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    )


if __name__ == "__main__":
    main()
