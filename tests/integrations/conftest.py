"""Adapters are tested on SQLite and on PostgreSQL; what needs a framework is skipped without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eidet import Memory

Reopen = Callable[[], Memory]


@pytest.fixture(params=["sqlite", "postgres"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Reopen:
    """Opens the same memory each time it is called, as a program does after a restart."""
    place: str | Path = tmp_path / "memory.db"
    if request.param == "postgres":
        place = request.getfixturevalue("postgres_emptied")
    return lambda: Memory(place)
