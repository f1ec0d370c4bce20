"""Working memory: the task at hand, its goals, results, thoughts and variables."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..memory import Memory
from .state_home import StateInRam, StateRecord, WorkingState


class Working:
    """The task at hand. In RAM only, or with `persist` one record of the memory.

    That record is of one scope, agent and session, survives a restart and is shown by
    `Memory.context`. Views of the same one, in any thread or process, see each other's changes, and
    none is lost. In RAM, values may be anything; what is persisted is JSON.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        session: str | None = None,
        scope: str = "default",
        agent: str | None = None,
        persist: bool = False,
    ) -> None:
        record = StateRecord(memory, scope, agent, session)  # also where it is not used: it checks the scope
        self._home: StateInRam | StateRecord = record if persist else StateInRam()

    # Each property is a copy of the moment; changes go through the methods.

    @property
    def task(self) -> str:
        return self._home.read().task

    @property
    def task_id(self) -> str:
        return self._home.read().task_id

    @property
    def goal(self) -> str:
        return self._home.read().goal

    @property
    def subgoals(self) -> list[str]:
        return list(self._home.read().subgoals)

    @property
    def results(self) -> dict[str, Any]:
        return dict(self._home.read().results)

    @property
    def scratchpad(self) -> list[str]:
        return list(self._home.read().scratchpad)

    @property
    def variables(self) -> dict[str, Any]:
        return dict(self._home.read().variables)

    def set_task(self, task: str) -> None:
        """Begins another task, which is also the goal; variables stay, all else begins anew."""
        fresh = {"results": {}, "subgoals": (), "scratchpad": (), "task_id": uuid.uuid4().hex[:8]}
        self.update(task=task, goal=task, **fresh)

    def set_goal(self, goal: str) -> None:
        self.update(goal=goal)

    def add_result(self, key: str, value: Any) -> None:
        self._home.change(lambda state: (state.but({"results": {**state.results, key: value}}), None))

    def result(self, key: str) -> Any:
        """None if there is none."""
        return self._home.read().results.get(key)

    def think(self, thought: str) -> None:
        """Notes a thought on the scratchpad."""
        self._home.change(lambda state: (state.but({"scratchpad": (*state.scratchpad, thought)}), None))

    def set(self, name: str, value: Any) -> None:
        self._home.change(lambda state: (state.but({"variables": {**state.variables, name: value}}), None))

    def get(self, name: str, default: Any = None) -> Any:
        return self._home.read().variables.get(name, default)

    def push_goal(self, goal: str) -> None:
        """A subgoal on top of those there are."""
        self._home.change(lambda state: (state.but({"subgoals": (*state.subgoals, goal)}), None))

    def pop_goal(self) -> str | None:
        """Takes the top subgoal away; None if there is none."""
        return self._home.change(_pop_subgoal)

    def update(self, /, **changes: Any) -> None:
        """Replaces whole parts of the state at once: `update(goal=…, subgoals=[…])`."""
        self._home.change(lambda state: (state.but(changes), None))

    def prompt(self) -> str:
        """The state as lines for a language model; the empty text while there is none."""
        return self._home.read().prompt()

    def clear(self) -> None:
        self._home.clear()

    def state(self) -> dict[str, Any]:
        """All of it, as JSON; an error names what is none."""
        return self._home.read().as_json()

    def load(self, state: Mapping[str, Any]) -> None:
        """Replaces all of it by what `state` gave."""
        loaded = WorkingState.of(state)
        fresh = loaded if loaded.task_id else replace(loaded, task_id=self._home.task_id)
        self._home.change(lambda _: (fresh, None))


def _pop_subgoal(state: WorkingState) -> tuple[WorkingState, str | None]:
    if not state.subgoals:
        return state, None
    return replace(state, subgoals=state.subgoals[:-1]), state.subgoals[-1]
