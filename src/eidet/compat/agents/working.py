"""Working memory: what the task at hand needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...views import Working
from ..opening import Place, is_shared, open_memory
from .live import LiveDict, LiveList


class WorkingMemory:
    """The current task, its goals, results, thoughts and variables.

    In RAM, where values may be anything; with a `memory` it is kept there for this scope and session,
    survives a restart, and values are JSON.
    """

    def __init__(
        self,
        task: str = "",
        task_id: str | None = None,
        results: Mapping[str, Any] | None = None,
        current_goal: str = "",
        subgoals: Iterable[str] | None = None,
        scratchpad: Iterable[str] | None = None,
        variables: Mapping[str, Any] | None = None,
        *,
        memory: Place = None,
        scope: str = "default",
        session_id: str | None = None,
        agent: str | None = None,
    ) -> None:
        self.memory = open_memory(memory)
        self._owned = not is_shared(memory)
        self._view = Working(
            self.memory, session=session_id, scope=scope, agent=agent, persist=memory is not None
        )
        given = {
            "task": task,
            "task_id": task_id,
            "results": results,
            "goal": current_goal,
            "subgoals": None if subgoals is None else list(subgoals),
            "scratchpad": None if scratchpad is None else list(scratchpad),
            "variables": variables,
        }
        if said := {name: value for name, value in given.items() if value}:
            self._view.update(**said)

    @property
    def task(self) -> str:
        return self._view.task

    @task.setter
    def task(self, task: str) -> None:
        self._view.update(task=task)

    @property
    def task_id(self) -> str:
        return self._view.task_id

    @task_id.setter
    def task_id(self, task_id: str) -> None:
        self._view.update(task_id=task_id)

    @property
    def current_goal(self) -> str:
        return self._view.goal

    @current_goal.setter
    def current_goal(self, goal: str) -> None:
        self._view.update(goal=goal)

    @property
    def results(self) -> LiveDict:
        return LiveDict(self._view.results, lambda results: self._view.update(results=results))

    @results.setter
    def results(self, results: Mapping[str, Any]) -> None:
        self._view.update(results=dict(results))

    @property
    def subgoals(self) -> LiveList:
        return LiveList(self._view.subgoals, lambda goals: self._view.update(subgoals=goals))

    @subgoals.setter
    def subgoals(self, subgoals: Iterable[str]) -> None:
        self._view.update(subgoals=list(subgoals))

    @property
    def scratchpad(self) -> LiveList:
        return LiveList(self._view.scratchpad, lambda notes: self._view.update(scratchpad=notes))

    @scratchpad.setter
    def scratchpad(self, scratchpad: Iterable[str]) -> None:
        self._view.update(scratchpad=list(scratchpad))

    @property
    def variables(self) -> LiveDict:
        return LiveDict(self._view.variables, lambda found: self._view.update(variables=found))

    @variables.setter
    def variables(self, variables: Mapping[str, Any]) -> None:
        self._view.update(variables=dict(variables))

    def set_task(self, task: str) -> None:
        """Begins a task: it is the goal, has a new id, and no results, subgoals or thoughts yet."""
        self._view.set_task(task)

    def add_result(self, key: str, value: Any) -> None:
        self._view.add_result(key, value)

    def get_result(self, key: str) -> Any:
        """None if there is none."""
        return self._view.result(key)

    def add_thought(self, thought: str) -> None:
        self._view.think(thought)

    def set_variable(self, name: str, value: Any) -> None:
        self._view.set(name, value)

    def get_variable(self, name: str, default: Any = None) -> Any:
        return self._view.get(name, default)

    def push_subgoal(self, goal: str) -> None:
        self._view.push_goal(goal)

    def pop_subgoal(self) -> str | None:
        """The newest subgoal, which is then done; None if there is none."""
        return self._view.pop_goal()

    def get_context_string(self) -> str:
        """For a language model: results cut at 200 characters, the last five thoughts."""
        subgoals, results, thoughts = self._view.subgoals, self._view.results, self._view.scratchpad
        lines = [f"Current Task: {self.task}", f"Current Goal: {self.current_goal}"]
        if subgoals:
            lines.append(f"Subgoals: {' > '.join(subgoals)}")
        if results:
            lines.append("\nIntermediate Results:")
        lines += [f" {key}: {str(value)[:200]}" for key, value in results.items()]
        if thoughts:
            lines.append("\nRecent Thoughts:")
        return "\n".join(lines + [f" - {thought}" for thought in thoughts[-5:]])

    def clear(self) -> None:
        self._view.clear()

    def __repr__(self) -> str:
        names = ("task", "task_id", "results", "current_goal", "subgoals", "scratchpad", "variables")
        return f"WorkingMemory({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    def close(self) -> None:
        """Closes the memory if this object opened it."""
        if self._owned:
            self.memory.close()
