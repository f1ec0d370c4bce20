"""A soak: adds, recalls and upkeep for minutes at a fixed working set. Memory, file and latency stay flat?

    python bench/soak.py [--minutes 20] [--records 20000] [--plot bench/notes/soak.png]

The working set is fixed by a time to live of a tenth of the run for each added record and by upkeep that
deletes what expired, and what the history tells of it after as long; a tick is a hundredth of the run.
Flat means: the last third of the run is within a tenth of the middle third, in resident memory, file
size, and the medians of add and recall.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common import folder, queries, record, texts
from eidet import Memory
from eidet.core.settings import Upkeep

TICKS = 100


@dataclass
class Tick:
    """What a hundredth of the run was like."""

    at: float
    adds: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)
    resident_mb: float = 0.0
    file_mb: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    ticks, stats = soak(given.minutes * 60, given.records)
    record("soak", figures(ticks) | {"minutes": given.minutes, "records": given.records} | stats)
    if given.plot:
        draw(ticks, given.plot)


def soak(seconds: float, count: int) -> tuple[list[Tick], dict[str, Any]]:
    said, pick = texts(count * 2), random.Random(3)
    asked = queries(said, 500)
    lives = seconds / 10  # of an added record
    rate = count / lives / 2  # adds per second that keep half the set alive
    day = 86_400.0
    limits = Upkeep(
        short_age_days=lives / day / 3,
        middle_age_days=lives / day / 2,
        moves_told_days=lives / day,
        history_days=lives / day,
    )
    ticks: list[Tick] = []
    with folder() as place, Memory(place / "memory.db") as memory:
        for start in range(0, count // 2, 1000):
            memory.remember(said[start : start + 1000], keep_duplicates=True)
        began = time.perf_counter()
        works = ("expire", "promote", "move")
        with memory.upkeep.background(every=max(1.0, seconds / 200), settings=limits, only=works) as worker:
            done = 0
            while (passed := time.perf_counter() - began) < seconds:
                if not ticks or passed - ticks[-1].at > seconds / TICKS:
                    ticks.append(_measured(Tick(at=passed), place))
                if done < passed * rate:
                    text = f"{said[done % len(said)]} {done}"
                    ticks[-1].adds.append(_cost(lambda text=text: _add(memory, text, lives)))
                    done += 1
                if pick.random() < 0.2:
                    ticks[-1].recalls.append(_cost(lambda: memory.recall(pick.choice(asked))))
                time.sleep(0.0005)
            told = worker.stats()
    return ticks, {"adds": done, "rounds": told["rounds"], "errors": told["errors"]}


def _add(memory: Memory, text: str, lives: float) -> None:
    memory.remember(text, keep_duplicates=True, expires=time.time() + lives)


def _cost(call: Any) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def _measured(tick: Tick, place: Path) -> Tick:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    tick.resident_mb = pages * resource.getpagesize() / 2**20
    tick.file_mb = sum(file.stat().st_size for file in place.rglob("*") if file.is_file()) / 2**20
    return tick


def figures(ticks: list[Tick]) -> dict[str, Any]:
    """The middle and the last third of the run, and their ratio; flat is close to 1."""
    middle, last = ticks[len(ticks) // 3 : 2 * len(ticks) // 3], ticks[2 * len(ticks) // 3 :]
    told: dict[str, Any] = {}
    for name, value in (
        ("resident MB", lambda t: t.resident_mb),
        ("file MB", lambda t: t.file_mb),
        ("add p50 ms", lambda t: statistics.median(t.adds) if t.adds else 0.0),
        ("recall p50 ms", lambda t: statistics.median(t.recalls) if t.recalls else 0.0),
    ):
        one, other = statistics.mean(map(value, middle)), statistics.mean(map(value, last))
        told |= {f"{name}, middle third": one, f"{name}, last third": other, f"{name}, ratio": other / one}
    return told


def draw(ticks: list[Tick], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    parts: Any = figure.subplots(2, 2).flatten()
    minutes = [tick.at / 60 for tick in ticks]
    rows = (
        ("resident memory, MB", [tick.resident_mb for tick in ticks]),
        ("files, MB", [tick.file_mb for tick in ticks]),
        ("add p50, ms", [statistics.median(tick.adds or [0.0]) for tick in ticks]),
        ("recall p50, ms", [statistics.median(tick.recalls or [0.0]) for tick in ticks]),
    )
    for axes, (name, values) in zip(parts, rows, strict=True):
        axes.plot(minutes, values)
        axes.set(title=name, xlabel="minutes", ylim=(0, max(values) * 1.2 or 1))
    figure.savefig(path)


if __name__ == "__main__":
    main()
