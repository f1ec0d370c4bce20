"""Files that commands write: for their owner only, in place of a link, and unsealed only if asked."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from tests.unit.cli.shell import Shell
from tests.unit.eval.made import lines, written

KEY = bytes(range(32)).hex()
EXPORTS = [("export", "--scope", "default", "--format", form) for form in ("jsonl", "mcp")]
each_leaving = pytest.mark.parametrize("words", EXPORTS, ids=" ".join)


@pytest.fixture
def sealed(eidet: Shell) -> Shell:
    assert eidet("remember", "Ann lives in Lisbon.", EIDET_KEY=KEY).code == 0
    return eidet


@each_leaving
def test_a_sealed_memory_leaves_unsealed_only_if_asked(sealed: Shell, words: tuple[str, ...]) -> None:
    file = sealed.folder / "out"
    said = sealed(*words, str(file), EIDET_KEY=KEY)
    assert said.code != 0
    assert "is sealed" in said.err
    assert not file.exists()
    assert sealed(*words, str(file), "--plain", EIDET_KEY=KEY).code == 0
    assert "Lisbon" in file.read_text()


@each_leaving
def test_a_link_is_replaced_and_not_followed(eidet: Shell, words: tuple[str, ...]) -> None:
    eidet("remember", "Ann lives in Lisbon.")
    file, other = eidet.folder / "out", eidet.folder / "other"
    other.write_text("precious")
    file.symlink_to(other)
    assert eidet(*words, str(file)).code == 0
    assert (other.read_text(), file.is_symlink()) == ("precious", False)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@each_leaving
def test_a_folder_that_is_not_there_is_said_before_anything_is_read(
    eidet: Shell, words: tuple[str, ...]
) -> None:
    eidet("remember", "Ann lives in Lisbon.")
    said = eidet(*words, str(eidet.folder / "nowhere" / "out"))
    assert said.code != 0
    assert "nowhere" in said.err
    assert "Traceback" not in said.err


def test_a_report_of_an_evaluation_is_for_its_owner(eidet: Shell, tmp_path: Path) -> None:
    own = written(tmp_path / "lines.jsonl", lines())
    file, other = tmp_path / "out", tmp_path / "other"
    other.write_text("precious")
    file.symlink_to(other)
    before = os.umask(0)
    try:
        assert eidet("eval", str(own), "--json", str(file)).code == 0
    finally:
        os.umask(before)
    assert (other.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("precious", 0o600)
