"""Models of an agent's state, its actions and their results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ...core.validate import Json


@dataclass(slots=True)
class AgentState:
    """An agent at one step. `extra_data` holds its other values; None means unknown."""

    agent_id: str
    step_number: int | None = 0
    health: float | None = None
    reward: float | None = None
    position_x: float | None = None
    position_y: float | None = None
    position_z: float | None = None
    resource_level: float | None = None
    age: float | None = None
    extra_data: dict[str, Json] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Json]:
        """Returns the state as one flat dict; extra data does not overwrite fields."""
        fields_given = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "extra_data"}
        return {
            **self.extra_data,
            **{name: value for name, value in fields_given.items() if value is not None},
        }


@dataclass(slots=True)
class ActionResult:
    """The result of an action."""

    action_type: str
    params: dict[str, Json] = field(default_factory=dict)
    reward: float | None = None
    success: bool | None = None
    details: dict[str, Json] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Json]:
        return _as_json(self)


@dataclass(slots=True)
class ActionData:
    """One action of an agent with the states around it, and how they differ."""

    action_type: str
    agent_id: str | None = None
    step_number: int | None = None
    action_params: dict[str, Json] = field(default_factory=dict)
    state_before: dict[str, Json] = field(default_factory=dict)
    state_after: dict[str, Json] = field(default_factory=dict)
    state_difference: dict[str, Json] = field(default_factory=dict)
    result: Json = None
    reward: float | None = None
    execution_time: float | None = None
    outcome: str | None = None
    error: str | None = None

    def as_dict(self) -> dict[str, Json]:
        return _as_json(self)


def _as_json(model: Any) -> dict[str, Json]:
    values = {f.name: getattr(model, f.name) for f in fields(model)}
    return {name: value for name, value in values.items() if value is not None and value != {}}


def contents_of(given: object) -> Mapping[str, Json] | None:
    """Returns a dict as it is, and one of these models as a dict; None for anything else."""
    if isinstance(given, Mapping):
        return given
    as_dict = getattr(given, "as_dict", None)
    contents = as_dict() if callable(as_dict) else None
    return contents if isinstance(contents, Mapping) else None
