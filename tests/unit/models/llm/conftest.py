from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.unit.models.llm.server import Server, running


@pytest.fixture
def server(short_pauses: None) -> Iterator[Server]:
    with running() as server:
        yield server
