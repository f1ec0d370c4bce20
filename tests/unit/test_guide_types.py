"""The code of the guide passes a strict type checker, so that what users copy does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.reference import ROOT
from tests.unit.test_docs import _snippets


def test_the_code_of_the_guide_is_typed(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    code = "\n\n".join(snippet for snippet, _ in _snippets(ROOT / "docs" / "guides" / "verbs.md"))
    (tmp_path / "guide.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "guide.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
