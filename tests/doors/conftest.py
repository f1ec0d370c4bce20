"""Every door is tried on a memory in RAM and on one in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.making import PLACES, place_of

from eidet import Memory


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    """None for RAM, else the path of a SQLite file that is not there yet."""
    return place_of(request, tmp_path)


@pytest.fixture
def memory(place: Path | None) -> Iterator[Memory]:
    """A memory at that place, closed afterwards."""
    with Memory(place) as opened:
        yield opened
