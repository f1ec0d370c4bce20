"""The value of a working memory: the task at hand, its goals, results, thoughts and variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from ..core.errors import BadInput
from ..core.validate import Json, clean_json, clean_text

SHOWN_CHARS: Final = 200  # of a result or variable in the prompt
SHOWN_THOUGHTS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingState:
    """All of a working memory."""

    task: str = ""
    task_id: str = ""
    goal: str = ""
    subgoals: tuple[str, ...] = ()
    results: Mapping[str, Any] = field(default_factory=dict)
    scratchpad: tuple[str, ...] = ()
    variables: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> WorkingState:
        """From what `as_json` gave, or parts of it; what cannot be a state is refused."""
        return WorkingState().but(told)

    def but(self, changes: Mapping[str, Any]) -> WorkingState:
        if not isinstance(changes, Mapping):
            raise BadInput(f"a working state must be a dict, not {type(changes).__name__}")
        if unknown := changes.keys() - _FIELDS.keys():
            raise BadInput(f"a working state has no {sorted(unknown)}; there are {', '.join(_FIELDS)}")
        return replace(self, **{name: _FIELDS[name](value, name) for name, value in changes.items()})

    def as_json(self) -> dict[str, Json]:
        values = {name: getattr(self, name) for name in _FIELDS}
        cleaned: dict[str, Json] = clean_json(values, "working state")
        return cleaned

    def prompt(self) -> str:
        """For a language model; empty where there is nothing to tell."""
        lines = [f"Task: {self.task}"] if self.task else []
        if self.goal:
            lines.append(f"Goal: {self.goal}")
        if self.subgoals:
            lines.append(f"Subgoals: {' > '.join(self.subgoals)}")
        lines += _list_values("Results", self.results)
        lines += _list_values("Variables", self.variables)
        if self.scratchpad:
            lines.append("Thoughts:")
        return "\n".join(lines + [f"- {thought}" for thought in self.scratchpad[-SHOWN_THOUGHTS:]])


def _list_values(title: str, values: Mapping[str, Any]) -> list[str]:
    shown = [f"- {name}: {_shorten(value)}" for name, value in values.items()]
    return [f"{title}:", *shown] if shown else []


def _shorten(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "…"


def _text(value: Any, what: str) -> str:
    return clean_text(value, what)


def _texts(value: Any, what: str) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise BadInput(f"{what} must be a list of texts, not {type(value).__name__}")
    return tuple(clean_text(item, what) for item in value)


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
