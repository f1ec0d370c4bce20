"""Episodic memory: experiences with their actions, outcomes and lessons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Unpack

from ..core.arguments import check_limit, narrow_filter
from ..core.dict_filters import Filter
from ..core.draft import Details
from ..core.errors import BadInput
from ..core.hit import Hits
from ..core.record import Kind, Record
from ..core.validate import Json, clean_text, describe_data
from ..core.where import Condition, Where
from ..recall import AUTO
from .kind_view import KindView

_NEAREST: Final = replace(AUTO, name="nearest", nothing=0.0)
_READ: Final = 20  # fewest episodes to search for lessons


class Episodic(KindView):
    """The experiences of a scope. `agent` owns those recorded here; every agent of the scope reads all."""

    kind = Kind.EPISODE

    def record(
        self,
        situation: str,
        *,
        action: Json = None,
        outcome: str | None = None,
        success: bool | None = None,
        lessons: Sequence[str] = (),
        **details: Unpack[Details],
    ) -> Record:
        """Stores an experience: its parts as the data of the record, all of it as the text.

        `details` are those of `Memory.remember`, without scope, kind, agent and data, which this view sets.
        """
        data = _check_experience(situation, action, outcome, success, lessons)
        own = {"scope": self._scope, "kind": Kind.EPISODE, "agent": self._agent, "data": data}
        return self._memory.remember(_experience_as_text(data), **own, **details)

    def similar(
        self, situation: str, limit: int = 5, *, success: bool | None = None, where: Filter | None = None
    ) -> Hits:
        """Finds experiences like a situation, nearest first; with `success`, only those with that outcome.

        Returns the nearest even if none is near; the scores say how near they are.
        """
        wanted = (Condition("data.success", "=", bool(success)),) if success is not None else None
        return self._memory.recall(
            situation,
            scope=self._scope,
            limit=limit,
            kinds=Kind.EPISODE,
            where=narrow_filter(where, conditions=wanted),
            recipe=_NEAREST,
        )

    def lessons(self, situation: str, limit: int = 5) -> list[str]:
        """Returns up to `limit` distinct lessons of similar situations, nearest first."""
        learned = Where(conditions=(Condition("data.lessons", "exists"),))
        hits = self.similar(situation, max(_READ, 4 * check_limit(limit)), where=learned)
        found = []
        for hit in hits:
            found.extend(hit.record.whole.data["lessons"])
        return list(dict.fromkeys(found))[:limit]


def _check_experience(
    situation: str, action: Json, outcome: str | None, success: bool | None, lessons: Sequence[str]
) -> dict[str, Json]:
    if not clean_text(situation, "situation").strip():
        raise BadInput("an experience needs a situation: what was the case")
    if isinstance(lessons, str) or not isinstance(lessons, list | tuple):
        raise BadInput(f"lessons must be a list of texts, not {type(lessons).__name__}")
    if success is not None and not isinstance(success, bool):
        raise BadInput(f"success must be True, False or None, not {success!r}")
    data: dict[str, Json] = {
        "situation": situation,
        "action": action,
        "outcome": None if outcome is None else clean_text(outcome, "outcome"),
        "success": success,
        "lessons": [clean_text(lesson, "a lesson") for lesson in lessons],
    }
    return {name: value for name, value in data.items() if value not in (None, [])}


def _experience_as_text(data: Mapping[str, Json]) -> str:
    """Phrases an experience as text, for search and for people."""
    lines = [data["situation"]]
    if (action := data.get("action")) is not None:
        lines.append(f"Action: {action if isinstance(action, str) else describe_data(action)}")
    if (outcome := data.get("outcome")) is not None:
        lines.append(f"Outcome: {outcome}")
    if (success := data.get("success")) is not None:
        lines.append("It went well." if success else "It failed.")
    return "\n".join(lines + [f"Lesson: {lesson}" for lesson in data.get("lessons", ())])
