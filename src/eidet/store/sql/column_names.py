"""The names of the columns and the number of the schema, without SQLAlchemy.

Opening a memory needs no more than these; a test keeps them equal to `schema.py`.
"""

from __future__ import annotations

from typing import Final

REVISION: Final = "0001"

RECORD_COLUMNS: Final = (
    *("seq", "id", "scope", "kind", "tier", "text", "data", "who", "agent", "session", "step"),
    *("x", "y", "z", "importance", "created", "occurred", "uses", "last_used", "expires", "source"),
    *("meta", "level", "derived_from", "version", "digest", "terms", "vector", "original", "trust"),
    *("sealed", "state", "statement"),
)
EVENT_COLUMNS: Final = (
    *("seq", "scope", "id", "what", "moment", "actor", "version", "gone", "born", "author", "earlier"),
)
NULLABLE: Final = frozenset(
    (
        *("data", "who", "agent", "session", "step", "x", "y", "z", "last_used", "expires", "source"),
        *("meta", "derived_from", "vector", "original", "sealed", "state", "statement"),
    )
)
