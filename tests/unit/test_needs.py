"""What a machine lacks is told once, by a test that is skipped for all that need it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.reference import ROOT

TESTS = """import pytest

@pytest.mark.needs("node")
@pytest.mark.parametrize("number", range(3))
def test_that_needs_node(number: int) -> None:
    raise AssertionError("it ran without node")
"""


def test_of_the_tests_that_need_an_absent_program_one_is_skipped_and_says_how_to_get_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "test_node.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-n", "0", "-p", "tests.conftest", str(tmp_path)]
    bare = os.environ | {"PATH": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=bare, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 skipped, 2 deselected" in done.stdout
    assert "needs Node.js: https://nodejs.org (3 tests)" in done.stdout
