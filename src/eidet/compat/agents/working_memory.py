"""Working memory: the state of the current task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from ...views import Working
from ..opening import OwnsMemory, Place

_CHANGES: Final[dict[type, str]] = {
    dict: "__setitem__ __delitem__ __ior__ pop popitem clear update setdefault",
    list: "__setitem__ __delitem__ __iadd__ __imul__ append extend insert pop remove clear reverse sort",
}


def _make_live(kind: type) -> type:
    """Makes a kind of dict or list that passes its whole value to `put` after every change."""

    def hand_on(name: str) -> Callable[..., Any]:
        plain = getattr(kind, name)

        def change(self: Any, *args: Any, **kwargs: Any) -> Any:
            answer = plain(self, *args, **kwargs)
            self.put(kind(self))
            return answer

        return change

    return type(f"Live{kind.__name__}", (kind,), {name: hand_on(name) for name in _CHANGES[kind].split()})


class _Field:
    """A value of the working memory: reading, assigning or changing it reads and changes the memory."""

    def __init__(self, name: str, kind: type = str) -> None:
        self._name, self._kind = name, kind
        self._live: type = _make_live(kind) if kind in _CHANGES else kind

    def __get__(self, owner: WorkingMemory, _kind: type[WorkingMemory]) -> Any:
        found = self._live(getattr(owner.view, self._name))
        if self._kind in _CHANGES:
            found.put = partial(self.__set__, owner)
        return found

    def __set__(self, owner: WorkingMemory, value: Any) -> None:
        owner.view.update(**{self._name: self._kind(value)})


class WorkingMemory(OwnsMemory):
    """The current task, its goals, results, thoughts and variables.

    By default it is in RAM, and values may be anything. With a `memory` it is kept there for this scope and
    session, survives a restart, and values must be JSON.
    """

    task: _Field = _Field("task")
    task_id: _Field = _Field("task_id")
    current_goal: _Field = _Field("goal")
    results: _Field = _Field("results", dict)
    subgoals: _Field = _Field("subgoals", list)
    scratchpad: _Field = _Field("scratchpad", list)
    variables: _Field = _Field("variables", dict)

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
        self._take(memory)
        self.view: Working = Working(
            self.memory, session=session_id, scope=scope, agent=agent, persist=memory is not None
        )
        given = {
            "task": task,
            "task_id": task_id,
            "results": results,
            "goal": current_goal,
            "subgoals": list(subgoals or ()),
            "scratchpad": list(scratchpad or ()),
            "variables": variables,
        }
        if fields := {name: value for name, value in given.items() if value}:
            self.view.update(**fields)

    def set_task(self, task: str) -> None:
        """Begins a task with a new id: makes it the goal, and clears results, subgoals and thoughts."""
        self.view.set_task(task)

    def add_result(self, key: str, value: Any) -> None:
        self.view.add_result(key, value)

    def get_result(self, key: str) -> Any:
        """Returns the result of a step, or None."""
        return self.view.result(key)

    def add_thought(self, thought: str) -> None:
        self.view.think(thought)

    def set_variable(self, name: str, value: Any) -> None:
        self.view.set(name, value)

    def get_variable(self, name: str, default: Any = None) -> Any:
        return self.view.get(name, default)

    def push_subgoal(self, goal: str) -> None:
        self.view.push_goal(goal)

    def pop_subgoal(self) -> str | None:
        """Removes and returns the newest subgoal, or returns None."""
        return self.view.pop_goal()

    def get_context_string(self) -> str:
        """Formats the state for a language model: results cut at 200 characters, the last five thoughts."""
        subgoals, results, thoughts = self.view.subgoals, self.view.results, self.view.scratchpad
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
        self.view.clear()

    def __repr__(self) -> str:
        names = ("task", "task_id", "results", "current_goal", "subgoals", "scratchpad", "variables")
        return f"WorkingMemory({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"
