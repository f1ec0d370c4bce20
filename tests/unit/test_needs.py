"""What a machine lacks is told once, by a test that is skipped for all that need it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.reference import ROOT
from tests.servers.redis8 import VARIABLE


def test_of_the_tests_that_need_an_absent_server_one_is_skipped_and_says_how_to_get_it(
    tmp_path: Path,
) -> None:
    bare = {name: value for name, value in os.environ.items() if name != VARIABLE} | {"PATH": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "tests/contract/test_vectorset.py"]
    done = subprocess.run(command, cwd=ROOT, env=bare, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    skipped, left_out = re.findall(r"^(\d+) skipped, (\d+) deselected", done.stdout, re.MULTILINE)[0]
    assert skipped == "1"
    assert f"export {VARIABLE}=$(.ci/redis8 FOLDER)" in done.stdout
    assert f"({int(left_out) + 1} tests)" in done.stdout
