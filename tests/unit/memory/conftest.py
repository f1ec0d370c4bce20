"""A memory in RAM and one in a file, with a time that passes when told to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.making import PLACES, Clock, place_of
from tests.unit.memory.given import HASHING

from eidet import Memory


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=PLACES)
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    place = place_of(request, tmp_path)
    with Memory(place, embedder=HASHING, clock=clock) as opened:
        yield opened
