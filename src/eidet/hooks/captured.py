"""What was captured around one call of an agent, and the records it is kept as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..core.describe import describe_data
from ..core.draft import Draft
from ..core.record import Kind, new_id
from ..core.validate import Json
from ..upkeep.importance import action_importance, state_importance
from .plain import changes_between, number, part

TEXT_CHARS: Final = 4_000  # of a state or an action in words; its data has all of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """One call of a method of an agent: the state before and after it, and what came of it.

    `before` and `after` are None where the state could not be told. `error` is what the agent
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
    before_known: bool = False  # it is the state that the last call led to, which is kept already

    @property
    def changes(self) -> dict[str, dict[str, Json]]:
        """By attribute: `{"previous": …, "new": …}`; nothing where a state is not known."""
        if self.before is None or self.after is None:
            return {}
        return changes_between(self.before, self.after)

    @property
    def state_change(self) -> float:
        """Which share of the attributes changed."""
        names = {*(self.before or ()), *(self.after or ())}
        return len(self.changes) / len(names) if names else 0.0

    @property
    def action_importance(self) -> float:
        return action_importance(self.reward, self.state_change)

    def state_importance(self, state: Mapping[str, Json]) -> float:
        health = number(part(state, "health", "current_health"))
        return state_importance(health, self.reward)

    def drafts(self) -> list[Draft]:
        """The state before (unless it is kept already), the action, the state after: in that order."""
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
    return f"{head}; {tail}"[:TEXT_CHARS] if tail else head
