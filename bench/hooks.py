"""Hooks of coding agents: a new process that asks the resident one, beside a Python that does nothing."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from common import folder, record
from eidet import Memory
from eidet.coding.recalling import scope_of

RUNS = 60
RECORDS = 2_000
IMPORTS = "import json, threading, pathlib; from eidet import __version__; import multiprocessing.connection"


def main() -> None:
    with folder() as home:
        os.environ |= {"HOME": str(home), "EIDET_HOOKS_IDLE_SECONDS": "30"}
        project = home / "shop"
        (project / ".git").mkdir(parents=True)
        (home / ".eidet").mkdir(mode=0o700)
        with Memory(home / ".eidet" / "memory.db") as memory:
            texts = [f"Service {n} of the shop listens on port {8000 + n}, says Ann." for n in range(RECORDS)]
            memory.remember(texts, scope=scope_of(str(project)))
        hook = [sys.executable, "-P", "-m", "eidet.coding.hook", "claude"]
        subprocess.run([*hook, "check"], check=True, capture_output=True)
        measure(hook, project)


def measure(hook: list[str], project: Path) -> None:
    """All three in turn, so that the machine is as busy for one as for the others."""
    commands = {
        "Python alone": [sys.executable, "-c", "pass"],
        "its imports": [sys.executable, "-P", "-c", IMPORTS],
        "a hook": [*hook, "prompt"],
    }
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    answered = 0
    for number in range(RUNS):
        event = {
            "session_id": f"s{number}",
            "cwd": str(project),
            "prompt": f"Which port has service {number}?",
        }
        for name, command in commands.items():
            seconds, cpu, out = run(command, json.dumps(event))
            took[name].append((seconds, cpu))
            answered += bool(out)
    values: dict[str, float] = {"hooks that answered, share": answered / RUNS}
    for name, runs in took.items():
        for unit, figures in zip(("ms", "CPU ms"), zip(*runs, strict=True), strict=True):
            cuts = statistics.quantiles(figures, n=20)
            values[f"{name}, {unit} p50"] = statistics.median(figures) * 1000
            values[f"{name}, {unit} p95"] = cuts[-1] * 1000
    record("hooks", values)


def run(command: list[str], given: str) -> tuple[float, float, str]:
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, input=given, check=True, capture_output=True, text=True)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


if __name__ == "__main__":
    main()
