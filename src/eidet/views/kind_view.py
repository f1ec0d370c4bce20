"""The base of views of one kind of records."""

from __future__ import annotations

from typing import ClassVar

from ..core.arguments import one
from ..core.record import Kind, Record
from ..core.where import Where
from ..memory import Memory
from .messages import put_away


class KindView:
    """The records of one kind in a scope. `agent` owns those written here; every agent sees all."""

    kind: ClassVar[Kind]

    def __init__(self, memory: Memory, *, scope: str = "default", agent: str | None = None) -> None:
        self._memory = memory
        self._scope = one(scope)
        self._agent = agent

    @property
    def scope(self) -> str:
        """The scope that this view shows."""
        return self._scope

    def get(self, id: str) -> Record | None:
        found = self._memory.get(id, scope=self._scope)
        return found if found is not None and found.kind is self.kind else None

    def forget(self, id: str) -> bool:
        """Deletes a record. Returns whether it existed; its content may be stored again."""
        return self.get(id) is not None and put_away(self._memory, [id], scope=self._scope) > 0

    def count(self) -> int:
        return self._memory.count(Where(kinds=(self.kind,)), scope=self._scope)

    def __len__(self) -> int:
        return self.count()

    def __bool__(self) -> bool:
        """Is always true: a view without records is still a view."""
        return True
