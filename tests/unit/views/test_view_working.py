"""Working memory: the task at hand, in RAM or kept."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from eidet import BadInput, Memory
from eidet.views import Working


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture(params=[False, True], ids=["ram", "kept"])
def working(request: pytest.FixtureRequest, memory: Memory) -> Working:
    return Working(memory, session="s", agent="a", persist=request.param)


def test_a_new_one_is_empty_and_has_nothing_to_tell(working: Working) -> None:
    assert (working.task, working.goal, working.subgoals) == ("", "", [])
    assert (working.results, working.scratchpad, working.variables) == ({}, [], {})
    assert len(working.task_id) == 8
    assert working.prompt() == ""
    assert working.result("x") is None
    assert working.get("x", 3) == 3
    assert working.pop_goal() is None


def test_everything_that_is_set_is_there(working: Working) -> None:
    working.set_task("Book a trip")
    working.push_goal("find a train")
    working.push_goal("find a seat")
    working.add_result("trains", ["RJ 63", "RJ 65"])
    working.think("The early one is cheaper")
    working.set("budget", 100)
    assert working.task == working.goal == "Book a trip"
    assert working.subgoals == ["find a train", "find a seat"]
    assert working.result("trains") == ["RJ 63", "RJ 65"]
    assert working.scratchpad == ["The early one is cheaper"]
    assert working.get("budget") == 100
    assert working.pop_goal() == "find a seat"
    working.set_goal("arrive")
    assert working.goal == "arrive"
    assert working.prompt() == (
        "Task: Book a trip\nGoal: arrive\nSubgoals: find a train\nResults:\n- trains: ['RJ 63', 'RJ 65']\n"
        "Variables:\n- budget: 100\nThoughts:\n- The early one is cheaper"
    )


def test_another_task_begins_anew_but_keeps_the_variables(working: Working) -> None:
    working.set_task("one")
    first = working.task_id
    working.add_result("k", 1)
    working.think("hm")
    working.push_goal("g")
    working.set("v", 1)
    working.set_task("two")
    assert working.task_id != first
    assert (working.results, working.scratchpad, working.subgoals) == ({}, [], [])
    assert working.variables == {"v": 1}


def test_the_prompt_shows_the_last_thoughts_and_the_beginning_of_long_values(working: Working) -> None:
    working.add_result("page", "x" * 1_000)
    for number in range(9):
        working.think(f"thought {number}")
    told = working.prompt()
    assert "- page: " + "x" * 200 + "…" in told
    assert "thought 3" not in told
    assert "thought 8" in told


def test_the_properties_are_copies(working: Working) -> None:
    working.push_goal("a")
    working.subgoals.append("b")
    working.results["x"] = 1
    assert working.subgoals == ["a"]
    assert working.results == {}


@pytest.mark.parametrize(
    "bad", [{"task": 3}, {"subgoals": "x"}, {"results": []}, {"mood": "good"}, {"variables": {1: 2}}]
)
def test_a_bad_state_changes_nothing(working: Working, bad: Any) -> None:
    working.set_task("t")
    with pytest.raises(BadInput):
        working.update(**bad)
    assert working.task == "t"
    with pytest.raises(BadInput):
        working.think(3)  # type: ignore[arg-type]


def test_in_ram_a_value_may_be_anything_and_what_is_kept_is_json(memory: Memory) -> None:
    thing, ram, kept = object(), Working(memory), Working(memory, persist=True)
    ram.add_result("thing", thing)
    assert ram.result("thing") is thing
    with pytest.raises(BadInput):
        kept.add_result("thing", thing)
    assert memory.count() == 0, "nothing was written, and RAM writes nothing at all"


def test_what_is_kept_survives_a_restart_and_is_shown_in_the_context(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db") as memory:
        working = Working(memory, agent="a", session="s", persist=True)
        working.set_task("Paint the fence")
        working.set("colour", "green")
        told = working.prompt()
    with Memory(tmp_path / "m.db") as memory:
        again = Working(memory, agent="a", session="s", persist=True)
        assert again.prompt() == told
        assert "Paint the fence" in memory.context("what now?").text
        again.clear()
        assert again.task == ""
        assert memory.count() == 0
        again.set_task("Paint the fence")
        assert again.task == "Paint the fence", "what was cleared may be said again"


def test_agents_sessions_and_scopes_have_their_own(memory: Memory) -> None:
    views = [
        Working(memory, agent=agent, session=session, scope=scope, persist=True)
        for agent in (None, "a", "b")
        for session in (None, "s")
        for scope in ("default", "other")
    ]
    for number, view in enumerate(views):
        view.set("mine", number)
    assert [view.get("mine") for view in views] == list(range(12))


@pytest.mark.parametrize("persist", [False, True], ids=["ram", "kept"])
def test_no_change_of_many_threads_is_lost(memory: Memory, persist: bool) -> None:
    alone = Working(memory, persist=persist)
    barrier = threading.Barrier(4)

    def note(who: int) -> None:
        view = Working(memory, persist=True) if persist else alone
        barrier.wait()
        for number in range(5):
            view.think(f"{who}.{number}")

    threads = [threading.Thread(target=note, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(alone.scratchpad) == sorted(f"{who}.{number}" for who in range(4) for number in range(5))
