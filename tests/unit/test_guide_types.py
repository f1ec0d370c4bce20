"""The code that users copy passes a strict type checker."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.reference import ROOT
from tests.unit.test_docs import _snippets

DOCS = ROOT / "docs"
PARTS = ("start", "guides", "concepts", "operate", "how-it-works")


def test_the_code_of_every_guide_is_typed(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    for page in (page for part in PARTS for page in (DOCS / part).rglob("*.md")):
        code = "\n\n".join(snippet for snippet, _ in _snippets(page))
        name = page.relative_to(DOCS).with_suffix("").as_posix()
        (tmp_path / f"{name.replace('/', '__').replace('-', '_')}.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "."]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
