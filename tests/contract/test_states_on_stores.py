"""A state finds the states whose values are near its own, on every store."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.test_facts_on_stores import STORES
from tests.making import Clock, make_store

from eidet import Memory

CASES: dict[str, tuple[dict[str, Any], dict[str, dict[str, Any]]]] = {
    "a number": (
        {"health": 0.2},
        {"near": {"health": 0.25}, "far": {"health": 0.9}, "edge": {"health": 0.02}},
    ),
    "not the digits but the size": (
        {"gold": 100},
        {"near": {"gold": 99}, "far": {"gold": 1000}, "digits": {"gold": 1001}},
    ),
    "the sign": ({"mood": -3}, {"near": {"mood": -2.5}, "far": {"mood": 3}}),
    "fields of other sizes": (
        {"health": 0.5, "gold": 5000},
        {
            "near": {"health": 0.5, "gold": 5300},
            "far": {"health": 0.9, "gold": 5000},
            "poor": {"health": 0.1, "gold": 1000},
        },
    ),
    "a position": (
        {"position": [3, 4]},
        {"near": {"position": [3.5, 4]}, "far": {"position": [3, 40]}, "turned": {"position": [4, 30]}},
    ),
    "a nested dict": (
        {"inventory": {"wood": 5, "iron": 1}},
        {
            "near": {"inventory": {"wood": 6, "iron": 1}},
            "far": {"inventory": {"wood": 50, "iron": 1}},
            "swapped": {"inventory": {"wood": 1, "iron": 5}},
        },
    ),
    "a flag": (
        {"armed": True, "hp": 5},
        {"near": {"armed": True, "hp": 5}, "far": {"armed": False, "hp": 5}},
    ),
    "a missing field": (
        {"health": 0.2, "thirst": 0.7},
        {"near": {"health": 0.3, "thirst": 0.6}, "far": {"health": 0.2}, "other": {"gold": 1}},
    ),
    "nothing": (
        {"target": None, "hp": 3},
        {"near": {"target": None, "hp": 3}, "far": {"target": "orc", "hp": 3}},
    ),
    "items": (
        {"bag": ["rope", "lamp", 3], "hp": 1},
        {"near": {"bag": [3, "lamp", "rope", "map"], "hp": 1}, "far": {"bag": ["sword"], "hp": 1}},
    ),
    "a text and a number": (
        {"goal": "reach the harbour", "health": 0.2},
        {
            "near": {"goal": "reach the harbour", "health": 0.3},
            "far": {"goal": "sell the wood", "health": 0.2},
            "neither": {"goal": "sell the wood", "health": 0.9},
        },
    ),
    "a number where a text is": ({"level": 7}, {"near": {"level": 9}, "far": {"level": "7"}}),
    "numbers beyond a float": ({"n": 10**400}, {"near": {"n": 10**401}, "far": {"n": 1}}),
}


@pytest.fixture(params=STORES)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    store = make_store(request.param, tmp_path, request)
    with Memory(store, embedder="hashing", clock=Clock(1.73e9, tick=1.0)) as opened:
        yield opened


def test_near_values_come_first(memory: Memory) -> None:
    for name, (_, states) in CASES.items():
        for id, state in states.items():
            memory.remember(state, scope=name.replace(" ", "-"), id=id)
    for name, (query, _) in CASES.items():
        hits = memory.recall(query, scope=name.replace(" ", "-"))
        assert hits[0].id == "near", (name, [(hit.id, hit.score, hit.why()) for hit in hits])


def test_what_is_revised_or_forgotten_is_compared_as_it_is_now(memory: Memory) -> None:
    for id, health in (("a", 0.1), ("b", 0.5), ("c", 0.9)):
        memory.remember({"health": health}, id=id)
    assert [hit.id for hit in memory.recall({"health": 0.15})] == ["a", "b", "c"]
    memory.revise("c", data={"health": 0.12})
    assert memory.recall({"health": 0.15})[0].id == "c"
    memory.forget("c")
    memory.remember({"health": 0.16}, id="d")
    assert [hit.id for hit in memory.recall({"health": 0.15})] == ["d", "a", "b"]


def test_filters_scopes_and_units_hold(memory: Memory) -> None:
    for run in ("life/ann", "life/ben"):
        for step in range(6):
            memory.remember({"health": step / 10}, scope=run, session=f"day {step % 2}", step=step)
    hits = memory.recall({"health": 0.31}, scope="life/**", limit=4)
    assert [hit.record.step for hit in hits] == [3, 3, 4, 4]
    assert {hit.record.scope for hit in hits} == {"life/ann", "life/ben"}
    below = memory.recall({"health": 0.31}, scope="life/ann", where={"data.health": {"$lt": 0.25}})
    assert [hit.record.step for hit in below] == [2, 1, 0]
    days = memory.recall({"health": 0.31}, scope="life/ann", unit="session")
    assert [hit.record.step for hit in days] == [3, 4]
    shown = memory.recall({"health": 0.31}, scope="life/ann", least=0.9)
    assert [hit.record.step for hit in shown] == [3]


def test_many_threads_compare_while_one_writes(memory: Memory) -> None:
    memory.remember([{"n": n} for n in range(40)])
    wrong: list[str] = []

    def ask(n: int) -> None:
        for _ in range(5):
            hit = memory.recall({"n": n}, limit=1)[0]
            if hit.record.data["n"] != n:
                wrong.append(hit.text)

    threads = [threading.Thread(target=ask, args=(n,)) for n in (3, 17, 30)]
    for thread in threads:
        thread.start()
    for n in range(100, 110):
        memory.remember({"n": n})
    for thread in threads:
        thread.join()
    assert not wrong
