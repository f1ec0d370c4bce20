"""A memory in RAM and one in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.making import PLACES, Clock, place_of

from eidet import Memory


@pytest.fixture(params=PLACES)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    place = place_of(request, tmp_path)
    with Memory(place, embedder="hashing:32", clock=Clock(tick=1.0)) as opened:
        yield opened
