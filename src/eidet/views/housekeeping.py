"""Housekeeping: records go away because they are in the way, not because nobody may say them again."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.where import Where
from ..memory import Memory


def put_away(
    memory: Memory, ids: Sequence[str] | None = None, *, where: Where | None = None, scope: str
) -> int:
    """Deletes records; the same words may be stored again. How many there were."""
    return int(memory.forget(None if ids is None else list(ids), where=where, scope=scope, for_good=False))
