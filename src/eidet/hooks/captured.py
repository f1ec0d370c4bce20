"""The capture of one call of an agent, and its conversion to records."""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import Enum
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

from ..core.condition import same
from ..core.draft import Draft
from ..core.record import Kind, new_id
from ..core.validate import Json, describe_data
from ..upkeep.importance import action_importance, state_importance

_DEEPEST: Final = 20
_SECRET: Final = re.compile(
    r"(?:^|_)(?:api_?key|password|passwd|secret|credentials?|token)$", re.IGNORECASE
)  # attributes that are never captured
_AS_DICT: Final = ("as_dict", "model_dump", "to_dict")


class NotPlain(TypeError):
    """A value that JSON cannot hold."""


def plain(value: Any, depth: int = _DEEPEST) -> Json:
    """Copies a value as JSON, without parts that JSON cannot hold; raises `NotPlain` if it is one."""
    if value is None or isinstance(value, bool | str):
        return value if not isinstance(value, Enum) else value.value
    if isinstance(value, Enum):
        return plain(value.value, depth)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if not depth:
        raise NotPlain("nested too deep")
    return _whole(value, depth - 1)


def _whole(value: Any, depth: int) -> Json:
    if (fields := _fields(value)) is not None:
        return {str(name): item for name, item in _each(fields.items(), depth)}
    if isinstance(value, list | tuple):
        return [item for _, item in _each(enumerate(value), depth)]
    if isinstance(value, set | frozenset):
        return sorted((item for _, item in _each(enumerate(value), depth)), key=repr)
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, PurePath | UUID):
        return str(value)
    if callable(listed := getattr(value, "tolist", None)) and not isinstance(value, type):
        return plain(listed(), depth)  # arrays and numbers of numpy and similar libraries
    raise NotPlain(type(value).__name__)


def _fields(value: Any) -> Mapping[Any, Any] | None:
    """Returns the fields of a mapping, of an object that converts to a dict, or of a dataclass."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, type):
        return None
    for name in (*_AS_DICT, "_asdict"):
        if callable(tell := getattr(value, name, None)) and isinstance(values := tell(), Mapping):
            return values
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    return None


def _each(items: Iterable[tuple[Any, Any]], depth: int) -> Iterator[tuple[Any, Json]]:
    for name, item in items:
        try:
            yield name, plain(item, depth)
        except NotPlain:
            continue


def state_of(agent: Any) -> dict[str, Json]:
    """Returns the result of the agent's `get_state`, else its public attributes, as far as JSON goes."""
    ask = getattr(agent, "get_state", None)
    if not callable(ask):
        return dict(_each(_attributes_of(agent), _DEEPEST))
    state = ask()
    if inspect.isawaitable(state):
        if inspect.iscoroutine(state):
            state.close()
        raise NotPlain("get_state is asynchronous: it has to be a plain method")
    fields = _fields(state)
    named = _attributes_of(state) if fields is None else fields.items()
    return {str(name): value for name, value in _each(named, _DEEPEST)}


def _attributes_of(thing: Any) -> list[tuple[str, Any]]:
    """Returns public attributes of an instance, with slots, without methods and names of secrets."""
    names = dict.fromkeys(getattr(thing, "__dict__", {}))
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        names |= dict.fromkeys((slots,) if isinstance(slots, str) else slots)
    there = [name for name in names if open_name(name) and hasattr(thing, name)]
    return [(name, value) for name in there if not callable(value := getattr(thing, name))]


def open_name(name: str) -> bool:
    return not name.startswith("_") and _SECRET.search(name) is None


def _changes_between(before: Mapping[str, Json], after: Mapping[str, Json]) -> dict[str, dict[str, Json]]:
    """Returns the attributes that differ, with old and new value; None where one is absent."""
    names = dict.fromkeys((*before, *after))
    return {
        name: {"previous": before.get(name), "new": after.get(name)}
        for name in names
        if (name in before) != (name in after) or not same(before.get(name), after.get(name))
    }


def number(value: Any) -> float | None:
    """Returns the value as a finite number, or None if it is not one."""
    try:
        found = None if value is None or isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if found is not None and math.isfinite(found) else None


def part(thing: Any, *names: str) -> Any:
    """Returns the first key of a mapping, or attribute of another value, that is present, or None."""
    if isinstance(thing, Mapping):
        return next((thing[name] for name in names if name in thing), None)
    return next((getattr(thing, name) for name in names if hasattr(thing, name)), None)


_TEXT_CHARS: Final = 4_000  # of the text of a state or an action; its data is complete


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """One call of an agent's method: the state before and after, and the outcome.

    `before` and `after` are None where the state could not be read. `error` is what the agent
    raised, as `Type: message`. `step` is that of the call, `step_after` the one it led to.
    """

    agent: str
    method: str
    step: int
    step_after: int
    started: float
    seconds: float
    arguments: Mapping[str, Json] = field(default_factory=dict)
    before: Mapping[str, Json] | None = None
    after: Mapping[str, Json] | None = None
    result: Json = None
    action: str = ""
    reward: float | None = None
    error: str | None = None
    before_known: bool = False  # `before` is the state after the last call, which is kept already

    @property
    def changes(self) -> dict[str, dict[str, Json]]:
        """Maps attributes to `{"previous": …, "new": …}`; empty if a state is unknown."""
        if self.before is None or self.after is None:
            return {}
        return _changes_between(self.before, self.after)

    @property
    def state_change(self) -> float:
        """The share of attributes that changed, from 0 to 1."""
        names = {*(self.before or ()), *(self.after or ())}
        return len(self.changes) / len(names) if names else 0.0

    @property
    def action_importance(self) -> float:
        return action_importance(self.reward, self.state_change)

    def state_importance(self, state: Mapping[str, Json]) -> float:
        health = number(part(state, "health", "current_health"))
        return state_importance(health, self.reward)

    def drafts(self) -> list[Draft]:
        """Returns the state before (unless it is kept already), the action and the state after, in order."""
        ended = self.started + max(self.seconds, 0.0)
        before = self._state(self.before, self.step, self.started) if not self.before_known else None
        after = self._state(self.after, self.step_after, ended)
        links = {"state_before": before and before.id, "state_after": after and after.id}
        action = self._action(ended, {name: id for name, id in links.items() if id is not None})
        return [draft for draft in (before, action, after) if draft is not None]

    def _state(self, state: Mapping[str, Json] | None, step: int, at: float) -> Draft | None:
        if state is None:
            return None
        return Draft(
            id=new_id(at),
            text=_head_with_data(f"State of {self.agent} at step {step}", state),
            kind=Kind.STATE,
            data=dict(state),
            agent=self.agent,
            step=step,
            occurred=at,
            importance=self.state_importance(state),
        )

    def _action(self, at: float, links: Mapping[str, Json]) -> Draft:
        data: dict[str, Json] = {
            "action": self.action or self.method,
            "method": self.method,
            "arguments": dict(self.arguments),
            "result": self.result,
            "reward": self.reward,
            "error": self.error,
            "changes": self.changes,
            "seconds": self.seconds,
            **links,
        }
        shown = {name: data[name] for name in ("arguments", "result", "reward", "error") if data[name]}
        return Draft(
            text=_head_with_data(f"{self.agent} at step {self.step}: {self.action or self.method}", shown),
            kind=Kind.ACTION,
            data={name: value for name, value in data.items() if value is not None},
            agent=self.agent,
            step=self.step,
            occurred=at,
            importance=self.action_importance,
        )


def _head_with_data(head: str, data: Mapping[str, Any]) -> str:
    tail = describe_data(dict(data))
    return f"{head}; {tail}"[:_TEXT_CHARS] if tail else head
