"""`eidet mirror` tells what it did, exits with 1 while there are conflicts, and watches until stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.unit.cli.shell import Shell


def notes(eidet: Shell) -> str:
    return str(eidet.folder / "notes")


def test_a_folder_is_mirrored_both_ways(eidet: Shell) -> None:
    eidet("remember", "Ann lives in Oslo.")
    assert eidet("mirror", notes(eidet)).out == "mirrored: 1 files written\n"
    [file] = (eidet.folder / "notes").rglob("*.md")
    file.write_text(file.read_text().replace("Oslo", "Bergen"))
    assert eidet("mirror", notes(eidet), "--dry-run").out == "would mirror: 1 revised\n"
    done = eidet("mirror", notes(eidet), "--once", "--json")
    assert (len(done.json["revised"]), done.json["ok"], done.code) == (1, True, 0)
    assert "Bergen" in eidet("find").out


def test_a_conflict_is_shown_until_its_file_is_gone(eidet: Shell) -> None:
    [id] = eidet("remember", "Ann lives in Oslo.").ids
    eidet("mirror", notes(eidet))
    [file] = (eidet.folder / "notes").rglob("*.md")
    file.write_text(file.read_text().replace("Oslo", "Bergen"))
    eidet("remember", "Ann lives in Rome.", "--id", id)
    done = eidet("mirror", notes(eidet))
    assert (done.code, done.out) == (1, "mirrored: 1 files written\n")
    assert "conflict fact/" in done.err
    assert "take over what you want to keep, then delete it" in done.err
    assert eidet("mirror", notes(eidet)).code == 1
    next((eidet.folder / "notes").rglob("*.conflict.md")).unlink()
    assert eidet("mirror", notes(eidet)).code == 0


def test_a_mass_deletion_names_the_option(eidet: Shell) -> None:
    for n in range(21):
        eidet("remember", f"Note {n}")
    eidet("mirror", notes(eidet))
    for file in (eidet.folder / "notes").rglob("*.md"):
        file.unlink()
    refused = eidet("mirror", notes(eidet))
    assert refused.code == 2
    assert "say --delete if" in refused.err
    assert eidet("mirror", notes(eidet), "--delete").out == "mirrored: 21 forgotten\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_watch_ends_when_it_is_told_to(eidet: Shell, number: signal.Signals) -> None:
    eidet("remember", "Ann lives in Oslo.")
    command = [sys.executable, "-m", "eidet.cli", "mirror", "notes", "--watch", "--at", str(eidet.file)]
    with subprocess.Popen(command, cwd=eidet.folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "mirrored: 1 files written\n"
        (eidet.folder / "notes" / "new.md").write_text("Ann swims.")
        assert process.stdout.readline() == "mirrored: 1 remembered, 1 files written\n"
        time.sleep(0.1)
        process.send_signal(number)
        assert process.wait(20) == 0
    assert "Ann swims." in Path(eidet.folder / "notes" / "new.md").read_text()
