"""Working memory: the state of the current task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from ...views import Working
from ..opening import OwnsMemory, Place


class _LiveDict(dict[str, Any]):
    """A snapshot; every change to it passes the whole value to `put`."""

    def __init__(self, content: Mapping[str, Any], put: Callable[[dict[str, Any]], None]) -> None:
        super().__init__(content)
        self._put = put


class _LiveList(list[str]):
    """A snapshot; every change to it passes the whole value to `put`."""

    def __init__(self, content: Iterable[str], put: Callable[[list[str]], None]) -> None:
        super().__init__(content)
        self._put = put


def _hand_on(kind: type, name: str) -> Callable[..., Any]:
    plain = getattr(kind, name)

    def change(self: Any, *args: Any, **kwargs: Any) -> Any:
        answer = plain(self, *args, **kwargs)
        self._put(kind(self))
        return answer

    return change


_CHANGES = {
    _LiveDict: (dict, "__setitem__ __delitem__ __ior__ pop popitem clear update setdefault"),
    _LiveList: (
        list,
        "__setitem__ __delitem__ __iadd__ __imul__ append extend insert pop remove clear reverse sort",
    ),
}
for _live, (_kind, _names) in _CHANGES.items():
    for _name in _names.split():
        setattr(_live, _name, _hand_on(_kind, _name))


class _Text:
    """A text of the working memory: reading and assigning it reads and changes the memory."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, owner: WorkingMemory, kind: type[WorkingMemory]) -> str:
        return str(getattr(owner.view, self._name))

    def __set__(self, owner: WorkingMemory, value: str) -> None:
        owner.view.update(**{self._name: value})


class _Texts(_Text):
    """A list of texts, which can be changed in place."""

    def __get__(self, owner: WorkingMemory, kind: type[WorkingMemory]) -> _LiveList:  # type: ignore[override]
        return _LiveList(getattr(owner.view, self._name), partial(self.__set__, owner))

    def __set__(self, owner: WorkingMemory, value: Iterable[str]) -> None:
        owner.view.update(**{self._name: list(value)})


class _Values(_Text):
    """Values by name, which can be changed in place."""

    def __get__(self, owner: WorkingMemory, kind: type[WorkingMemory]) -> _LiveDict:  # type: ignore[override]
        return _LiveDict(getattr(owner.view, self._name), partial(self.__set__, owner))

    def __set__(self, owner: WorkingMemory, value: Mapping[str, Any]) -> None:  # type: ignore[override]
        owner.view.update(**{self._name: dict(value)})


class WorkingMemory(OwnsMemory):
    """The current task, its goals, results, thoughts and variables.

    By default it is in RAM, and values may be anything. With a `memory` it is kept there for this scope and
    session, survives a restart, and values must be JSON.
    """

    task: _Text = _Text("task")
    task_id: _Text = _Text("task_id")
    current_goal: _Text = _Text("goal")
    results: _Values = _Values("results")
    subgoals: _Texts = _Texts("subgoals")
    scratchpad: _Texts = _Texts("scratchpad")
    variables: _Values = _Values("variables")

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
