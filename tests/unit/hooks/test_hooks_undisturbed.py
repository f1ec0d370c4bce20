"""Hooks never disturb the agent, whatever goes wrong in a memory."""

from __future__ import annotations

import asyncio
import logging
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.unit.hooks.agents import Agent, kept

from eidet import Memory
from eidet.hooks import Captured, install_hooks, with_hooks
from eidet.hooks.keep import warn


def test_the_agents_own_exception_passes_untouched_and_is_a_failed_action(memory: Memory) -> None:
    error = KeyError("lost")

    class Failing(Agent):
        def act(self, observation: Any = None, *, hurt: float = 0.0) -> dict[str, Any]:
            self.ran += 1
            raise error

    agent = with_hooks(Failing(), memory=memory)
    with pytest.raises(KeyError) as caught:
        agent.act()
    assert caught.value is error
    assert error.__context__ is None
    assert agent.ran == 1
    assert kept(memory, "action")[0].data["error"] == "KeyError: 'lost'"
    with pytest.raises(TypeError, match="unexpected"):
        agent.act(nonsense=1)  # type: ignore[call-arg]


class Broken(Agent):
    def get_state(self) -> Any:
        raise RuntimeError("no state today")


class AsyncState(Agent):
    async def get_state(self) -> Any:
        return {}


def _refusing(captured: Captured) -> None:
    raise ConnectionError("the store is away")


@pytest.mark.parametrize(
    ("agent", "how"),
    [
        (Broken(), {"memory": Memory(embedder="hashing")}),
        (AsyncState(), {"memory": Memory(embedder="hashing")}),
        (Agent(), {"store": _refusing}),
        (Agent("x" * 2_000), {"memory": Memory(embedder="hashing")}),
        (Agent(), {}),
    ],
    ids=["broken state", "async state", "broken store", "refused", "no memory"],
)
def test_whatever_goes_wrong_the_method_runs_once_and_the_log_tells(
    agent: Agent, how: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    hooked = with_hooks(agent, **how)
    with caplog.at_level(logging.WARNING, logger="eidet"):
        for number in range(5):
            assert hooked.act({"n": number})["seen"] == {"n": number}
    assert hooked.ran == 5
    places = [record.args[0] for record in caplog.records if isinstance(record.args, tuple)]
    assert places
    assert len(places) == len(set(places)), "once a minute for each place"
    assert all("act" in str(place) for place in places)


def test_an_agent_whose_state_is_not_known_still_has_its_actions_kept(memory: Memory) -> None:
    with_hooks(Broken("b"), memory=memory).act()
    [action] = kept(memory)
    assert (action.kind, action.agent, action.data["changes"]) == ("action", "b", {})


def test_a_closed_memory_disturbs_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    memory = Memory(tmp_path / "m.db")
    agent = with_hooks(Agent(), memory=memory)
    memory.close()
    assert agent.act()["reward"] == 0.5
    assert agent.ran == 1
    assert "act" in caplog.text

    class Async:
        async def act(self) -> int:
            return 3

    assert asyncio.run(with_hooks(Async(), memory=memory).act()) == 3


def test_trouble_is_told_once_a_minute_for_each_place(caplog: pytest.LogCaptureFixture) -> None:
    for at in (0.0, 1.0, 59.9, 60.0, 61.0):
        warn("here", ValueError(f"at {at}"), at)
        warn("there", ValueError(f"at {at}"), at)
    assert [record.getMessage() for record in caplog.records if "here:" in record.getMessage()] == [
        f"hooks: {place}: ValueError: at {at}" for at in (0.0, 60.0) for place in ("here", "there")
    ]


def test_many_threads_are_captured_each(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="hashing") as memory:

        @install_hooks(memory=memory)
        class Counting:
            def __init__(self) -> None:
                self.lock_free = 0

            def act(self, who: int, number: int) -> tuple[int, int]:
                return who, number

        agent = Counting()

        def run(who: int) -> None:
            for number in range(10):
                assert agent.act(who, number) == (who, number)

        threads = [threading.Thread(target=run, args=(who,)) for who in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        actions = kept(memory, "action")
        assert sorted(tuple(record.data["result"]) for record in actions) == [
            (w, n) for w in range(6) for n in range(10)
        ]
        assert sorted(record.step or 0 for record in actions) == list(range(60))
