"""The four kinds of memory and the hooks, seen from outside, in RAM and in a file."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from tests.making import contents

from eidet import AsyncMemory, Memory
from eidet.hooks import install_hooks, with_hooks
from eidet.views import AsyncConversation, Conversation, Episodic, Semantic, Working


@pytest.mark.point(109)
def test_the_four_types_share_one_memory_and_the_verbs_find_what_they_hold(memory: Memory) -> None:
    Working(memory, persist=True).set_task("Plan the trip to Graz")
    Conversation(memory, "s").add("The trip to Graz has to be cheap")
    Semantic(memory).add("Graz is in Styria")
    Episodic(memory).record("The trip to Graz was late", outcome="missed the talk", success=False)
    kinds = {hit.record.kind for hit in memory.recall("the trip to Graz", limit=10)}
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


@pytest.mark.point(109)
def test_scopes_are_apart_in_every_view(memory: Memory) -> None:
    for scope in ("acme/ann", "acme/bob"):
        Working(memory, scope=scope, persist=True).set_task(scope)
        Conversation(memory, "s", scope=scope).add(f"I am {scope}")
        Semantic(memory, scope=scope).add(f"The owner is {scope}", key="owner")
        Episodic(memory, scope=scope).record(f"Met {scope}", lessons=[scope])
    ann = "acme/ann"
    assert Working(memory, scope=ann, persist=True).task == ann
    assert contents(Conversation(memory, "s", scope=ann).messages()) == ["I am acme/ann"]
    assert [record.text for record in Semantic(memory, scope=ann).all()] == ["The owner is acme/ann"]
    assert Episodic(memory, scope=ann).lessons("met somebody") == [ann]
    Conversation(memory, "s", scope=ann).clear()
    Working(memory, scope=ann, persist=True).clear()
    assert len(Conversation(memory, "s", scope="acme/bob")) == 1
    assert memory.count(scope="acme/bob") == 4


@pytest.mark.point(109)
def test_the_async_views_work_at_the_same_place(place: Path | None) -> None:
    async def use() -> list[str | None]:
        async with AsyncMemory(place) as memory:
            log = AsyncConversation(memory, "s")
            for number in range(5):
                await log.add(f"message {number}")
            await log.pop()
            return contents(await log.messages(2))

    assert asyncio.run(use()) == ["message 2", "message 3"]


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
    assert [record.id for record in lived.around(ids[1], 1)] == ids[:3]
    assert [record.id for record in lived.of_session("s")] == ids


class Robot:
    def __init__(self) -> None:
        self.agent_id, self.step_number, self.battery = "robot-7", 0, 1.0

    def act(self, order: str) -> dict[str, Any]:
        self.step_number += 1
        self.battery -= 0.1
        if order == "jump":
            raise ValueError("no legs")
        return {"action": order, "reward": 0.4}


@pytest.mark.point(167, 168, 170, 171, 172, 173)
@pytest.mark.parametrize("how", ["class", "instance"])
def test_what_an_agent_does_and_becomes_is_kept(memory: Memory, how: str) -> None:
    if how == "class":
        agent: Robot = install_hooks(memory=memory)(type("Hooked", (Robot,), {}))()
    else:
        agent = with_hooks(Robot(), memory=memory)
    agent.act("turn")
    agent.act("stop")
    actions = memory.find(kinds="action", agent="robot-7", order="step")
    states = memory.find(kinds="state", agent="robot-7", order="step")
    assert [(record.step, record.data["action"]) for record in actions] == [(0, "turn"), (1, "stop")]
    assert [(record.step, round(record.data["battery"], 1)) for record in states] == [
        (0, 1.0),
        (1, 0.9),
        (2, 0.8),
    ]
    assert actions[0].data["changes"]["battery"] == {"previous": 1.0, "new": 0.9}
    assert actions[0].data["reward"] == 0.4


@pytest.mark.point(174)
def test_trouble_with_the_memory_never_reaches_the_agent(place: Path | None) -> None:
    memory = Memory(place)
    agent = with_hooks(Robot(), memory=memory)
    with pytest.raises(ValueError, match="no legs"):
        agent.act("jump")
    assert memory.find(kinds="action")[0].data["error"] == "ValueError: no legs"
    memory.close()
    assert agent.act("turn") == {"action": "turn", "reward": 0.4}
    assert agent.step_number == 2, "each call ran once"
