"""Files that commands write: for their owner only, in place of a link, and unsealed only if asked."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tests.unit.cli.shell import Shell
from tests.unit.eval.made import lines, written

KEY = bytes(range(32)).hex()
EXPORT = ("export", "--scope", "default", "--format", "jsonl")


def test_a_sealed_memory_leaves_unsealed_only_if_asked(eidet: Shell) -> None:
    eidet("remember", "Ann lives in Lisbon.", EIDET_KEY=KEY)
    file = eidet.folder / "out"
    said = eidet(*EXPORT, str(file), EIDET_KEY=KEY)
    assert said.code != 0
    assert "is sealed" in said.err
    assert not file.exists()
    assert eidet(*EXPORT, str(file), "--plain", EIDET_KEY=KEY).code == 0
    assert "Lisbon" in file.read_text()


def test_a_link_is_replaced_and_not_followed(eidet: Shell) -> None:
    eidet("remember", "Ann lives in Lisbon.")
    file, other = eidet.folder / "out", eidet.folder / "other"
    other.write_text("precious")
    file.symlink_to(other)
    assert eidet(*EXPORT, str(file)).code == 0
    assert (other.read_text(), file.is_symlink()) == ("precious", False)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


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
