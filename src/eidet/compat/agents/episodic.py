"""Episodic memory: what was done, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ...core.record import Record
from ...views import Episodic
from ..opening import OwnsMemory, Place, run


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """An experience."""

    id: str
    situation: str
    action: Any = None
    outcome: str | None = None
    success: bool | None = None
    lessons: tuple[str, ...] = ()
    timestamp: datetime
    importance: float = 0.5


class EpisodicMemory(OwnsMemory):
    """The experiences of a scope, found by what the situation was like."""

    def __init__(
        self, *, memory: Place = None, scope: str = "default", session_id: str | None = None
    ) -> None:
        self._take(memory)
        self.session_id = session_id
        self._view = Episodic(self.memory, scope=scope)

    async def record(
        self,
        situation: str,
        action: Any = None,
        outcome: str | None = None,
        success: bool | None = None,
        *,
        lessons: Sequence[str] = (),
        importance: float = 0.5,
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        """Keeps an experience; its id."""
        kept = await run(
            self.memory,
            self._view.record,
            situation,
            action=action,
            outcome=outcome,
            success=success,
            lessons=list(lessons),
            importance=importance,
            session=self.session_id,
            meta=metadata,
        )
        return kept.id

    async def search(self, situation: str, limit: int = 5, success: bool | None = None) -> list[Episode]:
        """Experiences in situations like this one, nearest first; only successes or failures, if asked."""
        hits = await run(self.memory, self._view.similar, situation, limit, success=success)
        return [_episode(hit.record) for hit in hits]

    async def lessons(self, situation: str, limit: int = 5) -> list[str]:
        """What was learned in situations like this one."""
        return await run(self.memory, self._view.lessons, situation, limit)

    async def forget(self, episode_id: str) -> bool:
        """Whether there was such an experience."""
        return await run(self.memory, self._view.forget, episode_id)

    def __len__(self) -> int:
        return len(self._view)

    def __bool__(self) -> bool:
        return True


def _episode(record: Record) -> Episode:
    data = record.whole.data if isinstance(record.whole.data, Mapping) else {}
    return Episode(
        id=record.id,
        situation=data.get("situation") or record.whole.text,
        action=data.get("action"),
        outcome=data.get("outcome"),
        success=data.get("success"),
        lessons=tuple(data.get("lessons") or ()),
        timestamp=datetime.fromtimestamp(record.occurred),  # noqa: DTZ006  local, as the other times
        importance=record.importance,
    )
