from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.unit.models.llm.server import Server, running

from eidet.net import http as wire


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "FIRST_PAUSE", 0.01)
