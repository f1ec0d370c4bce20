"""The code that users copy first passes a strict type checker."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.reference import ROOT
from tests.unit.test_docs import _snippets

PAGES = (
    "guides/verbs.md",
    "guides/many-users.md",
    "guides/chatbot.md",
    "start/chat-loop.md",
    "start/ten-lines.md",
)


def test_the_code_of_the_guide_is_typed(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    for page in PAGES:
        code = "\n\n".join(snippet for snippet, _ in _snippets(ROOT / "docs" / page))
        (tmp_path / f"{Path(page).stem.replace('-', '_')}.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "."]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
