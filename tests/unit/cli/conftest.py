from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.cli.shell import Shell


@pytest.fixture
def eidet(tmp_path: Path) -> Shell:
    return Shell(tmp_path)
