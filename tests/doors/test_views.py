"""The four kinds of memory and the hooks, seen from outside, in RAM and in a file."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.making import contents

from eidet import Memory
from eidet.views import Conversation, Episodic, Semantic, Working


@pytest.mark.point(109)
def test_the_four_types_share_one_memory_and_the_verbs_find_what_they_hold(memory: Memory) -> None:
    Working(memory, persist=True).set_task("Plan the trip to Graz")
    Conversation(memory, "s").add("The trip to Graz has to be cheap")
    Semantic(memory).add("Graz is in Styria")
    Episodic(memory).record("The trip to Graz was late", outcome="missed the talk", success=False)
    kinds = {hit.record.kind for hit in memory.recall("the trip to Graz", limit=10, least=0)}
    assert kinds >= {"message", "fact", "episode"}
    assert memory.admin.stats()["kinds"] == {"working": 1, "message": 1, "fact": 1, "episode": 1}
    context = memory.context("the trip to Graz").text
    assert "Plan the trip to Graz" in context
    assert "has to be cheap" in context


@pytest.mark.point(109)
def test_all_of_it_is_there_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "agent.db"
    with Memory(file) as memory:
        Working(memory, agent="a", persist=True).set_task("Paint")
        log = Conversation(memory, "s")
        log.extend([f"message {number}" for number in range(20)])
        log.summarise(keep=5, text="They talked.")
        Semantic(memory).add("The fence is green", importance=0.9)
        Episodic(memory).record("It rained", lessons=["Cover the fence"])
    with Memory(file) as memory:
        log = Conversation(memory, "s")
        assert Working(memory, agent="a", persist=True).task == "Paint"
        assert contents(log.messages()) == [f"message {number}" for number in range(15, 20)]
        assert log.summary == "They talked."
        assert Semantic(memory).search("what colour is the fence?")[0].record.importance == 0.9
        assert Episodic(memory).lessons("rain") == ["Cover the fence"]


@pytest.mark.point(109)
def test_two_processes_share_the_log_of_a_session(tmp_path: Path) -> None:
    file = tmp_path / "agent.db"
    program = """
        import sys
        from eidet import Memory
        from eidet.views import Conversation, Working
        with Memory(sys.argv[1]) as memory:
            log = Conversation(memory, "s", agent="child")
            log.add("from the child", id="once")
            log.add("from the child", id="once")
            Working(memory, persist=True).think("child")
    """
    with Memory(file) as memory:
        log, working = Conversation(memory, "s", agent="parent"), Working(memory, persist=True)
        log.add("before")
        working.think("parent")
        subprocess.run([sys.executable, "-c", textwrap.dedent(program), str(file)], check=True, timeout=60)
        log.add("after")
        assert contents(log.messages()) == ["before", "from the child", "after"]
        assert [record.agent for record in log.records()] == ["parent", "child", "parent"]
        assert working.scratchpad == ["parent", "child"]


@pytest.mark.point(146)
def test_experiences_are_found_with_what_came_of_them(memory: Memory) -> None:
    lived = Episodic(memory)
    ids = [
        lived.record(
            f"Attempt {number} to open the door", success=number == 2, session="s", occurred=float(number)
        ).id
        for number in range(4)
    ]
    assert [hit.id for hit in lived.similar("opening a door", success=True)] == [ids[2]]
    assert [record.id for record in memory.find(session="s", kinds="episode", order="occurred")] == ids
