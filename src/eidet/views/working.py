"""Working memory: the task at hand, its goals, results, thoughts and variables."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, TypeVar

from ..core.arguments import check_texts, one
from ..core.errors import BadInput, Conflict, NotFound
from ..core.record import Kind, Record, Trust, key_id
from ..core.validate import Json, clean_json, clean_text, dump_json
from ..memory import Memory
from .messages import put_away

_SHOWN_CHARS: Final = 200  # of each result or variable in the prompt
_SHOWN_THOUGHTS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingState:
    """The whole state of a working memory."""

    task: str = ""
    task_id: str = ""
    goal: str = ""
    subgoals: tuple[str, ...] = ()
    results: Mapping[str, Any] = field(default_factory=dict)
    scratchpad: tuple[str, ...] = ()
    variables: Mapping[str, Any] = field(default_factory=dict)

    def but(self, changes: Mapping[str, Any]) -> WorkingState:
        if unknown := changes.keys() - _FIELDS.keys():
            raise BadInput(f"a working state has no {sorted(unknown)}; there are {', '.join(_FIELDS)}")
        return replace(self, **{name: _FIELDS[name](value, name) for name, value in changes.items()})

    def as_json(self) -> dict[str, Json]:
        values = {name: getattr(self, name) for name in _FIELDS}
        cleaned: dict[str, Json] = clean_json(values, "working state")
        return cleaned

    def prompt(self) -> str:
        """Returns the state as text for a language model; empty if nothing is set."""
        lines = [f"Task: {self.task}"] if self.task else []
        if self.goal:
            lines.append(f"Goal: {self.goal}")
        if self.subgoals:
            lines.append(f"Subgoals: {' > '.join(self.subgoals)}")
        lines += _list_values("Results", self.results)
        lines += _list_values("Variables", self.variables)
        if self.scratchpad:
            lines.append("Thoughts:")
        return "\n".join(lines + [f"- {thought}" for thought in self.scratchpad[-_SHOWN_THOUGHTS:]])


def _list_values(title: str, values: Mapping[str, Any]) -> list[str]:
    shown = [f"- {name}: {_shorten(value)}" for name, value in values.items()]
    return [f"{title}:", *shown] if shown else []


def _shorten(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"


def _text(value: Any, what: str) -> str:
    return clean_text(value, what)


def _texts(value: Any, what: str) -> tuple[str, ...]:
    return tuple(check_texts(value, what))


def _values(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise BadInput(f"{what} must be a dict, not {type(value).__name__}")
    return {clean_text(name, f"a name in {what}"): item for name, item in value.items()}


_FIELDS: Final[dict[str, Callable[[Any, str], Any]]] = {
    "task": _text,
    "task_id": _text,
    "goal": _text,
    "subgoals": _texts,
    "results": _values,
    "scratchpad": _texts,
    "variables": _values,
}
assert set(_FIELDS) == {field.name for field in fields(WorkingState)}


T = TypeVar("T")
_Change = Callable[[WorkingState], tuple[WorkingState, T]]
_TRIES: Final = 100


def _make_task_id() -> str:
    return uuid.uuid4().hex[:8]


class _StateInRam:
    """A state in RAM, which is lost with its view."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state = WorkingState(task_id=_make_task_id())

    def read(self) -> WorkingState:
        return self._state

    def change(self, change: _Change[T]) -> T:
        with self._lock:
            self._state, answer = change(self._state)
        return answer

    def clear(self) -> None:
        with self._lock:
            self._state = WorkingState(task_id=self._state.task_id)


class StateRecord:
    """A state that is one record of the memory, shared by all views of its scope, agent and session."""

    def __init__(self, memory: Memory, scope: str, agent: str | None, session: str | None) -> None:
        self._memory = memory
        self._scope = one(scope)
        self._agent = agent
        self._session = session
        self._id = key_id("working\0" + dump_json([agent, session]))
        self._task_id = _make_task_id()

    def read(self) -> WorkingState:
        """Returns the state; empty if it is in quarantine, although changes still build on it."""
        record = self._record()
        if record is not None and record.trust is Trust.QUARANTINED:
            record = None
        return self._state_of(record)

    def change(self, change: _Change[T]) -> T:
        """Applies a change to the stored state atomically; retries if another writer was faster."""
        for _ in range(_TRIES):
            record = self._record()
            new, answer = change(self._state_of(record))
            if self._write(new, record):
                return answer
        raise Conflict(f"the working state kept changing; gave up after {_TRIES} attempts")

    def clear(self) -> None:
        put_away(self._memory, [self._id], scope=self._scope)

    def _write(self, state: WorkingState, there: Record | None) -> bool:
        """Writes the state if the record is still the one that was read. Returns whether it was."""
        text, data = state.prompt(), state.as_json()
        try:
            if there is None:
                self._memory.remember(
                    text,
                    data=data,
                    scope=self._scope,
                    kind=Kind.WORKING,
                    agent=self._agent,
                    session=self._session,
                    id=self._id,
                    version=0,
                )
            else:
                self._memory.revise(
                    self._id, scope=self._scope, version=there.version, by=self._agent, text=text, data=data
                )
        except (Conflict, NotFound):
            return False
        return True

    def _record(self) -> Record | None:
        return self._memory.get(self._id, scope=self._scope)

    def _state_of(self, record: Record | None) -> WorkingState:
        if record is None:
            return WorkingState(task_id=self._task_id)
        return WorkingState().but(record.whole.data)


class Working:
    """The task at hand, in RAM only or, with `persist`, as one record of the memory.

    That record belongs to one scope, agent and session, survives a restart and is part of
    `Memory.context`. Views of the same record, in any thread or process, see each other's changes, and
    no change is lost. In RAM, values may be anything; persisted values must be JSON.
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
        record = StateRecord(memory, scope, agent, session)  # built even if unused, to check the scope
        self._home: _StateInRam | StateRecord = record if persist else _StateInRam()

    # Each property returns a copy; changes go through the methods.

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
        """Starts another task, which also becomes the goal. Variables stay; everything else is reset."""
        fresh = {"results": {}, "subgoals": (), "scratchpad": (), "task_id": _make_task_id()}
        self.update(task=task, goal=task, **fresh)

    def set_goal(self, goal: str) -> None:
        self.update(goal=goal)

    def add_result(self, key: str, value: Any) -> None:
        self._home.change(lambda state: (state.but({"results": {**state.results, key: value}}), None))

    def result(self, key: str) -> Any:
        """Returns the result with this key, or None."""
        return self._home.read().results.get(key)

    def think(self, thought: str) -> None:
        """Appends a thought to the scratchpad."""
        self._home.change(lambda state: (state.but({"scratchpad": (*state.scratchpad, thought)}), None))

    def set(self, name: str, value: Any) -> None:
        self._home.change(lambda state: (state.but({"variables": {**state.variables, name: value}}), None))

    def get(self, name: str, default: Any = None) -> Any:
        return self._home.read().variables.get(name, default)

    def push_goal(self, goal: str) -> None:
        """Pushes a subgoal on top of the others."""
        self._home.change(lambda state: (state.but({"subgoals": (*state.subgoals, goal)}), None))

    def pop_goal(self) -> str | None:
        """Removes and returns the top subgoal; None if there is none."""
        return self._home.change(_pop_subgoal)

    def update(self, /, **changes: Any) -> None:
        """Replaces whole parts of the state atomically: `update(goal=…, subgoals=[…])`."""
        self._home.change(lambda state: (state.but(changes), None))

    def prompt(self) -> str:
        """Returns the state as lines for a language model; empty if nothing is set."""
        return self._home.read().prompt()

    def clear(self) -> None:
        self._home.clear()


def _pop_subgoal(state: WorkingState) -> tuple[WorkingState, str | None]:
    if not state.subgoals:
        return state, None
    return replace(state, subgoals=state.subgoals[:-1]), state.subgoals[-1]
