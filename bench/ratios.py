"""The hot paths as multiples of a floor, kept as a history so that none gets slower unnoticed.

    python bench/ratios.py           measures, and compares with the last line of bench/history.jsonl
                                     that comes from the same processor
    python bench/ratios.py --check   the same; exits with 1 if a path is 25 % worse twice in a row
    python bench/ratios.py --keep    the same; adds what it measured to the history
    python bench/ratios.py --json    prints what it measured for a machine

A floor is the least that a program of one's own would do for the same: embed, one bare insert, one numpy
scan, read ten rows. Floor and path are measured in turns, in five rounds, in seconds of CPU, which other
programs on the machine change less than the clock does. A path counts as worse only if the best and the
median of its five ratios both are.

Two machines of one name can differ by half in what a matrix product costs beside the interpreter. So before
`--check` fails, it measures the tree that the last line came with on this machine, and compares with that.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import random
import resource
import statistics
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from common import BareSqlite, folder
from eidet import Memory, Where, __version__
from eidet.models.embed import embedder_of
from eidet.text.words import load_forms

HISTORY = Path(__file__).parent / "history.jsonl"
ROUNDS = 5
WORSE = 1.25
NAMES = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ivo", "Jo")

Run = Callable[[int], object]  # does the n-th piece of work
Ratios = dict[str, tuple[float, float]]  # by path: the best and the median


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for flag in ("--check", "--keep", "--json"):
        asked.add_argument(flag, action="store_true")
    options = asked.parse_args()
    last = read_last()
    measured = measure()
    slower = list_slower(measured, last)
    if slower and options.check:
        print(f"measuring again: {', '.join(slower)}", file=sys.stderr)
        again = measure()
        slower = [name for name in list_slower(again, last) if name in slower]
        measured = keep_better(measured, again)
    if slower and options.check:
        print(f"measuring the last landed tree here: {', '.join(slower)}", file=sys.stderr)
        last = measure_landed() or last
        slower = [name for name in list_slower(measured, last) if name in slower]
    if options.json:
        print(json.dumps(measured, indent=1))
    else:
        print_table(measured, last, slower)
    if options.keep:
        append(measured)
    return 1 if options.check and slower else 0


def measure() -> Ratios:
    found: Ratios = {}
    with folder() as home, ExitStack() as opened:
        for name, path, floor, times in list_paths(home, opened):
            found[name] = compare(path, floor, times)
            print(f"  {name:<34} {found[name][1]:6.2f}", file=sys.stderr)
        found["start: import, open, first recall"] = compare_start(home)
    return found


def measure_landed() -> Ratios:
    """What the tree that the history's last line came with reaches on this machine; nothing without git."""
    with folder() as home:
        if not unpack_landed(home):
            print("no git history here: comparing with the last line alone", file=sys.stderr)
            return {}
        program = [sys.executable, str(home / "bench" / "ratios.py"), "--json"]
        paths = {**os.environ, "PYTHONPATH": str(home / "src")}
        told = subprocess.run(program, check=True, stdout=subprocess.PIPE, env=paths, cwd=home)
    return {name: (best, median) for name, (best, median) in json.loads(told.stdout).items()}


def unpack_landed(home: Path) -> bool:
    """Writes source and benchmarks of the commit that last changed the history into a folder."""
    root = Path(__file__).parents[1]
    git = ["git", "-C", str(root)]
    asked = [*git, "log", "-1", "--format=%H", "--", "bench/history.jsonl"]
    try:
        commit = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
        packed = subprocess.run([*git, "archive", commit, "src", "bench"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as files:
        files.extractall(home, filter="data")
    return True


def list_paths(home: Path, opened: ExitStack) -> Iterator[tuple[str, Run, Run, int]]:
    """Name, path, floor, and how many pieces of work a round has."""
    corpus = sentences(40_000)
    floor = Floor(home, corpus)
    written = opened.enter_context(Memory(home / "written.db"))
    written.remember(corpus[-1])
    fresh = iter(corpus[20_000:])
    yield "remember", lambda _: written.remember(next(fresh)), floor.store, 300

    def store_many(_: int) -> None:
        written.remember([next(fresh) for _ in range(300)])

    yield "remember 300 in one call", store_many, lambda _: floor.embed_many(300), 5
    for size in (1000, 10_000):
        memory = opened.enter_context(Memory(home / f"{size}.db"))
        floor.scan_over(size)
        memory.remember(corpus[:size])
        memory.remember(corpus[size : size + size // 100], source="rare")
        yield from list_reading(memory, floor, corpus, f"{size:,}")


def list_reading(
    memory: Memory, floor: Floor, corpus: list[str], size: str
) -> Iterator[tuple[str, Run, Run, int]]:
    asked = questions(corpus[:1000], 2000)
    memory.recall(asked[0])

    def recall_fresh(at: int) -> None:
        memory.remember(f"{corpus[-at - 2]} {time.time_ns()}")
        memory.recall(asked[at])

    def answer_and_store(at: int) -> None:
        floor.answer(asked[at])
        floor.store(at)

    rare = Where(source="rare")
    yield f"recall at {size}", lambda at: memory.recall(asked[at]), lambda at: floor.answer(asked[at]), 60
    yield (
        f"recall with a 1 % filter at {size}",
        lambda at: memory.recall(asked[at], where=rare),
        lambda at: floor.answer(asked[at]),
        60,
    )
    yield f"context at {size}", lambda at: memory.context(asked[at]), lambda at: floor.answer(asked[at]), 40
    yield f"remember, then recall at {size}", recall_fresh, answer_and_store, 40


class Floor:
    """The same work with an embedder, one bare table and one matrix."""

    def __init__(self, home: Path, corpus: list[str]) -> None:
        self._embedder = embedder_of(None)
        self._corpus = corpus
        self._bare = BareSqlite(home / "bare.db", "NORMAL")
        for text in corpus[:1000]:
            self._bare.insert(text)
        self._texts = iter(corpus[5000:])
        self._vectors = np.zeros((0, 0), np.float32)

    def scan_over(self, size: int) -> None:
        self._vectors = np.array(self._embedder.embed(self._corpus[:size]), np.float32)

    def store(self, _: int) -> None:
        text = next(self._texts)
        self._embedder.embed([text])
        self._bare.insert(text)

    def embed_many(self, count: int) -> None:
        self._embedder.embed([next(self._texts) for _ in range(count)])

    def answer(self, question: str) -> None:
        vector = np.asarray(self._embedder.embed([question])[0], np.float32)
        scores = self._vectors @ vector
        best = np.argpartition(-scores, 10)[:10]
        marks = ",".join("?" * 10)
        rows = [int(row) % 1000 + 1 for row in best]
        self._bare.connection.execute(f"SELECT * FROM bare WHERE seq IN ({marks})", rows).fetchall()


def compare(path: Run, floor: Run, times: int) -> tuple[float, float]:
    """The best and the median of the ratios of five rounds, after one that warms up.

    Path and floor take turns piece by piece, so that a busy moment of the machine meets both.
    """
    ratios = []
    for turn in range(ROUNDS + 1):
        spent, least = [], []
        for at in range(turn * times, (turn + 1) * times):
            spent.append(spend(path, at))
            least.append(spend(floor, at))
        ratios.append(statistics.median(spent) / statistics.median(least))
    return _sum_up(ratios[1:])


def spend(run: Run, at: int) -> float:
    """Seconds of CPU, of all threads."""
    start = time.process_time()
    run(at)
    return time.process_time() - start


def compare_start(home: Path) -> tuple[float, float]:
    """A new process up to its first answer against one that imports numpy and reads a row."""
    with Memory(home / "start.db") as memory:
        memory.remember("Ann lives in Lisbon.")
    at = str(home / "start.db")
    path = "import sys; from eidet import Memory; print(Memory(sys.argv[1]).recall('where does Ann live?'))"
    floor = "import sys, sqlite3, numpy; print(sqlite3.connect(sys.argv[1]).execute('SELECT 1').fetchall())"
    ratios = []
    for _ in range(ROUNDS + 1):
        ratios.append(spend_process(path, at) / spend_process(floor, at))
    return _sum_up(ratios[1:])


def spend_process(program: str, at: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program, at], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _sum_up(ratios: list[float]) -> tuple[float, float]:
    return round(min(ratios), 3), round(statistics.median(ratios), 3)


def sentences(count: int) -> list[str]:
    """Sentences of everyday English words with the frequencies of natural language, the same each time."""
    pick = random.Random(5)
    known = sorted({form for forms in load_forms() for form in forms if form.isalpha()})
    pick.shuffle(known)
    weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(known))))
    made = []
    for number in range(count):
        said = pick.choices(known, cum_weights=weights, k=pick.randint(8, 20))
        made.append(f"{pick.choice(NAMES)} told me that the {' '.join(said)} on day {number}.")
    return made


def questions(corpus: list[str], count: int) -> list[str]:
    pick = random.Random(6)
    made = []
    for _ in range(count):
        said = pick.choice(corpus).split()
        made.append(f"What did {said[0]} say about {' '.join(pick.sample(said[5:-3], 3))}?")
    return made


def read_last() -> Ratios:
    """What landed last on a machine like this one; nothing where there is no such line."""
    if not HISTORY.exists():
        return {}
    for line in reversed(HISTORY.read_text().splitlines()):
        last: dict[str, Any] = json.loads(line)
        if last["processor"] == read_processor():
            return {name: (best, median) for name, (best, median) in last["ratios"].items()}
    print(f"nothing to compare with: no line of the history is from {read_processor()}", file=sys.stderr)
    return {}


def read_processor() -> str:
    """A matrix product and an interpreter gain differently from another processor, so ratios move with it."""
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def append(measured: Ratios) -> None:
    line = {
        "day": datetime.now(UTC).strftime("%Y-%m-%d"),
        "version": __version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "processor": read_processor(),
        "ratios": measured,
    }
    with HISTORY.open("a") as file:
        file.write(json.dumps(line) + "\n")


def list_slower(measured: Ratios, last: Ratios) -> list[str]:
    found = []
    for name, (best, median) in measured.items():
        if name in last and best > WORSE * last[name][0] and median > WORSE * last[name][1]:
            found.append(name)
    return found


def keep_better(first: Ratios, second: Ratios) -> Ratios:
    return {name: min(first[name], second[name]) for name in first}


def print_table(measured: Ratios, last: Ratios, slower: list[str]) -> None:
    print(f"{'times the floor (CPU)':<36}{'best':>8}{'median':>8}{'last':>8}")
    for name, (best, median) in measured.items():
        before = f"{last[name][1]:8.2f}" if name in last else f"{'new':>8}"
        mark = "  slower" if name in slower else ""
        print(f"{name:<36}{best:8.2f}{median:8.2f}{before}{mark}")


def run_on_one_thread() -> None:
    """Starts again with matrix products on one thread: their waiting threads would count as CPU."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "EIDET_BENCH_ALONE")
    alone = dict.fromkeys(names, "1")
    if "EIDET_BENCH_ALONE" not in os.environ:
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **alone})


if __name__ == "__main__":
    run_on_one_thread()
    sys.exit(main())
