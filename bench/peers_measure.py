"""One measurement of one peer in a process of its own: `peers_measure.py JOB.json`; the answer is JSON.

`peers.py` writes the job and reads the answer. Jobs: add, count, load, lag, search, quality.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import sqlite3
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from peers_engines import ENGINES, Engine, Item
from peers_list import PEERS

WARM_UP = 20
FIRST = Item(id="item-first", text="The first one loads the model.")
FEWEST = 20  # questions that are measured however long they take
LAGS = 100  # texts that are looked for as soon as they are written
LOST = 2.0  # seconds after which one is not looked for any more


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    answer = JOBS[job["do"]](job)
    answer["versions"] = find_versions(PEERS[job["peer"]].packages)
    Path(job["answer"]).write_text(json.dumps(answer))
    if job["do"] == "add":
        os._exit(0)  # nothing is closed: `count` then sees what was durable


def add(job: dict[str, Any]) -> dict[str, Any]:
    """One text after the other for some time; each 100 are timed. Ends without closing anything."""
    texts = read_material(job, "texts")
    engine = open_engine(job)
    engine.add(FIRST)
    spent, began = [], time.perf_counter()
    for at in range(0, job["count"], 100):
        start = time.perf_counter()
        for item in make_items(texts, at, at + 100):
            engine.add(item)
        spent.append(time.perf_counter() - start)
        if time.perf_counter() - began > job["seconds"]:
            break
    tenth = max(1, len(spent) // 10)
    return {
        "added": 100 * len(spent),
        "per second": 100 * len(spent) / sum(spent),
        "per second, first tenth": 100 * tenth / sum(spent[:tenth]),
        "per second, last tenth": 100 * tenth / sum(spent[-tenth:]),
    }


def count(job: dict[str, Any]) -> dict[str, Any]:
    """How many of the texts are there after a process that ended without closing."""
    engine = open_engine(job)
    found = engine.count()
    engine.close()
    return {"found": found}


def load(job: dict[str, Any]) -> dict[str, Any]:
    """All texts by the call that the peer has for many; gives up once it sees that it takes too long."""
    texts, size, chunk = read_material(job, "texts"), job["size"], PEERS[job["peer"]].chunk
    engine = open_engine(job)
    engine.add(FIRST)
    began = time.perf_counter()
    for at in range(0, size, chunk):
        engine.add_many(make_items(texts, at, min(size, at + chunk)))
        spent = time.perf_counter() - began
        done = min(size, at + chunk)
        if done < size and spent > 5 and spent * size / done > job["seconds"]:
            return {"left out": f"loading would take {spent * size / done:,.0f} s or more"}
    spent = time.perf_counter() - began
    engine.close()
    return {"per second": size / spent, "seconds": spent}


def lag(job: dict[str, Any]) -> dict[str, Any]:
    """Adds texts to a store that has some, and asks for each in its own words until it is found."""
    texts, size, chunk = read_material(job, "texts"), job["size"], PEERS[job["peer"]].chunk
    engine = open_engine(job)
    for at in range(0, size, chunk):
        engine.add_many(make_items(texts, at, min(size, at + chunk)))
    engine.search(texts[0], 10)
    spent, at_once = [], 0
    for item in make_items(texts, size, size + LAGS):
        engine.add(item)
        start, asked = time.perf_counter(), 1
        while item.id not in engine.search(item.text, 10):
            if time.perf_counter() - start > LOST:
                break
            asked += 1
        spent.append((time.perf_counter() - start) * 1000)
        at_once += asked == 1 and spent[-1] < LOST * 1000
    engine.close()
    return {
        "asked": LAGS,
        "found at once": at_once,
        "p50 ms": statistics.median(spent),
        "worst ms": max(spent),
    }


def search(job: dict[str, Any]) -> dict[str, Any]:
    """A new process: the time to its first answer, then questions with ten hits each, then rare words."""
    engine = open_engine(job)
    opened = time.time() - job["began"]
    asked = read_material(job, "questions")
    engine.search(asked["plain"][0], 10)
    first = time.time() - job["began"]
    for query in asked["plain"][:WARM_UP]:
        engine.search(query, 10)
    spent = ask_all(engine, asked["plain"][WARM_UP:], job["seconds"])
    found = find_rare(engine, asked["rare"], job["seconds"])
    answer = {
        "opened, s": opened,
        "first answer, s": first,
        "p50 ms": statistics.median(spent),
        "p95 ms": statistics.quantiles(spent, n=20)[18],
        "questions": len(spent),
        "memory MB": read_memory("VmRSS"),
        "peak MB": read_memory("VmHWM"),
    }
    engine.close()
    return answer | found


def ask_all(engine: Engine, asked: Sequence[str], seconds: float) -> list[float]:
    spent: list[float] = []
    for query in asked:
        start = time.perf_counter()
        engine.search(query, 10)
        spent.append((time.perf_counter() - start) * 1000)
        if len(spent) >= FEWEST and sum(spent) > seconds * 1000:
            break
    return spent


def find_rare(engine: Engine, asked: Sequence[tuple[str, int]], seconds: float) -> dict[str, int]:
    """How often the text with the rare word of the question is among the first five."""
    found, done, began = 0, 0, time.perf_counter()
    for query, at in asked:
        found += f"item-{at}" in engine.search(query, 5)
        done += 1
        if done >= FEWEST and time.perf_counter() - began > seconds:
            break
    return {"rare found": found, "rare asked": done}


def quality(job: dict[str, Any]) -> dict[str, Any]:
    """Each case in a store of its own; the first ten ids for every question."""
    answers, chunk, began = [], PEERS[job["peer"]].chunk, time.perf_counter()
    for case in json.loads(Path(job["cases"]).read_text()):
        items = read_items(case, job["form"])
        engine = open_engine(job)
        for at in range(0, len(items), chunk):
            engine.add_many(items[at : at + chunk])
        for question in case["questions"]:
            answers.append((question["gold"], engine.search(question["text"], 10, question["now"])))
        engine.close()
        shutil.rmtree(job["home"])
        if time.perf_counter() - began > job["seconds"]:
            return {"left out": f"not finished after {job['seconds']:,} s"}
    return {"answers": answers, "set": job["set"]}


def read_items(case: dict[str, Any], form: str) -> list[Item]:
    """`full` has the labels as fields, `text` none, `labelled` has date and speaker in the text."""
    items = []
    for one in case["items"]:
        if form == "full":
            items.append(Item(id=one["id"], text=one["text"], labels=one["labels"]))
        else:
            items.append(Item(id=one["id"], text=one[form]))
    return items


def open_engine(job: dict[str, Any]) -> Engine:
    home = Path(job["home"])
    home.mkdir(parents=True, exist_ok=True)
    engine: Engine = ENGINES[job["peer"]](home)
    return engine


def read_material(job: dict[str, Any], name: str) -> Any:
    return json.loads((Path(job["material"]) / f"{name}.json").read_text())


def make_items(texts: Sequence[str], start: int, end: int) -> list[Item]:
    items = []
    for at in range(start, end):
        items.append(Item(id=f"item-{at}", text=texts[at]))
    return items


def read_memory(name: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    raise LookupError(f"/proc/self/status has no {name}")


def find_versions(packages: Sequence[str]) -> dict[str, str]:
    found = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    for package in (*packages, "numpy", "wordllama"):
        name = package.split("==")[0]
        found[name] = importlib.metadata.version(name.partition("[")[0])
    return found


JOBS = {"add": add, "count": count, "load": load, "lag": lag, "search": search, "quality": quality}

if __name__ == "__main__":
    main()
