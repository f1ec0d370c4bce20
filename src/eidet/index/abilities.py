"""What an index asks of those stores that have it, beside the port."""

from __future__ import annotations

from typing import Protocol

from ..store import Changes
from ..store.abilities import MadeOfSeveral
from ..store.traits import has_ability, is_sealed, offered_index_of, path_of

__all__ = ["Followable", "MadeOfSeveral", "has_ability", "is_sealed", "offered_index_of", "path_of"]


class Followable(Protocol):
    """Whatever tells what changed in it: a store."""

    def changes(self, scope: str, since: int, limit: int) -> Changes: ...
