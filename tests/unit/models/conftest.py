from __future__ import annotations

import pytest

from eidet.net import http as wire


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that fails is asked again at once."""
    monkeypatch.setattr(wire, "FIRST_PAUSE", 0.01)
