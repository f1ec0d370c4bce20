"""Agents' states through the door `eidet.compat.api`: stored, and asked for by attribute, step, likeness.

    python bench/states.py      a table; --json prints the same as JSON, --sizes 1000 10000 says how many

Answers are not cached (`set_cache_ttl(0)`). Goals: 1,000 states stored a second; a query takes at most
2 ms (median) among 1,000 states and 10 ms among 10,000, and grows no faster than their number. `--cpu` counts
the time of the processor instead of the clock's: the same on a machine that does nothing else, and
comparable on one that does.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import folder
from eidet.compat.api import AgentMemoryAPI, MemoryConfig, MemorySpace

AGENT = "agent-1"
Clock = Callable[[], float]
ROUNDS = 60
GOALS = {1_000: 2.0, 10_000: 10.0}  # ms
MOODS = ("calm", "angry", "tired", "curious", "afraid")
ACTIONS = ("trade", "move", "rest", "gather", "explore", "fight", "build", "talk")
THINGS = ("wood", "stone", "iron", "bread", "water", "rope", "gold", "cloth")


def states(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """What an agent of a simulation is at each step: numbers, words, lists and dicts."""
    pick = random.Random(seed)
    return [
        {
            "position": [pick.randint(0, 500), pick.randint(0, 500)],
            "health": round(pick.random(), 3),
            "mood": pick.choice(MOODS),
            "action_type": pick.choice(ACTIONS),
            "inventory": {thing: pick.randint(0, 9) for thing in pick.sample(THINGS, 3)},
            "target": f"agent-{pick.randint(2, 60)}",
            "note": f"{pick.choice(ACTIONS)} {pick.choice(THINGS)} near the {pick.choice(THINGS)} store",
        }
        for _ in range(count)
    ]


def queries(
    count: int, seed: int = 2
) -> dict[str, tuple[Callable[[MemorySpace, Any], list[Any]], list[Any]]]:
    """By name: what is called, and with what; each call with other values."""
    pick = random.Random(seed)
    starts = [pick.randint(0, count - 50) for _ in range(ROUNDS)]
    pairs = [{"target": f"agent-{pick.randint(2, 60)}", "mood": pick.choice(MOODS)} for _ in range(ROUNDS)]
    nested = [{"inventory.gold": pick.randint(0, 9), "mood": pick.choice(MOODS)} for _ in range(ROUNDS)]
    common = [{"mood": mood, "action_type": pick.choice(ACTIONS)} for mood in MOODS * (ROUNDS // 5)]
    words = [f"{pick.choice(ACTIONS)} {pick.choice(THINGS)}" for _ in range(ROUNDS)]
    alike = states(ROUNDS, seed=3)
    return {
        "attributes (1 in 300 match)": (lambda s, q: s.retrieve_by_attributes(q), pairs),
        "nested attribute (1 in 130)": (lambda s, q: s.retrieve_by_attributes(q), nested),
        "attributes (1 in 40), newest 10": (lambda s, q: s.retrieve_by_attributes(q, k=10), common),
        "step range (50 steps)": (lambda s, q: s.retrieve_by_time_range(q, q + 49), starts),
        "similar states (k=5)": (lambda s, q: s.retrieve_similar_states(q, k=5), alike),
        "content (k=5)": (lambda s, q: s.search_by_content(q, k=5), words),
        "recent states (10)": (lambda s, q: s.retrieve_recent_states(q), [10] * ROUNDS),
    }


def median_ms(
    ask: Callable[[MemorySpace, Any], list[Any]], space: MemorySpace, items: list[Any], clock: Clock
) -> float:
    spent = []
    for item in items:
        start = clock()
        ask(space, item)
        spent.append((clock() - start) * 1000)
    return statistics.median(spent)


def measured(count: int, path: Path | None, clock: Clock) -> dict[str, float]:
    """Stores so many states one by one, then asks; medians in ms, and states stored a second."""
    config = MemoryConfig(stm_config={"memory_limit": 10 * count})
    with AgentMemoryAPI(config, memory=path) as api:
        space = api.get_memory_space(AGENT)
        space.set_cache_ttl(0)
        space.store_state({"mood": "warm"}, 0)  # loads the embedder
        told, start = states(count), clock()
        for step, state in enumerate(told, 1):
            space.store_state(state, step, priority=state["health"])
        found = {"stored a second": count / (clock() - start)}
        for name, (ask, items) in queries(count).items():
            for item in items[:5]:  # columns and terms are made when they are first asked for
                ask(space, item)
            found[name] = median_ms(ask, space, items, clock)
        return found


def run(sizes: list[int], clock: Clock) -> dict[str, dict[str, float]]:
    results = {}
    for count in sizes:
        results[f"{count:,} in RAM"] = measured(count, None, clock)
        with folder() as there:
            results[f"{count:,} in SQLite"] = measured(count, there / "states.db", clock)
    return results


def table(results: dict[str, dict[str, float]], sizes: list[int]) -> str:
    names = next(iter(results.values()))
    lines = [f"{'':<34}" + "".join(f"{column:>18}" for column in results)]
    lines += [f"{name:<34}" + "".join(f"{row[name]:>18,.2f}" for row in results.values()) for name in names]
    small, large = sizes[0], sizes[-1]
    if small != large:
        lines.append(
            f"\nfrom {small:,} to {large:,} ({large / small:g} times as many) a query takes, times as long:"
        )
        for name in list(names)[1:]:
            grown = [
                results[f"{large:,} in {at}"][name] / results[f"{small:,} in {at}"][name]
                for at in ("RAM", "SQLite")
            ]
            lines.append(f"{name:<34}" + "".join(f"{value:>18,.1f}" for value in grown))
    return "\n".join(lines)


def missed(results: dict[str, dict[str, float]]) -> list[str]:
    told = []
    for column, row in results.items():
        limit = GOALS.get(int(column.split()[0].replace(",", "")), float("inf"))
        told += [f"{column}: {name} {value:.2f} ms" for name, value in list(row.items())[1:] if value > limit]
        if row["stored a second"] < 1000:
            told.append(f"{column}: {row['stored a second']:,.0f} stored a second")
    return told


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--json", action="store_true")
    asked.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    asked.add_argument("--cpu", action="store_true")
    given = asked.parse_args()
    results = run(given.sizes, time.process_time if given.cpu else time.perf_counter)
    if given.json:
        print(json.dumps(results, indent=1))
        return
    load, _, _ = os.getloadavg()
    told = (
        "of the processor"
        if given.cpu
        else f"by the clock, at a load of {load:.1f} on {os.cpu_count()} cores"
    )
    print(f"medians in ms {told}; the first row is states a second")
    print(table(results, given.sizes))
    print("\nmissed: " + ("; ".join(missed(results)) or "no goal"))


if __name__ == "__main__":
    main()
