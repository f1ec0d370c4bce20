"""Every example runs as a newcomer would run it, and stays short."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.forked import run_program

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs_and_says_something(path: Path, tmp_path: Path) -> None:
    done = run_program([str(path)], folder=tmp_path, environment=os.environ)
    assert done.code == 0, done.err
    assert done.out.strip()
    assert not any(tmp_path.iterdir()), "an example leaves nothing behind"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_at_most_60_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 60
