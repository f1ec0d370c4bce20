"""The code that users copy passes a strict type checker."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.reference import ROOT
from tests.unit.test_docs import _snippets

DOCS = ROOT / "docs"
PARTS = ("start", "guides", "concepts", "operate", "how-it-works")
# What Eidet uses inside and no guide does: to read these types takes as long as to read all others.
UNSEEN = ("mcp", "opentelemetry", "psycopg", "redis", "rich", "sqlalchemy", "typer", "urllib3", "valkey")
UNSEEN_IMPORT = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(UNSEEN)})\b", re.MULTILINE)


def test_the_code_of_every_guide_is_typed(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    for page in (page for part in PARTS for page in (DOCS / part).rglob("*.md")):
        code = "\n\n".join(snippet for snippet, _ in _snippets(page))
        assert not UNSEEN_IMPORT.search(code), page
        name = page.relative_to(DOCS).with_suffix("").as_posix()
        (tmp_path / f"{name.replace('/', '__').replace('-', '_')}.py").write_text(code, encoding="utf-8")
    sections = [f"[mypy-{package}.*]\nfollow_imports = skip\n" for package in UNSEEN]
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = True\n" + "".join(sections))
    command = [sys.executable, "-m", "mypy", "--cache-dir", os.devnull, "."]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
