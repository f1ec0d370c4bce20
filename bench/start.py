"""Starting: the import, and a new process with a scope of 100,000 up to its first answer."""

from __future__ import annotations

import json
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


def main() -> None:
    with folder() as home:
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
