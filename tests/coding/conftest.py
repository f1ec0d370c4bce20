from __future__ import annotations

from pathlib import Path

import pytest
from tests.coding.agents import User


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    home, project = tmp_path / "home", tmp_path / "home" / "shop"
    (project / ".git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    return User(home, project)
